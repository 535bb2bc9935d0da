import RecordModel
import RecordSQL

extension SyncState {
    /// Ends the exchanges of a process that was killed. Called while nobody exchanges anything yet.
    func endInterruptedEvents() throws(RecordError) {
        let running = "without_end = 1 AND error IS NULL"
        let hasInterrupted = try store.read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM sync_event WHERE \(running)")
        }
        guard hasInterrupted else { return }
        try store.write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            // Under new numbers, so that those who have read the old ones learn of it.
            try transaction.connection.run(
                """
                INSERT INTO sync_event (kind, database, zone_id, started, ended, records, error,
                    without_end, begun)
                SELECT kind, database, zone_id, started, ended, records, ?, 1, id
                FROM sync_event WHERE \(running) ORDER BY id
                """, [.text(SyncEvent.interruption)])
            try transaction.connection.run("DELETE FROM sync_event WHERE \(running)")
        }
    }
}
