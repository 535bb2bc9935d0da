import Dispatch
import Logging
import RecordModel
import RecordSQL
package import RecordServerCore
package import RecordWire

import class GRDB.Database
import class GRDB.DatabasePool
import protocol GRDB.DatabaseWriter

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

    let database: any DatabaseWriter
    let isInMemory: Bool
    private let caches = StorageCaches()
    let logger: Logger
    private let writes: WriteQueue

    init(database: any DatabaseWriter, isInMemory: Bool, logger: Logger) {
        self.database = database
        self.isInMemory = isInMemory
        self.logger = logger
        writes = WriteQueue(database: database, caches: caches, logger: logger)
    }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            snapshot { database in
                continuation.resume(returning: self.run(body, database))
            }
        }
        return try outcome.get()
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let outcome = await withCheckedContinuation { continuation in
            writes.add(WriteJob(body) { continuation.resume(returning: $0) })
        }
        return try outcome.get()
    }

    /// Ends all connections after the accesses that have begun. Later accesses fail. Calling it
    /// again is harmless. Blocks the thread.
    package func close() throws(ServerError) {
        // A connection that only reads cannot move the log into the database when it is the last
        // one to be closed.
        if let pool = database as? DatabasePool { pool.invalidateReadOnlyConnections() }
        do {
            try database.close()
        } catch {
            throw failure(error)
        }
    }

    package func shutDown() async throws(ServerError) {
        let outcome: Result<Void, ServerError> = await withCheckedContinuation { continuation in
            DispatchQueue(label: "recordfs.close").async {
                continuation.resume(
                    returning: Result { () throws(ServerError) in try self.close() })
            }
        }
        try outcome.get()
    }

    /// Calls `body` on a thread of the storage with a connection that sees one point in time.
    private func snapshot(
        _ body: @escaping @Sendable (Swift.Result<GRDB.Database, any Error>) -> Void
    ) {
        if isInMemory {
            // There is one connection with one access after the other, so no transaction is needed.
            database.asyncWriteWithoutTransaction { body(.success($0)) }
        } else {
            database.asyncRead(body)
        }
    }

    private func run<Value>(
        _ body: (any StorageReader) throws(ServerError) -> Value,
        _ database: Swift.Result<GRDB.Database, any Error>
    ) -> Swift.Result<Value, ServerError> {
        let connection: SQLConnection
        do {
            connection = SQLConnection(try database.get())
        } catch {
            return .failure(failure(error))
        }
        let access = SQLiteAccess(connection, caches, isWriting: false, logger: logger)
        let outcome = Swift.Result { () throws(ServerError) in try body(access) }
        caches.names.add(access.names)
        return outcome
    }

    func failure(_ error: any Error) -> ServerError {
        ServerError(storage: RecordError(storeError: error), logger)
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
