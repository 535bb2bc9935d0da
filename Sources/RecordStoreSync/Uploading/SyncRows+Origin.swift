import RecordModel
import RecordSQL
import RecordStore

extension SyncRows {
    /// Returns the origin of a change that waits: the last gesture of this machine that has made a
    /// version of its record after a token.
    func origin(of row: OutboxRow, after token: Int64) throws(RecordError) -> GestureOrigin? {
        let gesture = try connection.first(
            """
            SELECT gesture FROM history
            WHERE zone_id = ? AND name = ? AND token > ? AND author != 'sync'
            ORDER BY token DESC LIMIT 1
            """, [.integer(row.zone.rawValue), .name(row.name), .integer(token)]
        ) { $0.int64IfPresent(0) }
        return try (gesture ?? nil).flatMap { (id) throws(RecordError) in
            try origin(of: GestureID(id))
        }
    }
}
