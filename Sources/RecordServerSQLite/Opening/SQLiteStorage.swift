import Dispatch
import Logging
import RecordModel
import RecordSQL
package import RecordServerCore
package import RecordWire

/// The default storage: one SQLite file in WAL mode, or a database in memory.
///
/// Other processes may use the same file, such as the commands that add users. Reads run on a few
/// connections of their own, writes on one; each connection has its thread.
package final class SQLiteStorage: OperatedStorage {
    package enum Synchronous: String, Sendable {
        /// A commit is on stable storage before its caller gets an answer.
        case full = "FULL"
        /// A power failure may lose the last commits. A crash of the process never does.
        case normal = "NORMAL"
    }

    let database: SQLPool
    private let caches = StorageCaches()
    let logger: Logger
    let writes: WriteQueue

    init(database: SQLPool, synchronous: Synchronous, logger: Logger) {
        self.database = database
        self.logger = logger
        writes = WriteQueue(
            writer: database.writer, synchronous: synchronous, caches: caches, logger: logger)
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            database.enqueueRead { connection in
                continuation.resume(returning: self.run(body, connection))
            }
        }
        return try outcome.get()
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        try await write(isHint: false, body)
    }

    package func writeHint<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        try await write(isHint: true, body)
    }

    private func write<Result: Sendable>(
        isHint: Bool,
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            writes.add(WriteJob(isHint: isHint, body) { continuation.resume(returning: $0) })
        }
        return try outcome.get()
    }

    /// Ends all connections after the accesses that have begun. Later accesses fail. Calling it
    /// again is harmless. Blocks the thread.
    package func close() { database.close() }

    package func shutDown() async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "recordfs.close").async {
                self.close()
                continuation.resume()
            }
        }
    }

    private func run<Value>(
        _ body: (any StorageReader) throws(ServerError) -> Value,
        _ opened: Swift.Result<SQLConnection, RecordError>
    ) -> Swift.Result<Value, ServerError> {
        let connection: SQLConnection
        do throws(RecordError) {
            connection = try opened.get()
        } catch {
            return .failure(ServerError(storage: error, logger))
        }
        let access = SQLiteAccess(connection, caches, isWriting: false, logger: logger)
        let outcome = Swift.Result { () throws(ServerError) in try body(access) }
        caches.names.add(access.names)
        return outcome
    }
}

extension ServerError {
    /// Makes the error that a caller may see. The cause, which may name tables and files, is
    /// written to the log.
    init(storage error: RecordError, _ logger: Logger) {
        logger.error("The storage failed", metadata: ["cause": "\(error.message)"])
        switch error.code {
        case .noSpace:
            self.init(.tryAgainLater, "The server's disk is full.", retryAfter: 60)
        case .timedOut:
            self.init(.tryAgainLater, "The server's storage is busy.", retryAfter: 2)
        default:
            self.init(.internalError, "The server's storage failed; its log says why.")
        }
    }
}
