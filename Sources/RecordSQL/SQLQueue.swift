import Dispatch
package import RecordModel

/// A database that can be read as of one moment, and copied.
package protocol SQLReadable: Sendable {
    /// Reads the state of one moment. The calling thread waits.
    func read<T>(_ body: (SQLConnection) throws(RecordError) -> T) throws(RecordError) -> T
    /// Copies the whole database into another one. The calling thread waits.
    func copy(to target: SQLQueue) throws(RecordError)
}

/// A connection for many threads: one access at a time, in the order of the calls.
///
/// It may be shared although the handle may not be, because only the queue uses the handle.
package final class SQLQueue: SQLReadable, @unchecked Sendable {
    private let queue: DispatchQueue
    /// The connection. It is nil after `close`.
    private var handle: SQLHandle?
    /// The file of the database, or an empty text for one in memory.
    package let path: String

    /// Opens a database. `path` may be a URI. Without a path, the database is in memory.
    ///
    /// Errors: corrupt when the file is no database; noSpace, readOnly, ioFailure, timedOut.
    package init(path: String? = nil, _ options: SQLOptions = SQLOptions()) throws(RecordError) {
        let handle = try SQLHandle(path: path, options)
        self.handle = handle
        self.path = path ?? ""
        queue = DispatchQueue(label: "recordfs.sqlite")
    }

    /// Runs `body` with the connection. The calling thread waits. `body` may not call the queue.
    package func use<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        let outcome = queue.sync {
            Result { () throws(RecordError) in try body(try connection()) }
        }
        return try outcome.get()
    }

    /// Runs `body` with the connection on a thread of the queue. The caller does not wait.
    package func enqueue(
        _ body: @escaping @Sendable (Result<SQLConnection, RecordError>) -> Void
    ) {
        queue.async {
            body(Result { () throws(RecordError) in try self.connection() })
        }
    }

    package func read<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        try use { connection throws(RecordError) in try connection.inTransaction("DEFERRED", body) }
    }

    /// Runs `body` in one transaction. Its error rolls everything back.
    package func write<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        try use { connection throws(RecordError) in
            try connection.inTransaction("IMMEDIATE", body)
        }
    }

    package func copy(to target: SQLQueue) throws(RecordError) {
        try use { source throws(RecordError) in
            try target.use { copy throws(RecordError) in try source.copy(to: copy) }
        }
    }

    /// Calls `note` with each statement that begins from now on. Nil ends it.
    package func trace(_ note: (@Sendable (String) -> Void)?) { queue.sync { handle?.trace(note) } }

    /// Closes the connection after the accesses that have begun. Later accesses fail. The last
    /// connection that can write moves the log into the database. Calling it again is harmless.
    package func close() { queue.sync { handle = nil } }

    private func connection() throws(RecordError) -> SQLConnection {
        guard let handle else {
            throw RecordError(.ioFailure, "The connection to the database is closed.")
        }
        return SQLConnection(handle)
    }
}
