import RecordModel
import RecordObjects
import RecordSQL

/// The change of all stored records from one model, or none, to another.
///
/// Records of the server's type `CD_Article` are of the type `Article`, or `Book`, while a model
/// with these entities is attached. Each row that has a type, and each text, changes in place:
/// versions, generations, change tags and pending changes stay.
struct Regrouping {
    private let transaction: Transaction
    private let old: ObjectMapping?
    private let new: ObjectMapping?
    /// The types whose records are concerned, with their schemas now.
    private let sources: [RecordTypeName: RecordSchema]
    /// The schemas of the types afterwards.
    let schemas: [RecordTypeName: RecordSchema]

    var connection: SQLConnection { transaction.connection }
    private var limits: RecordLimits { transaction.store.options.limits.asReceived }

    init(_ transaction: Transaction, to model: AttachedModel?) throws(RecordError) {
        self.transaction = transaction
        old = transaction.model?.mapping
        new = model?.mapping
        var sources: [RecordTypeName: RecordSchema] = [:]
        for type in try Self.types(transaction.connection) {
            let isOld =
                old?.members(of: type) != nil || old?.hiddenTypes.contains(type) == true
            let isNew = new?.rootTypes.contains(old?.serverType(of: type) ?? type) == true
            if isOld || isNew { sources[type] = try transaction.schema(of: type) }
        }
        self.sources = sources
        schemas = Self.schemas(from: sources, old, new)
    }

    private static func types(_ connection: SQLConnection) throws(RecordError) -> [RecordTypeName] {
        try connection.all(
            """
            SELECT name FROM record_type UNION SELECT type FROM schema_field
            UNION SELECT type FROM history UNION SELECT type FROM trash
            UNION SELECT type FROM outbox UNION SELECT type FROM conflict ORDER BY 1
            """
        ) { RecordTypeName(bytes: $0.bytes(0)) }
    }

    /// Returns the schemas afterwards: the fields of the attributes, and all other fields that the
    /// records of the server's type have had.
    private static func schemas(
        from sources: [RecordTypeName: RecordSchema], _ old: ObjectMapping?, _ new: ObjectMapping?
    ) -> [RecordTypeName: RecordSchema] {
        var known: [RecordTypeName: [RecordSchema.Field]] = [:]
        for (type, schema) in sources.sorted(by: { $0.key < $1.key }) {
            known[old?.serverType(of: type) ?? type, default: []] += schema.fields
        }
        var schemas: [RecordTypeName: RecordSchema] = [:]
        for (type, fields) in known { schemas[type] = RecordSchema(fields: fields) }
        for type in new?.types ?? [] {
            guard let new, let members = new.members(of: type) else { continue }
            let attributes = members.members.map {
                RecordSchema.Field(name: $0.field, type: $0.type)
            }
            var schema = RecordSchema(
                fields: attributes + (known[new.serverType(of: type)] ?? []))
            schema.mapping = members
            schemas[type] = schema
        }
        for type in new?.hiddenTypes ?? [] {
            guard let fields = new.flatMap({ known[$0.serverType(of: type)] }) else { continue }
            schemas[type] = RecordSchema(fields: fields)
        }
        for type in sources.keys where schemas[type] == nil {
            schemas[type] = RecordSchema(fields: [])
        }
        return schemas
    }

    func run() throws(RecordError) {
        guard !sources.isEmpty else { return }
        try transaction.finishRemovedTypes()
        try connection.run("DELETE FROM query_value")
        try connection.run("DELETE FROM query_index")
        let records = try targets()
        try rewriteRecordTexts()
        try regroupVersions()
        try regroupTrash()
        try regroupOutbox(records)
        try regroupConflicts(records)
        for (record, target) in records.sorted(by: { $0.key < $1.key }) {
            try move(record, target)
            if target.hasLooseAsset { try requestAgain(record) }
        }
        try renamePlaces()
    }

    // MARK: One text

    /// Returns the type and the text that a record has afterwards. The type is nil, and the text
    /// stays, when the text cannot be read, or is that of a deletion.
    private func regrouped(
        _ text: [UInt8]?, of type: RecordTypeName
    ) throws(RecordError) -> (type: RecordTypeName?, text: [UInt8]?) {
        guard let text, let (document, target) = readable(text, of: type) else {
            return (nil, text)
        }
        let translated = try document.translated(to: schemas[target] ?? .empty, limits: limits)
        return (target, translated)
    }

    /// Reads a text, and returns the type that its record has afterwards.
    private func readable(
        _ text: [UInt8], of type: RecordTypeName
    ) -> (document: RecordDocument, type: RecordTypeName)? {
        guard let schema = sources[type] else { return nil }
        do throws(RecordError) {
            let document = try RecordDocument(parsing: text, schema: schema, limits: limits)
            let server = old?.serverType(of: type) ?? type
            let entity = document[ObjectMapping.entityField]
            let version = document[ObjectMapping.versionField]
            return (document, new?.type(of: server, entity: entity, version: version) ?? server)
        } catch {
            return nil
        }
    }

    /// Returns the type of what says nothing about its entity.
    private func defaultType(of type: RecordTypeName) -> RecordTypeName {
        let server = old?.serverType(of: type) ?? type
        guard let new else { return server }
        let root = String(
            decoding: server.bytes.dropFirst(MirroredSchema.prefix.utf8.count), as: UTF8.self)
        return new.type(of: server, entity: .string(Text(root)), version: nil)
    }

    // MARK: Rows

    private struct Row {
        let key: Int64
        let zone: ZoneID
        let type: RecordTypeName
        let text: [UInt8]?
        /// The number of a record or a conflict, where the query has one.
        let number: Int64
        /// The name of a record, where the query has one.
        let name: RecordName
    }

    /// Reads rows with key, zone, type, text, checksum and one more column, a part at a time.
    private func rows(
        _ sql: String, _ body: (Row) throws(RecordError) -> Void
    ) throws(RecordError) {
        var last = Int64.min
        while true {
            let rows = try connection.all("\(sql) LIMIT 500", [.integer(last)]) { row in
                Row(
                    key: row.int64(0), zone: ZoneID(row.int64(1)),
                    type: RecordTypeName(bytes: row.bytes(2)), text: row.wholeText(3),
                    number: row.int64(5), name: RecordName(bytes: row.bytes(5)))
            }
            guard let end = rows.last else { return }
            try requireProgress(after: last, to: end.key, in: "history or draft")
            for row in rows where sources[row.type] != nil { try body(row) }
            last = end.key
        }
    }

    /// Rewrites a text where it stands.
    private func rewrite(
        _ row: Row, in table: String, key: String, text column: String = "text",
        checksum: String = "checksum"
    ) throws(RecordError) -> RecordTypeName? {
        let (type, text) = try regrouped(row.text, of: row.type)
        if let text, text != row.text {
            try connection.run(
                "UPDATE \(table) SET \(column) = ?, \(checksum) = ? WHERE \(key) = ?",
                [.blob(text), .checksum(text), .integer(row.key)])
        }
        return type
    }

    // MARK: Records

    private struct Target {
        let zone: ZoneID
        let type: RecordTypeName
        let isMoved: Bool
        /// The size of the text before, in bytes.
        let size: Int
        let hasLooseAsset: Bool
    }

    private func targets() throws(RecordError) -> [RecordID: Target] {
        var targets: [RecordID: Target] = [:]
        try rows(
            """
            SELECT r.id, r.zone_id, t.name, s.text, s.checksum, 0
            FROM record r JOIN record_type t ON t.id = r.type_id
                LEFT JOIN saved_text s ON s.record_id = r.id
            WHERE r.id > ? ORDER BY r.id
            """
        ) { row throws(RecordError) in
            let told = row.text.flatMap { readable($0, of: row.type) }
            let type = told?.type ?? defaultType(of: row.type)
            let members = new?.members(of: type)
            targets[RecordID(row.key)] = Target(
                zone: row.zone, type: type, isMoved: type != row.type,
                size: row.text?.count ?? 0,
                hasLooseAsset: members.flatMap { told?.document.hasLooseAsset(of: $0) } ?? false)
        }
        return targets
    }

    /// Rewrites the texts beside versions: other forms of a record's text, and acknowledged states.
    private func rewriteRecordTexts() throws(RecordError) {
        for table in ["record_text", "base"] {
            try rows(
                """
                SELECT r.id, r.zone_id, t.name, s.text, s.checksum, 0
                FROM \(table) s JOIN record r ON r.id = s.record_id
                    JOIN record_type t ON t.id = r.type_id
                WHERE r.id > ? AND s.text IS NOT NULL ORDER BY r.id
                """
            ) { row throws(RecordError) in
                _ = try rewrite(row, in: table, key: "record_id")
            }
        }
    }

    private func move(_ record: RecordID, _ target: Target) throws(RecordError) {
        // A record with a draft has the size of the draft.
        try connection.run(
            """
            UPDATE record SET size = (SELECT length(text) FROM saved_text WHERE record_id = ?1)
            WHERE id = ?1 AND size = ?2 AND EXISTS (SELECT 1 FROM saved_text WHERE record_id = ?1)
            """, [.integer(record.rawValue), .integer(Int64(target.size))])
        guard target.isMoved else { return }
        let place = try type(target.type, in: target.zone)
        let row = try connection.first(
            "SELECT name, stem FROM record WHERE id = ?", [.integer(record.rawValue)]
        ) {
            (
                name: $0.isNull(0) ? nil : RecordName(bytes: $0.bytes(0)),
                stem: Stem(bytes: $0.bytes(1))
            )
        }
        guard let row else { return }
        var stem = row.stem
        if let name = row.name {
            stem = try transaction.records.stem(of: name, in: transaction.place(place))
        }
        try makeFree(stem, in: place, for: record)
        try connection.run(
            "UPDATE record SET type_id = ?, stem = ? WHERE id = ?",
            [.integer(place.rawValue), .name(stem), .integer(record.rawValue)])
        try connection.run(
            "UPDATE asset SET type_id = ? WHERE record_id = ?",
            [.integer(place.rawValue), .integer(record.rawValue)])
    }

    /// Returns a type, and makes it also where this user cannot write.
    private func type(_ name: RecordTypeName, in zone: ZoneID) throws(RecordError) -> TypeID {
        if let type = try transaction.type(zone, name) { return type.id }
        try connection.run(
            "INSERT INTO record_type (zone_id, name, created, modified) VALUES (?, ?, ?, ?)",
            [
                .integer(zone.rawValue), .name(name), .time(transaction.now),
                .time(transaction.now),
            ])
        return TypeID(connection.lastInsertedRow)
    }

    /// Sets a draft aside that has the stem of a record.
    private func makeFree(
        _ stem: Stem, in type: TypeID, for record: RecordID
    ) throws(RecordError) {
        let there = try connection.first(
            "SELECT id FROM record WHERE type_id = ? AND stem = ? AND id != ?",
            [.integer(type.rawValue), .name(stem), .integer(record.rawValue)]
        ) { $0.int64(0) }
        guard let there else { return }
        let aside = Stem(bytes: Array(stem.bytes.prefix(200)) + Array("-draft-\(there)".utf8))
        try connection.run(
            "UPDATE record SET stem = ? WHERE id = ?", [.name(aside), .integer(there)])
    }

    // MARK: What is kept of records

    private func regroupVersions() throws(RecordError) {
        var last: [Name: RecordTypeName] = [:]
        try rows(
            """
            SELECT token, zone_id, type, text, checksum, name FROM history
            WHERE token > ? ORDER BY token
            """
        ) { row throws(RecordError) in
            let told = try rewrite(row, in: "history", key: "token")
            // A deletion is of the type that the record had.
            let name = Name(zone: row.zone, name: row.name)
            let type = told ?? last[name]
            last[name] = type
            try setType(type, of: row, in: "history", key: "token")
        }
    }

    private func regroupTrash() throws(RecordError) {
        try rows(
            """
            SELECT id, zone_id, type, text, checksum, name FROM trash WHERE id > ? ORDER BY id
            """
        ) { row throws(RecordError) in
            try setType(try rewrite(row, in: "trash", key: "id"), of: row, in: "trash", key: "id")
        }
    }

    private func regroupOutbox(_ records: [RecordID: Target]) throws(RecordError) {
        try rows(
            """
            SELECT id, zone_id, type, base_text, base_checksum, record_id FROM outbox
            WHERE id > ? ORDER BY id
            """
        ) { row throws(RecordError) in
            let type = try rewrite(
                row, in: "outbox", key: "id", text: "base_text", checksum: "base_checksum")
            try setType(
                records[RecordID(row.number)]?.type ?? type, of: row, in: "outbox", key: "id")
        }
    }

    private func regroupConflicts(_ records: [RecordID: Target]) throws(RecordError) {
        var types: [Int64: RecordTypeName] = [:]
        try rows(
            """
            SELECT t.id, c.zone_id, c.type, t.text, t.checksum, c.id
            FROM conflict_text t JOIN conflict c ON c.id = t.conflict_id
            WHERE t.id > ? ORDER BY t.id
            """
        ) { row throws(RecordError) in
            if let type = try rewrite(row, in: "conflict_text", key: "id") {
                types[row.number] = type
            }
        }
        try rows(
            """
            SELECT id, zone_id, type, NULL, NULL, record_id FROM conflict WHERE id > ? ORDER BY id
            """
        ) { row throws(RecordError) in
            let type = records[RecordID(row.number)]?.type ?? types[row.key]
            try setType(type, of: row, in: "conflict", key: "id")
        }
    }

    private struct Name: Hashable {
        let zone: ZoneID
        let name: RecordName
    }

    private func setType(
        _ told: RecordTypeName?, of row: Row, in table: String, key: String
    ) throws(RecordError) {
        let type = told ?? defaultType(of: row.type)
        guard type != row.type else { return }
        try connection.run(
            "UPDATE \(table) SET type = ? WHERE \(key) = ?", [.name(type), .integer(row.key)])
    }

    // MARK: Places

    /// Removes the types that have no records any more. The types of versions and of the trash that
    /// no directory shows become past types.
    private func renamePlaces() throws(RecordError) {
        for source in sources.keys.sorted() {
            try connection.run(
                """
                DELETE FROM record_type WHERE name = ?1
                    AND NOT EXISTS (SELECT 1 FROM record WHERE type_id = record_type.id)
                """, [.name(source)])
            try connection.run("DELETE FROM past_type WHERE name = ?", [.name(source)])
        }
        try connection.run(
            """
            INSERT OR IGNORE INTO past_type (zone_id, name)
            SELECT zone_id, type FROM history UNION SELECT zone_id, type FROM trash
            EXCEPT SELECT zone_id, name FROM record_type
            """)
    }
}
