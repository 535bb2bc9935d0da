import RecordModel
import RecordSQL

import class GRDB.Database

extension Migrations {
    /// What a record shows as was given once, when it came; now its name and those of its type say it.
    static let stepsOfStems: [Step] = [
        (
            "stems by names",
            { database in try setStems(SQLConnection(database)) }
        )
    ]

    /// A draft that has a stem which a record gets is beside it, under another one.
    private static func setStems(_ connection: SQLConnection) throws(RecordError) {
        let wrong = try connection.recordsWithWrongStems()
        // Out of the way of each other.
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

/// A record that does not show as its name says.
struct WrongStem {
    let id: RecordID
    let type: TypeID
    let present: Stem
    /// As it should show.
    let stem: Stem
}

extension SQLConnection {
    /// Only a name with the ending of its type can show as anything but itself.
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
