import Synchronization

import class GRDB.DatabaseQueue

extension RecordStore {
    /// Calls `body` with each statement that reads from here on, for tests that count them; nil
    /// ends it. Not while another thread reads.
    package func traceReads(_ body: (@Sendable (String) -> Void)?) {
        trace.withLock { $0 = body }
        Self.install(body, on: reader)
    }

    /// As `traceReads`, with the statements of transactions.
    package func traceWrites(_ body: (@Sendable (String) -> Void)?) {
        if let writer { Self.install(body, on: writer) }
    }

    static func install(_ body: (@Sendable (String) -> Void)?, on queue: DatabaseQueue) {
        queue.inDatabase { database in
            guard let body else { return database.trace(options: []) }
            database.trace { event in
                let statement = "\(event)"
                // What a trigger does is told as a comment.
                if !statement.hasPrefix("--") { body(statement) }
            }
        }
    }
}
