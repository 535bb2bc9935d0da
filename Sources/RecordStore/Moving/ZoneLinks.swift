package import RecordModel
import RecordSQL

/// The links between the records of a zone.
struct ZoneLinks {
    struct Link {
        let from: RecordName
        let field: FieldName
        let to: RecordName
    }

    /// The children of each parent record.
    private(set) var children: [RecordName: [RecordName]] = [:]
    private(set) var parents: [RecordName: RecordName] = [:]
    /// The references within the zone.
    private(set) var references: [Link] = []

    /// Reads the links of a zone. Errors: corrupt for a damaged text, because its content is
    /// unknown.
    init(_ connection: SQLConnection, _ zone: ZoneInfo) throws(RecordError) {
        let types = try connection.all(
            "SELECT \(Columns.type) FROM record_type WHERE zone_id = ?",
            [.integer(zone.id.rawValue)]
        ) { $0.type() }
        for type in types {
            let schema = try SchemaRows.read(connection, type.name)
            try read(connection, type, schema, of: zone)
        }
    }

    /// Returns a record and all its descendants, each after its parent.
    func tree(of root: RecordName) -> [RecordName] {
        var tree = [root]
        var seen: Set<RecordName> = [root]
        var next = 0
        while next < tree.count {
            tree += (children[tree[next]] ?? []).filter { seen.insert($0).inserted }
            next += 1
        }
        return tree
    }

    /// Returns a record, its parent, the parent's parent, and so on. In a ring, each record appears
    /// once.
    func line(from name: RecordName) -> [RecordName] {
        var line: [RecordName] = []
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let name = next, seen.insert(name).inserted {
            line.append(name)
            next = parents[name]
        }
        return line
    }

    /// Reads the links of a type. It parses only texts that may contain links; a key may be written
    /// with `\u0024`.
    private mutating func read(
        _ connection: SQLConnection, _ type: TypeInfo, _ schema: RecordSchema, of zone: ZoneInfo
    ) throws(RecordError) {
        try connection.each(
            """
            SELECT name, stem, text, checksum
            FROM record INDEXED BY record_type_id JOIN saved_text ON record_id = id
            WHERE type_id = ?1 AND state = 0 AND name IS NOT NULL
                AND (?2 OR instr(text, ?3) > 0 OR instr(text, ?4) > 0)
            """,
            [
                .integer(type.id.rawValue), .bool(schema.hasReferences),
                .blob(Array("$parent".utf8)), .blob([UInt8(ascii: "\\")]),
            ]
        ) { row throws(RecordError) in
            let text = try row.text(2) { "record \(Stem(bytes: row.bytes(1)))" }
            let document = try RecordDocument(parsing: text, schema: schema, limits: .received)
            add(document, of: RecordName(bytes: row.bytes(0)), zone.name)
        }
    }

    private mutating func add(
        _ document: RecordDocument, of name: RecordName, _ zone: ZoneName
    ) {
        if let parent = document.parent {
            children[parent, default: []].append(name)
            parents[name] = parent
        }
        for field in document.fields {
            for target in field.value.targets(in: zone) {
                references.append(Link(from: name, field: field.name, to: target))
            }
        }
    }
}

extension RecordSchema {
    fileprivate var hasReferences: Bool {
        fields.contains { field in
            if case .list(let element) = field.type { return element == .reference }
            return field.type == .reference
        }
    }
}

extension FieldValue {
    /// Returns the records that the value refers to in the zone that it is in.
    package func targets(in zone: ZoneName) -> [RecordName] {
        switch self {
        case .reference(let target):
            target.zone == nil || target.zone == zone ? [target.name] : []
        case .list(let values): values.flatMap { $0.targets(in: zone) }
        case .string, .int64, .double, .timestamp, .bytes, .location, .asset, .json: []
        }
    }
}
