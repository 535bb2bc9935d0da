package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Stores the time of a large field's file, on this machine only, until other bytes arrive.
    package func setModified(_ id: AssetID, _ modified: Timestamp) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE asset SET modified = ?1,
                status_changed = CASE status_changed WHEN ?2 THEN ?2
                    ELSE max(?2, status_changed + 1) END
            WHERE id = ?3
            """, [.time(modified), .time(transaction.changed), .integer(id.rawValue)])
    }
}
