import RecordModel
import RecordStore

/// Edits that follow from deletions of other objects (`ObjectLinks.hasOnlyLostKeys`).
extension RemoteApplication {
    /// Returns whether the edit of a record that is still to be sent only takes away keys that lead
    /// nowhere.
    func hasOnlyLostKeys(_ record: StoredRow) throws(RecordError) -> Bool {
        guard transaction.model != nil, let name = record.name else { return false }
        let place = try transaction.place(record.entry.type)
        do throws(RecordError) {
            guard let base = try acknowledged(record.id, place),
                let text = try connection.records.savedText(of: record.id)
            else { return false }
            let document = try transaction.outbox.document(text, of: record.id, place)
            return try transaction.links.hasOnlyLostKeys(
                document, since: base, of: name, place.name, in: zone)
        } catch  where error.isAboutContent {
            return false
        }
    }
}
