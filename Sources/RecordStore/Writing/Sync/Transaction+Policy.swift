package import RecordModel
import RecordSQL

extension Transaction {
    /// Takes a zone of the server away from here, where it has nothing that only this machine has:
    /// changes, drafts, files that are no records. The server keeps it; here it is in the trash for as long as anything.
    /// - Returns: whether it is gone.
    package func leaveZone(_ zone: ZoneID) throws(RecordError) -> Bool {
        let key = SQLValue.integer(zone.rawValue)
        let isUnsent = try connection.exists(
            """
            SELECT 1 FROM outbox WHERE zone_id = ?1
            UNION ALL SELECT 1 FROM sent_request WHERE zone_id = ?1
            UNION ALL SELECT 1 FROM record WHERE zone_id = ?1 AND name IS NULL
            UNION ALL SELECT 1 FROM record WHERE zone_id = ?1 AND state = 2
            UNION ALL SELECT 1 FROM draft d JOIN record r ON r.id = d.record_id
                WHERE r.zone_id = ?1
            """, [key])
        guard !isUnsent, try !holdsScratch(zone) else { return false }
        try removeZoneOfServer(zone)
        return true
    }

    /// Remembers what was wanted of zones. Gives whether it is other than the last time.
    package func notePolicy(_ text: String) throws(RecordError) -> Bool {
        let known = try connection.first("SELECT value FROM meta WHERE key = 'zonePolicy'") {
            $0.string(0)
        }
        guard known != text else { return false }
        try connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('zonePolicy', ?)", [.text(text)])
        return known != nil
    }

    /// Whether the exchange with the server waits until somebody says otherwise.
    package func setPaused(_ isPaused: Bool) throws(RecordError) {
        if isPaused {
            try connection.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('paused', 1)")
        } else {
            try connection.run("DELETE FROM meta WHERE key = 'paused'")
        }
    }
}

extension RecordStore {
    package func isPaused() throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM meta WHERE key = 'paused'")
        }
    }
}
