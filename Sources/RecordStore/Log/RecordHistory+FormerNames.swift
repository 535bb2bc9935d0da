package import RecordModel
import RecordSQL

extension RecordHistory {
    /// The number of renames that are followed back. It ends a ring of names.
    private static let renamesMax = 1_000

    /// Returns a record with the names that it had before it was renamed.
    ///
    /// A rename is a record that is made and another one of its type that is removed in one gesture,
    /// with the same text, or as the only ones of the gesture.
    package func withFormerNames(_ record: RecordKey) throws(RecordError) -> Set<RecordKey> {
        try store.read { connection throws(RecordError) in
            var names: Set<RecordKey> = [record]
            var next = record
            while names.count < Self.renamesMax,
                let former = try FormerNames(connection: connection).formerName(of: next),
                names.insert(former).inserted
            {
                next = former
            }
            return names
        }
    }
}

/// Finds the names that records had before renames.
private struct FormerNames {
    let connection: SQLConnection

    private struct Removed {
        let record: RecordKey
        let text: [UInt8]?
    }

    /// Returns the name that a record had before the rename that has made its present one.
    func formerName(of record: RecordKey) throws(RecordError) -> RecordKey? {
        let first = try connection.first(
            """
            SELECT gesture, type, text FROM history WHERE zone_id = ? AND name = ?
            ORDER BY token LIMIT 1
            """, [.integer(record.zone.rawValue), .name(record.name)]
        ) { (gesture: $0.int64IfPresent(0), type: $0.bytes(1), text: $0.bytes(2)) }
        guard let first, let gesture = first.gesture else { return nil }
        let changes = try GestureRows(connection: connection).changes(of: GestureID(gesture))
            .filter { $0.place.zone == record.zone && $0.place.type.bytes == first.type }
        var removed: [Removed] = []
        for change in changes where change.isRemoval && change.place.name != record.name {
            removed.append(
                Removed(record: change.place.key, text: try lastText(of: change.place.key)))
        }
        let hasOneMade = changes.count { !$0.isRemoval } == 1
        let same = removed.first { $0.text == first.text }
        let former = same ?? (hasOneMade && removed.count == 1 ? removed[0] : nil)
        return former?.record
    }

    private func lastText(of record: RecordKey) throws(RecordError) -> [UInt8]? {
        try connection.first(
            """
            SELECT text FROM history WHERE zone_id = ? AND name = ? AND kind != 'deleted'
            ORDER BY token DESC LIMIT 1
            """, [.integer(record.zone.rawValue), .name(record.name)]
        ) { $0.bytes(0) }
    }
}
