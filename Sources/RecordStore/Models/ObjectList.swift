import RecordModel
import RecordSQL

/// The objects in the to-many relationship of an object.
struct ObjectList: Hashable {
    let zone: ZoneID
    let owner: RecordName
    let relationship: FieldName
}

extension SQLConnection {
    /// Returns the names in a relationship, without doubles, in the order of their bytes.
    ///
    /// - Parameter field: the key by which members name the owner; empty for links.
    func names(
        in list: ObjectList, by field: FieldName
    ) throws(RecordError) -> [RecordName] {
        try all(
            """
            SELECT DISTINCT member FROM object_link
            WHERE zone_id = ? AND owner = ? AND relationship = ? AND field = ? ORDER BY member
            """,
            [
                .integer(list.zone.rawValue), .name(list.owner), .name(list.relationship),
                .name(field),
            ]
        ) { RecordName(bytes: $0.bytes(0)) }
    }
}
