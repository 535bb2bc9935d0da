import RecordModel
import RecordSQL
import RecordStore

/// A record type as a table: a column for each of its fields, beside those of every record.
struct MirrorTable: Hashable, Sendable {
    struct Column: Hashable, Sendable {
        /// The name of the member in the texts.
        let member: [UInt8]
        /// The name in SQL, where names that differ only in case are one.
        let name: String
        /// SQLite's type, which says how texts and numbers are compared and sorted.
        let type: String
    }

    /// The columns of every record, before and after those of its members. No member can have such
    /// a name.
    static let first = ["_name"]
    static let last = ["_zone", "_database", "_owner", "_created", "_modified"]

    /// The name in SQL.
    let name: String
    let columns: [Column]

    init(_ name: String, _ schema: RecordSchema) {
        self.name = name
        var taken: Set<String> = []
        columns = Self.members(of: schema).map { member, type in
            Column(
                member: member.bytes, name: Self.free("\(member)", &taken),
                type: Self.columnType(type))
        }
    }

    /// The members that texts of the type have.
    private static func members(of schema: RecordSchema) -> [(FieldName, FieldType)] {
        guard let mapping = schema.mapping else {
            return schema.fields.map { ($0.name, $0.type) }
        }
        let others = schema.fields.filter {
            mapping.member(of: $0.name) == nil && $0.name != mapping.constant.name
        }
        return mapping.members.map { ($0.name, $0.form == .boolean ? .int64 : $0.type) }
            + mapping.lists.sorted().map { ($0, .list(.string)) }
            + others.map { ($0.name, $0.type) }
    }

    private static func columnType(_ type: FieldType) -> String {
        switch type {
        case .int64: "INTEGER"
        case .double: "REAL"
        case .string, .timestamp, .bytes, .reference, .location, .asset, .list: "TEXT"
        case .json: ""
        }
    }

    /// The names that the views of the store have.
    static let reserved: Set<String> = ["_history", "_records", "_types"]

    /// Returns a name that none of those has taken, in the sense of SQL. Names that SQLite keeps for
    /// itself get an underscore before them.
    static func free(_ name: String, _ taken: inout Set<String>) -> String {
        let name = name.lowercased().hasPrefix("sqlite_") ? "_" + name : name
        var free = name
        var number = 2
        while !taken.insert(free.lowercased()).inserted {
            free = "\(name):\(number)"
            number += 1
        }
        return free
    }

    // MARK: Statements

    /// The table behind the view, with the record's number in the store as its key.
    private static func stored(_ name: String) -> String { quoted("data \(name)") }
    private var stored: String { Self.stored(name) }

    private var allNames: [String] { Self.first + columns.map(\.name) + Self.last }

    var creation: [String] {
        let typed =
            Self.first.map { "\($0) TEXT" }
            + columns.map { "\(Self.quoted($0.name)) \($0.type)" } + Self.last.map { "\($0) TEXT" }
        let names = allNames.map(Self.quoted).joined(separator: ", ")
        return [
            "CREATE TABLE \(stored) (_id INTEGER PRIMARY KEY, \(typed.joined(separator: ", ")))",
            "CREATE VIEW \(Self.quoted(name)) AS SELECT \(names) FROM \(stored)",
        ]
    }

    /// Returns the statements that remove the table with a name.
    static func removal(of name: String) -> [String] {
        ["DROP VIEW \(quoted(name))", "DROP TABLE \(stored(name))"]
    }

    var insertion: String {
        let places = [String](repeating: "?", count: allNames.count + 1).joined(separator: ", ")
        return "INSERT OR REPLACE INTO \(stored) VALUES (\(places))"
    }

    var deletion: String { "DELETE FROM \(stored) WHERE _id = ?" }
    var count: String { "SELECT COUNT(*) FROM \(stored)" }

    /// Returns the values of a row.
    ///
    /// - Throws: invalidJSON for a damaged text.
    func row(
        _ entry: RecordEntry, _ name: RecordName, _ text: [UInt8], in place: MirrorPlace
    ) throws(RecordError) -> [SQLValue] {
        var values: [SQLValue] = [.integer(entry.id.rawValue), .utf8(name.bytes)]
        let members = try JSONParser.parse(text).object ?? []
        for column in columns {
            values.append(members.first { $0.key.utf8 == column.member }?.value.column ?? .null)
        }
        values += [
            .utf8(place.zone.name.bytes), .text(place.zone.database.name),
            .utf8(place.zone.owner.bytes), .text(Self.time(entry.created)),
            .text(Self.time(entry.modified)),
        ]
        return values
    }

    private static func time(_ time: Timestamp) -> String {
        ISO8601.print(milliseconds: time.milliseconds)
    }

    static func quoted(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\"\""))\""
    }
}

/// The place of a record type in the store.
struct MirrorPlace: Sendable {
    let zone: ZoneInfo
    let type: TypeInfo
}

extension JSONValue {
    /// The value of a column. Lists and objects are their JSON, for SQLite's own functions.
    fileprivate var column: SQLValue {
        switch self {
        case .null: .null
        case .bool(let value): .integer(value ? 1 : 0)
        case .number(let number): number.int64.map { .integer($0) } ?? .real(number.double)
        case .string(let text): .utf8(text.utf8)
        case .array, .object: .utf8(serialized())
        }
    }
}
