import RecordModel
import RecordSQL

/// Long values in assets whose attributes the model before did not have.
extension Regrouping {
    /// Has a record that came from the server fetched again. The assets of its attributes become
    /// their values then.
    func requestAgain(_ record: RecordID) throws(RecordError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO passed_over (zone_id, name, reason, due, type)
            SELECT r.zone_id, r.name, ?2, 1, t.name
            FROM record r JOIN record_type t ON t.id = r.type_id
                JOIN base b ON b.record_id = r.id
            WHERE r.id = ?1 AND r.name IS NOT NULL
            """,
            [
                .integer(record.rawValue),
                .text("the long values of its attributes are fetched by the next sync"),
            ])
    }
}

extension RecordDocument {
    /// Indicates whether an attribute has no value beside the asset that holds it.
    func hasLooseAsset(of members: MemberMapping) -> Bool {
        fields.contains { field in
            guard case .asset = field.value, let name = field.name.field else { return false }
            return members.longType(of: name) != nil && self[name] == nil
        }
    }
}
