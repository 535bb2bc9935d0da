import Foundation
import Logging
import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// The credentials of one user and the zone that all write to.
struct KillAccess: Sendable {
    static let container = "iCloud.org.example.kills"
    static let zone = "Killed"
    let query: String

    func target(_ operation: String) -> String {
        "/database/1/\(Self.container)/development/private/\(operation)\(query)"
    }

    /// The path of a URL.
    static func target(_ url: String) -> String {
        let parts = url.replacing("${f}", with: "photo").split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        return "/" + (parts.last ?? "")
    }
}

/// Where the server is at the moment, for those who use it while it comes and goes.
final class KilledServer: Sendable {
    static let arguments = [
        "--set", "log-level=error", "--set", "user-rate=0", "--set", "address-rate=0",
    ]
    private struct State {
        /// Nil while there is none.
        var port: Int?
        var generation = 0
        var acknowledged = 0
        var isEnding = false
        var running = 0
    }

    private let condition = NSCondition()
    private let state = Mutex(State())

    /// Makes the data directory, a user with a session, and the zone.
    static func prepare(_ path: String) async throws -> KillAccess {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = path + "/"
        configuration.container = KillAccess.container
        configuration.port = 0
        let instance = try await ServerInstance.start(
            configuration, logger: Logger(label: "kills") { _ in SwiftLogNoOpLogHandler() })
        let first = try #require(instance.firstRun)
        let api = try #require(first.tokens.first { $0.environment == .development }).token
        let storage = instance.application.service.storage
        let user = try await storage.read { (reader) throws(ServerError) in try reader.users() }
        let web = try await instance.application.authenticator.signIn(
            try #require(user.first).name,
            container: ContainerKey(
                container: Text(KillAccess.container), environment: .development),
            staySignedIn: true, label: "kills", now: SystemClock().now)
        let access = KillAccess(query: "?ckAPIToken=\(api)&ckWebAuthToken=\(web)")
        let body: JSONValue = [
            "operations": [
                ["operationType": "create", "zone": ["zoneID": ["zoneName": "Killed"]]]
            ]
        ]
        let answer = try await RawHTTP.request(
            port: instance.running.port, "POST", access.target("zones/modify"),
            body: body.serialized())
        #expect(answer.status == 200, "\(answer.text)")
        try await instance.stop()
        return access
    }

    private func change<Value: Sendable>(_ body: (inout State) -> sending Value) -> Value {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return state.withLock { body(&$0) }
    }

    /// Blocks until `test` holds; throws after a minute.
    private func wait<Value: Sendable>(_ test: (State) -> sending Value?) throws -> Value {
        condition.lock()
        defer { condition.unlock() }
        let end = Date(timeIntervalSinceNow: 60)
        while true {
            if let value = state.withLock({ test($0) }) { return value }
            guard condition.wait(until: end) else { throw RawHTTPError("nothing for a minute") }
        }
    }

    /// Lets everybody at the server until that many batches were acknowledged; takes it away.
    func run(on port: Int, untilAcknowledged count: Int) throws {
        let target = change { state in
            state.port = port
            state.generation += 1
            return state.acknowledged + count
        }
        _ = try wait { $0.acknowledged >= target || $0.isEnding ? true : nil }
        change { $0.port = nil }
    }

    /// Lets everybody come to an end.
    func finish(on port: Int) throws {
        change { state in
            state.port = port
            state.generation += 1
            state.isEnding = true
        }
        _ = try wait { $0.running == 0 ? true : nil }
    }

    /// Nothing comes any more.
    func end() { change { $0.isEnding = true } }

    var isEnding: Bool { state.withLock { $0.isEnding } }

    /// The port of a server that is not the one of `generation`; blocks while there is none.
    func next(after generation: Int) throws -> (port: Int, generation: Int) {
        try wait { state in
            guard let port = state.port, state.generation > generation else {
                return state.isEnding && state.port == nil ? (0, generation) : nil
            }
            return (port, state.generation)
        }
    }

    func acknowledge() { change { $0.acknowledged += 1 } }
    func begin() { change { $0.running += 1 } }
    func leave() { change { $0.running -= 1 } }
}
