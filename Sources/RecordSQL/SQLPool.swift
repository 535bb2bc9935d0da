package import RecordModel
import Synchronization

/// A database with one connection that writes and some that read at the same time. A database in
/// memory has one connection for both.
package final class SQLPool: SQLReadable {
    package typealias Read = @Sendable (Result<SQLConnection, RecordError>) -> Void

    private struct State {
        var idle: [SQLQueue] = []
        /// The reads that wait for a connection, oldest first.
        var waiting: [Read] = []
        var isClosed = false
    }

    package let writer: SQLQueue
    private let readers: [SQLQueue]
    private let readerOptions: SQLOptions
    private let state = Mutex(State())

    /// Adds `readerCount` connections that read to `writer`, which has a file and its tables.
    package init(
        _ writer: SQLQueue, readerCount: Int, _ options: SQLOptions
    ) throws(RecordError) {
        self.writer = writer
        var options = options
        options.isReadOnly = true
        readerOptions = options
        var readers: [SQLQueue] = []
        for _ in 0..<readerCount { readers.append(try SQLQueue(path: writer.path, options)) }
        self.readers = readers
        state.withLock { [readers] in $0.idle = readers }
    }

    /// Makes a pool of a database in memory.
    package init(inMemory writer: SQLQueue) {
        self.writer = writer
        readers = []
        readerOptions = SQLOptions()
    }

    package var isInMemory: Bool { readers.isEmpty }
    package var path: String { writer.path }

    /// Calls `body` on a thread of the pool with a connection that sees one point in time. The
    /// caller does not wait. When all connections read, the body waits for one.
    package func enqueueRead(_ body: @escaping Read) {
        // There is one access after the other, so no transaction is needed.
        guard !isInMemory else { return writer.enqueue(body) }
        let reader = state.withLock { state -> SQLQueue? in
            // A closed connection answers with the error.
            if state.isClosed { return readers[0] }
            if let reader = state.idle.popLast() { return reader }
            state.waiting.append(body)
            return nil
        }
        if let reader { run(body, on: reader) }
    }

    private func run(_ body: @escaping Read, on reader: SQLQueue) {
        reader.enqueue { connection in
            Self.run(body, connection)
            let next = self.state.withLock { state -> Read? in
                guard !state.waiting.isEmpty else {
                    state.idle.append(reader)
                    return nil
                }
                return state.waiting.removeFirst()
            }
            if let next { self.run(next, on: reader) }
        }
    }

    private static func run(_ body: Read, _ connection: Result<SQLConnection, RecordError>) {
        do throws(RecordError) {
            let connection = try connection.get()
            try connection.run("BEGIN DEFERRED")
            body(.success(connection))
            // The caller has its answer. A read has nothing that a commit could lose.
            connection.endRead()
        } catch {
            body(.failure(error))
        }
    }

    /// Reads on a connection of its own, however long it takes.
    package func read<T>(
        _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        guard !isInMemory else { return try writer.read(body) }
        let reader = try SQLQueue(path: path, readerOptions)
        defer { reader.close() }
        return try reader.read(body)
    }

    package func copy(to target: SQLQueue) throws(RecordError) {
        guard !isInMemory else { return try writer.copy(to: target) }
        let reader = try SQLQueue(path: path, readerOptions)
        defer { reader.close() }
        try reader.copy(to: target)
    }

    /// Closes all connections after the accesses that have begun. Later accesses fail. Calling it
    /// again is harmless. The calling thread waits.
    package func close() {
        state.withLock { $0.isClosed = true }
        // A connection that only reads cannot move the log into the database, so the writer is the
        // last one.
        for reader in readers { reader.close() }
        writer.close()
    }
}
