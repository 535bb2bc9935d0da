package import RecordModel
import RecordSQL

extension Transaction {
    /// Remembers the time of a large field's file, on this machine only, until other bytes come.
    package func setModified(_ id: AssetID, _ modified: Timestamp) throws(RecordError) {
        try connection.run(
            "UPDATE asset SET modified = ? WHERE id = ?",
            [.time(modified), .integer(id.rawValue)])
    }
}
