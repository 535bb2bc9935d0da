package import RecordModel
import RecordSQL

extension Outbox {
    /// Puts the changes that a program has made to a record which others no longer share into the
    /// trash: only the fields that differ from the text that the program has read.
    ///
    /// - Parameter base: that text; nil for a record that the program was making.
    /// - Returns: whether there was something to keep. A text that is not JSON is not kept, because
    ///   it may contain the work of others.
    package func trashUnsaved(
        _ text: [UInt8], since base: [UInt8]?, stem: Stem, type: RecordTypeName, in zone: ZoneID
    ) throws(RecordError) -> Bool {
        guard let own = Self.ownMembers(of: text, since: base), !own.isEmpty,
            let info = try transaction.connection.first(
                "SELECT \(Columns.zone) FROM zone WHERE id = ?", [.integer(zone.rawValue)],
                { $0.zone() })
        else { return false }
        let name = stem.decoded ?? RecordName(bytes: stem.bytes)
        let kept = JSONValue.object(own).serialized(pretty: true) + [UInt8(ascii: "\n")]
        _ = try transaction.sharing.addOwnTrash(
            TrashRow(
                zone: zone, type: type, name: name, stem: stem, created: transaction.now,
                createdBy: "",
                author: .mount, isOwn: true),
            kept)
        _ = try transaction.records.addHistory(
            .deleted, RecordID(0), name, 1, TypePlace(type: TypeID(0), name: type, zone: info),
            fields: [], text: [], hasAssets: false)
        try transaction.connection.run(
            """
            INSERT OR IGNORE INTO past_type (zone_id, name)
            SELECT ?1, ?2 WHERE NOT EXISTS
                (SELECT 1 FROM record_type WHERE zone_id = ?1 AND name = ?2 AND removed = 0)
            """, [.integer(zone.rawValue), .name(type)])
        return true
    }

    private static func ownMembers(of text: [UInt8], since base: [UInt8]?) -> [JSONMember]? {
        do throws(RecordError) {
            let read = try base.map { (base) throws(RecordError) in try JSONParser.parse(base) }
            return try JSONParser.parse(text).object?.filter { member in
                member.value != read?[member.key.string]
            }
        } catch {
            return nil
        }
    }
}
