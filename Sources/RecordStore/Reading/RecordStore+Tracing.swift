import RecordSQL
import Synchronization

extension RecordStore {
    /// Calls `body` with each statement that reads from now on, for tests that count them; nil ends
    /// it. Do not call it while another thread reads.
    package func traceReads(_ body: (@Sendable (String) -> Void)?) {
        trace.withLock { $0 = body }
        Self.install(body, on: reader)
    }

    /// Does the same as `traceReads` for the statements of transactions.
    package func traceWrites(_ body: (@Sendable (String) -> Void)?) {
        if let writer { Self.install(body, on: writer) }
    }

    static func install(_ body: (@Sendable (String) -> Void)?, on queue: SQLQueue) {
        guard let body else { return queue.trace(nil) }
        queue.trace { statement in
            // SQLite reports the statements of a trigger as comments.
            if !statement.hasPrefix("--") { body(statement) }
        }
    }
}
