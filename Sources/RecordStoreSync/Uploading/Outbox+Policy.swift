package import RecordModel
import RecordSQL
package import RecordStore

extension Outbox {
    /// Removes a zone of the server from this machine, if the zone has nothing that only this
    /// machine has: changes, drafts, files that are no records. The server keeps the zone. On this
    /// machine its records stay in the trash for as long as other records.
    ///
    /// - Returns: whether the zone was removed.
    package func leaveZone(_ zone: ZoneID) throws(RecordError) -> Bool {
        let key = SQLValue.integer(zone.rawValue)
        let isUnsent = try transaction.connection.exists(
            """
            SELECT 1 FROM outbox WHERE zone_id = ?1
            UNION ALL SELECT 1 FROM sent_request WHERE zone_id = ?1
            UNION ALL SELECT 1 FROM record WHERE zone_id = ?1 AND name IS NULL
            UNION ALL SELECT 1 FROM record WHERE zone_id = ?1 AND state = 2
            UNION ALL SELECT 1 FROM draft d JOIN record r ON r.id = d.record_id
                WHERE r.zone_id = ?1
            """, [key])
        guard !isUnsent, try !transaction.feed.holdsScratch(zone) else { return false }
        try transaction.feed.removeZoneOfServer(zone)
        return true
    }

    /// Stores the requested settings for zones. Returns whether they differ from the last ones.
    package func notePolicy(_ text: String) throws(RecordError) -> Bool {
        let known = try transaction.connection.first(
            "SELECT value FROM meta WHERE key = 'zonePolicy'"
        ) {
            $0.string(0)
        }
        guard known != text else { return false }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('zonePolicy', ?)", [.text(text)])
        return known != nil
    }

    /// Sets whether the exchange with the server waits until somebody ends the pause.
    package func setPaused(_ isPaused: Bool) throws(RecordError) {
        if isPaused {
            try transaction.connection.run(
                "INSERT OR REPLACE INTO meta (key, value) VALUES ('paused', 1)")
        } else {
            try transaction.connection.run("DELETE FROM meta WHERE key = 'paused'")
        }
    }
}

extension SyncState {
    package func isPaused() throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM meta WHERE key = 'paused'")
        }
    }
}
