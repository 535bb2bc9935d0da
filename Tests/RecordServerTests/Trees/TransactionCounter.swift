import RecordModel
import RecordSQL
import RecordWire
import Synchronization

@testable import RecordServerCore
@testable import RecordServerSQLite

/// A storage that knows how many rows its largest transaction has written, and lets something
/// happen between two transactions.
final class TransactionCounter: Storage {
    typealias Interruption = @Sendable () async throws(ServerError) -> Void

    private struct State {
        var count = 0
        var most = 0
        var interruption: (after: Int, run: Interruption)?
    }

    private let storage: SQLiteStorage
    private let state = Mutex(State())

    init(_ storage: SQLiteStorage) { self.storage = storage }

    var count: Int { state.withLock { $0.count } }
    var most: Int { state.withLock { $0.most } }
    func reset() { state.withLock { ($0.count, $0.most) = (0, 0) } }

    /// Once, before the transaction that follows so many more.
    func interrupt(after count: Int, _ run: @escaping Interruption) {
        state.withLock { $0.interruption = ($0.count + count, run) }
    }

    private func takeInterruption() -> Interruption? {
        state.withLock { state in
            guard let next = state.interruption, state.count >= next.after else { return nil }
            state.interruption = nil
            return next.run
        }
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result { try await storage.read(body) }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        try await takeInterruption()?()
        let (result, rows) = try await storage.write { transaction throws(ServerError) in
            let before = try Self.rows(transaction)
            let result = try body(transaction)
            return (result, try Self.rows(transaction) - before)
        }
        state.withLock { ($0.count, $0.most) = ($0.count + 1, max($0.most, rows)) }
        return result
    }

    /// Rows that the connection has ever written.
    private static func rows(
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> Int {
        guard let access = transaction as? SQLiteAccess else { return 0 }
        return try access.first("SELECT total_changes()") { Int($0.int64(0)) } ?? 0
    }
}
