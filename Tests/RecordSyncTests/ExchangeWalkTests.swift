import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// Random edits on three machines of one account, with lost requests and answers, and kills, at a
/// server that takes and answers only what Apple's reference has: whatever happened, all are equal once all was sent and
/// fetched, and nothing moves any more. With them, `SimulationTests` does the same and more.
@Suite struct ExchangeWalkTests {
    @Test("random histories end in equal trees", arguments: LongForm.seeds(25, of: 1_000))
    func converges(_ seed: Int) async throws {
        let walk = try await ExchangeWalk(seed: UInt64(seed))
        for _ in 1...60 { try await walk.step() }
        try await walk.settle()
        try walk.expectEqual()
        try await walk.expectQuiet()
        walk.expectDocumented()
    }
}

private final class ExchangeWalk {
    private let server: TestServer
    private let replicas: [Replica]
    private var random: SeededRandom
    private let seed: UInt64
    private let names = ["a", "b", "c", "d"]
    private let zones = ["Box", "Cup"]
    /// All that was ever asked.
    private var requests: [(operation: SyncOperation, body: [UInt8])] = []

    init(seed: UInt64) async throws {
        let server = try await TestServer { $0.service.isStrict = true }
        self.server = server
        self.seed = seed
        random = SeededRandom(seed: seed)
        replicas = try (0..<3).map { _ in
            try Replica(server) { settings in
                settings = Exchange.Settings(profile: .cloudkit)
                settings.pageRecords = 3
                settings.claims.records = 3
            }
        }
    }

    func step() async throws {
        let replica = random.pick(replicas)
        let (name, zone) = (random.pick(names), random.pick(zones))
        server.clock.advance(.milliseconds(random.below(3_000)))
        defer { requests += replica.wire.takeRequests() }
        switch random.below(14) {
        case 0, 1, 2, 3, 4: try edit(replica, name, zone)
        case 5, 6: try replica.delete(name, zone: zone)
        case 8, 9: try attach(replica, name, zone)
        case 7 where random.below(6) == 0: try replica.removeZone(zone)
        default: try await round(replica)
        }
    }

    private func edit(_ replica: Replica, _ name: String, _ zone: String) throws {
        let field = random.pick(["p", "q"])
        let other = field == "p" ? "q" : "p"
        var rest = random.below(2) == 0 ? #","\#(other)":\#(random.below(9))"# : ""
        switch random.below(8) {
        case 0: rest += #","t":{"$timestamp":"2026-11-23T10:00:0\#(random.below(9)).250Z"}"#
        case 1:
            rest += #","l":[\#((0..<random.below(3)).map { #""\#($0)""# }.joined(separator: ","))]"#
        case 2:
            rest += #","y":1,"w":{"$location":{"latitude":0.5,"longitude":\#(random.below(9)).5}}"#
        default: break
        }
        try replica.save(name, #"{"\#(field)":\#(random.below(99))\#(rest)}"#, zone: zone)
    }

    /// A large field, or one of two of a list. What it is called there, the server does not keep.
    private func attach(_ replica: Replica, _ name: String, _ zone: String) throws {
        guard try replica.names(zone: zone).contains(name) else { return }
        let bytes = Array(repeating: UInt8(random.below(250)), count: random.below(3))
        try replica.attach(bytes, to: name, "photo", fileExtension: "", zone: zone)
        guard random.below(2) == 0 else { return }
        for index in 0..<2 {
            try replica.attach(bytes + [1], to: name, "pages", index, fileExtension: "", zone: zone)
        }
    }

    /// Some of its requests, or answers, get lost.
    private func round(_ replica: Replica) async throws {
        if random.below(2) == 0 {
            for _ in 0..<random.below(5) { replica.wire.plan(nil) }
            replica.wire.plan(
                random.pick([
                    .requestLost, .answerLost, .crash(isAnswered: false), .crash(isAnswered: true),
                ]))
        }
        do throws(SyncProblem) {
            try await replica.exchange.round()
        } catch {
            guard case .unreachable = error else { throw error }
        }
        if try replica.restartAfterCrash() { replica.wire.forgetPlan() }
    }

    func settle() async throws {
        for replica in replicas { replica.wire.forgetPlan() }
        for _ in 0..<3 {
            for replica in replicas {
                try await replica.sync()
                requests += replica.wire.takeRequests()
            }
        }
    }

    /// No request had a key that Apple's reference does not have, or more than it may hold.
    func expectDocumented() {
        #expect(requests.contains { $0.operation == .recordsModify })
        for (operation, body) in requests {
            let found = DocumentedBody.problems(operation, body)
            guard found.isEmpty else {
                let text = String(decoding: body, as: UTF8.self)
                Issue.record("seed \(seed): \(found) in \(text)")
                return
            }
        }
    }

    func expectEqual() throws {
        for replica in replicas {
            try replica.expectSound()
            let outbox = try replica.outbox()
            #expect(outbox.isEmpty, "seed \(seed): \(outbox)")
            for zone in zones {
                let (tree, first) = (try replica.tree(zone: zone), try replicas[0].tree(zone: zone))
                #expect(tree == first, "seed \(seed): \(tree) \(first)")
            }
        }
    }

    /// Two further rounds send nothing.
    func expectQuiet() async throws {
        for replica in replicas {
            _ = replica.wire.takeSent()
            try await replica.exchange.round()
            try await replica.exchange.round()
            #expect(!replica.wire.takeSent().contains(.recordsModify), "seed \(seed)")
        }
    }
}
