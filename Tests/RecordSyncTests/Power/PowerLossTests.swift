import Foundation
import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// The power of a machine is cut right after each of the times that it puts something on stable
/// storage while it saves, sends and fetches; what was not there is lost.
@Suite("Power cuts", .serialized) struct PowerLossTests {
    /// What somebody does, and which texts a record may have once that has returned, whatever comes.
    private struct Step: Sendable {
        var known: [String: [String?]] = [:]
        let action: @Sendable (Replica, Replica) async throws -> Void
    }

    private static func text(_ number: Int) -> String { #"{"p":\#(number)}"# }

    /// Saved, as `fsync` returns.
    private static func saves(_ name: String, _ number: Int) -> Step {
        Step(known: [name: [text(number)]]) { a, _ in
            try a.save(name, text(number))
            try a.store.sync()
        }
    }

    private static func deletes(_ name: String) -> Step {
        Step(known: [name: [nil]]) { a, _ in
            try a.delete(name)
            try a.store.sync()
        }
    }

    private static let syncsA = Step { a, _ in try await a.exchange.round() }

    private static func elsewhere(
        _ known: [String: [String?]], _ action: @escaping @Sendable (Replica) throws -> Void
    ) -> Step {
        Step(known: known) { _, b in
            try await b.sync()
            try action(b)
            try await b.sync()
        }
    }

    private static let steps = [
        saves("x", 1), saves("y", 1), syncsA,
        elsewhere(["x": [text(2)]]) { try $0.save("x", text(2)) }, syncsA,
        saves("y", 2), syncsA,
        // Nobody waits for these to be durable before they are sent.
        Step(known: ["loose": [nil, text(1)], "x": [text(2), text(3)]]) { a, _ in
            try a.save("loose", text(1))
            try a.save("x", text(3))
        }, syncsA,
        elsewhere(["loose": [nil]]) { try $0.delete("loose") },
        deletes("y"), saves("z", 1), syncsA,
        elsewhere(["y": [text(5)]]) { try $0.save("y", text(5)) },
        saves("z", 2), syncsA,
        Step(known: ["z": [text(2), nil]]) { a, _ in try a.delete("z") }, syncsA,
        elsewhere(["z": [text(7)]]) { try $0.save("z", text(7)) }, syncsA,
    ]

    /// - Returns: how many times something was put on stable storage; nil when the power was cut.
    private func run(cutAfter cut: Int) async throws -> Int? {
        let server = try await TestServer()
        let (a, b) = (try Replica(server, device: 1), try Replica(server, device: 2))
        try a.store.sync()
        let directory = a.store.directory
        let disk = DurableDisk(
            directory, files: try Self.files(in: directory), cutAfter: cut
        ) {
            a.wire.loseRequests(over: -1)
        }
        defer { disk.stopWatching() }
        var known: [String: [String?]] = [:]
        for step in Self.steps {
            server.clock.advance(.seconds(1))
            do {
                try await step.action(a, b)
            } catch let problem as SyncProblem {
                guard disk.isCut, case .unreachable = problem else { throw problem }
            }
            if disk.isCut {
                for name in step.known.keys { known[name] = nil }
                break
            }
            known.merge(step.known) { $1 }
        }
        disk.stopWatching()
        try a.restart(with: Self.directory(with: disk.left))
        a.wire.loseRequests(over: .max)
        for replica in [a, b, a, b] { try await replica.sync() }
        let fresh = try Replica(server)
        try await fresh.sync()
        let tree = try fresh.tree()
        for replica in [a, b] { try replica.expectSettled(tree) }
        for (name, texts) in known {
            #expect(texts.contains(tree[name]), "\(name), cut after \(cut)")
        }
        return disk.isCut ? nil : disk.syncs
    }

    private static func files(in directory: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in ["store.sqlite", "store.sqlite-wal"] {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
            files[name] = Array(data)
        }
        return files
    }

    private static func directory(with files: [String: [UInt8]]) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for (name, content) in files {
            try Data(content).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
        }
        return directory
    }

    @Test("nothing that was durable is lost, nothing that was deleted comes back, all are equal")
    func everySync() async throws {
        var cut = 0
        repeat { cut += 1 } while try await run(cutAfter: cut) == nil
        // The watch sees what the store does.
        #expect(cut > 15, "\(cut)")
    }
}
