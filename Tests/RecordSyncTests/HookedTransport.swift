import RecordModel
import RecordSync
import RecordWire
import Simulation

/// A wire with what a test puts in between.
struct HookedTransport: SyncTransport {
    let wire: CoreTransport
    var beforeRequest: @Sendable (SyncOperation) async throws(SyncProblem) -> Void = { _ in }
    /// What the server's answer says instead.
    var changeAnswer: @Sendable (JSONValue) -> JSONValue = { $0 }
    /// Before the bytes of an asset are sent to the address that the server gave for them.
    var beforeBytes: @Sendable () async throws(SyncProblem) -> Void = {}
    /// What a courier tells.
    var frame: @Sendable () async throws(SyncProblem) -> [UInt8] = { () throws(SyncProblem) in
        throw .unreachable("there is no courier")
    }

    func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        try await beforeRequest(operation)
        return changeAnswer(try await wire.send(operation, scope, body))
    }

    func upload(_ file: OutgoingFile, to url: String) async throws(SyncProblem) -> JSONValue {
        try await beforeBytes()
        return try await wire.upload(file, to: url)
    }

    func download(
        _ url: String, from offset: Int64, count: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) {
        try await wire.download(url, from: offset, count: count, take: take)
    }

    var takesSplices: Bool { wire.takesSplices }

    func poll(_ url: String) async throws(SyncProblem) -> [UInt8] { try await frame() }
}
