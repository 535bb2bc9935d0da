import RecordModel
import RecordSQL

/// The lists that the pages of a download leave to its end. The rows of `object_link` are right at
/// any time; the texts of the owners follow.
extension ObjectLinks {
    private var connection: SQLConnection { transaction.connection }

    /// Notes the lists that this transaction has changed, instead of writing them into texts.
    func leaveLists() throws(RecordError) {
        for list in transaction.touchedLists {
            try connection.run(
                """
                INSERT OR IGNORE INTO object_list_due (zone_id, owner, relationship)
                VALUES (?, ?, ?)
                """,
                [.integer(list.zone.rawValue), .name(list.owner), .name(list.relationship)])
        }
        transaction.touchedLists = []
    }

    /// Has this transaction write some of the lists that were left.
    ///
    /// - Returns: whether there may be more.
    func takeDue(in zone: ZoneID, limit: Int64) throws(RecordError) -> Bool {
        let due = try connection.all(
            "SELECT owner, relationship FROM object_list_due WHERE zone_id = ? LIMIT ?",
            [.integer(zone.rawValue), .integer(limit)]
        ) {
            ObjectList(
                zone: zone, owner: RecordName(bytes: $0.bytes(0)),
                relationship: FieldName(bytes: $0.bytes(1)))
        }
        for list in due {
            try connection.run(
                """
                DELETE FROM object_list_due
                WHERE zone_id = ? AND owner = ? AND relationship = ?
                """,
                [.integer(list.zone.rawValue), .name(list.owner), .name(list.relationship)])
            touch(list)
        }
        return due.count == Int(limit)
    }

    /// Returns the text of a save with what a download has brought into the lists of its object:
    /// the writer cannot have read that yet, and has not removed it. Nil when there is no such
    /// thing.
    func withDueLists(
        _ text: [UInt8], of record: StoredRow, in place: TypePlace
    ) throws(RecordError) -> [UInt8]? {
        guard transaction.author != .sync, transaction.model != nil, let name = record.name,
            try connection.exists(
                "SELECT 1 FROM object_list_due WHERE zone_id = ? AND owner = ?",
                [.integer(record.zone.rawValue), .name(name)]),
            let saved = try connection.records.savedText(of: record.id)
        else { return nil }
        let mine = try transaction.records.parse(text, place)
        let base = transaction.records.readable(saved, place)
        let lists = try merged(mine, since: base, of: name, in: place)
        let whole = mine.replacing(lists: lists)
        return whole == text ? nil : whole
    }
}
