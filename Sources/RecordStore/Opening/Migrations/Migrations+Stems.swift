import RecordModel
import RecordSQL

extension Migrations {
    /// Corrects stems that were once given to records when they arrived. Now a record's name and
    /// the names of its type determine its stem.
    static let stepsOfStems: [Step] = [
        (
            "stems by names",
            { (connection) throws(RecordError) in try setStems(connection) }
        )
    ]

    /// Corrects the stems. A draft that has the stem of such a record moves to another stem next to
    /// it.
    private static func setStems(_ connection: SQLConnection) throws(RecordError) {
        let wrong = try connection.recordsWithWrongStems()
        // First give them stems that are not in the way of each other.
        for record in wrong {
            try connection.run(
                "UPDATE record SET stem = ? WHERE id = ?",
                [.blob([0] + Array("\(record.id.rawValue)".utf8)), .integer(record.id.rawValue)])
        }
        for record in wrong {
            let there = try connection.first(
                "SELECT id FROM record WHERE type_id = ? AND stem = ?",
                [.integer(record.type.rawValue), .name(record.stem)]
            ) { $0.int64(0) }
            if let there {
                let aside = Stem(
                    bytes: Array(record.stem.bytes.prefix(200)) + Array("-draft-\(there)".utf8))
                try connection.run(
                    "UPDATE record SET stem = ? WHERE id = ?", [.name(aside), .integer(there)])
            }
            try connection.run(
                "UPDATE record SET stem = ? WHERE id = ?",
                [.name(record.stem), .integer(record.id.rawValue)])
            try connection.run(
                "UPDATE conflict SET stem = ? WHERE record_id = ?",
                [.name(record.stem), .integer(record.id.rawValue)])
        }
    }
}

/// A record whose stem does not match its name.
struct WrongStem {
    let id: RecordID
    let type: TypeID
    let present: Stem
    /// The stem that it should have.
    let stem: Stem
}

extension SQLConnection {
    /// Returns the records whose stems do not match their names. Only a name with the ending of its
    /// type can be shown differently.
    func recordsWithWrongStems() throws(RecordError) -> [WrongStem] {
        let rows = try all(
            """
            SELECT r.id, r.type_id, r.zone_id, r.stem, r.name, t.name
            FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.name IS NOT NULL AND length(r.name) > length(t.name) + 1
                AND substr(r.name, -length(t.name) - 1) = CAST(':' || t.name AS BLOB)
            ORDER BY r.id
            """
        ) { row in
            (
                record: WrongStem(
                    id: RecordID(row.int64(0)), type: TypeID(row.int64(1)),
                    present: Stem(bytes: row.bytes(3)), stem: Stem(bytes: row.bytes(3))),
                zone: row.int64(2), name: RecordName(bytes: row.bytes(4)),
                type: RecordTypeName(bytes: row.bytes(5))
            )
        }
        var wrong: [WrongStem] = []
        for row in rows {
            let shown = try row.name.shown(in: row.type) { (short) throws(RecordError) in
                try exists(
                    "SELECT 1 FROM record WHERE zone_id = ? AND name = ? AND type_id = ?",
                    [.integer(row.zone), .name(short), .integer(row.record.type.rawValue)])
            }
            let stem = Stem(encoding: shown)
            guard stem != row.record.present else { continue }
            wrong.append(
                WrongStem(
                    id: row.record.id, type: row.record.type, present: row.record.present,
                    stem: stem))
        }
        return wrong
    }
}
