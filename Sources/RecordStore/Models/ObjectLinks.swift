import RecordModel
import RecordObjects
import RecordSQL

extension ObjectLinks {
    private var connection: SQLConnection { transaction.connection }

    /// A row of `object_link`.
    struct Row: Hashable {
        let owner: RecordName
        let relationship: FieldName
        let field: FieldName
        let member: RecordName
    }

    /// The value of `field` for records that are links.
    static let linkField = FieldName(bytes: [])

    // MARK: What records hold

    /// Notes the keys of a record that is about to be stored.
    func noteSaved(
        _ record: RecordID, _ name: RecordName, _ document: RecordDocument, in place: TypePlace,
        isNew: Bool = false
    ) throws(RecordError) {
        guard let mapping = transaction.model?.mapping else { return }
        try transaction.duplicates.noteSaved(record, document, in: place)
        let relations = mapping.relations(of: place.name)
        guard !relations.isEmpty || place.name == MirroredSchema.linkType else { return }
        // The text of another machine, or of an earlier time, may have other lists, and keys may have
        // been here before a new object.
        if isNew || transaction.author == .sync || transaction.author == .restore {
            try touchLists(of: name, document, relations, in: place.zone.id, isNew: isNew)
        }
        let new = Self.rows(of: name, document, relations)
        let old = isNew ? [] : try rows(of: record)
        if transaction.author == .sync, isNew {
            try doubtEarlier(name, document, relations, in: place.zone.id)
        }
        guard new != old else { return }
        try remove(record, old, in: place.zone.id)
        for row in new { try insert(row, holder: record, in: place.zone.id) }
        guard transaction.author == .sync else { return }
        try doubtFormer(name, old.subtracting(new), relations, in: place.zone.id)
    }

    /// Notes the lists that may differ from those in the text of an object.
    private func touchLists(
        of name: RecordName, _ document: RecordDocument, _ relations: [Relation],
        in zone: ZoneID, isNew: Bool
    ) throws(RecordError) {
        let lists = relations.filter(\.isList).map(\.name)
        guard !lists.isEmpty else { return }
        // Most objects of a download come before those that name them.
        let names =
            isNew ? Set(document.lists.keys).union(try relationships(of: name, in: zone)) : nil
        for list in lists where names?.contains(list) ?? true {
            touch(ObjectList(zone: zone, owner: name, relationship: list))
        }
    }

    func noteRemoved(_ record: StoredRow) throws(RecordError) {
        guard transaction.model != nil else { return }
        try transaction.duplicates.noteRemoved(record)
        if transaction.author == .sync, let name = record.name {
            for relationship in try relationships(of: name, in: record.zone) {
                touch(ObjectList(zone: record.zone, owner: name, relationship: relationship))
            }
        }
        let rows = try rows(of: record.id)
        try remove(record.id, rows, in: record.zone)
    }

    /// Notes the keys of all records. Called when the model has changed.
    func rebuild() throws(RecordError) {
        try connection.run("DELETE FROM object_link")
        try connection.run("DELETE FROM object_identity")
        try connection.run("DELETE FROM object_list_due")
        guard let mapping = transaction.model?.mapping else { return }
        for type in mapping.types + [MirroredSchema.linkType] {
            let records = try connection.all(
                """
                SELECT r.id, r.name, t.id FROM record r JOIN record_type t ON t.id = r.type_id
                WHERE t.name = ? AND r.name IS NOT NULL
                """, [.name(type)]
            ) {
                (
                    id: RecordID($0.int64(0)), name: RecordName(bytes: $0.bytes(1)),
                    type: TypeID($0.int64(2))
                )
            }
            for record in records {
                let place = try transaction.placeUntilFinal(record.type)
                guard let text = try connection.records.wholeSavedText(of: record.id),
                    let document = transaction.records.readable(text, place)
                else { continue }
                try noteSaved(record.id, record.name, document, in: place)
            }
        }
    }

    private static func rows(
        of name: RecordName, _ document: RecordDocument, _ relations: [Relation]
    ) -> Set<Row> {
        guard !relations.isEmpty else {
            guard let link = ObjectLink(document.fields) else { return [] }
            return [row(from: link.first, to: link.second), row(from: link.second, to: link.first)]
        }
        var rows: Set<Row> = []
        for relation in relations {
            guard case .key(let field) = relation.form, let inverse = relation.inverse,
                case .string(let target)? = document[field], !target.isEmpty
            else { continue }
            rows.insert(
                Row(
                    owner: RecordName(bytes: target.utf8), relationship: inverse, field: field,
                    member: name))
        }
        return rows
    }

    private static func row(from end: ObjectLink.End, to other: ObjectLink.End) -> Row {
        Row(
            owner: end.record, relationship: end.relationship, field: linkField,
            member: other.record)
    }

    // MARK: Rows

    func rows(of record: RecordID) throws(RecordError) -> Set<Row> {
        Set(
            try connection.all(
                "SELECT owner, relationship, field, member FROM object_link WHERE holder = ?",
                [.integer(record.rawValue)]
            ) {
                Row(
                    owner: RecordName(bytes: $0.bytes(0)),
                    relationship: FieldName(bytes: $0.bytes(1)),
                    field: FieldName(bytes: $0.bytes(2)), member: RecordName(bytes: $0.bytes(3)))
            })
    }

    /// Returns the keys that an object has. Empty without a model.
    func keys(of record: RecordID) throws(RecordError) -> Set<Row> {
        transaction.model == nil ? [] : try rows(of: record)
    }

    private func remove(
        _ record: RecordID, _ rows: Set<Row>, in zone: ZoneID
    ) throws(RecordError) {
        guard !rows.isEmpty else { return }
        try connection.run(
            "DELETE FROM object_link WHERE holder = ?", [.integer(record.rawValue)])
        for row in rows {
            touch(ObjectList(zone: zone, owner: row.owner, relationship: row.relationship))
        }
    }

    private func insert(
        _ row: Row, holder: RecordID, in zone: ZoneID
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT OR IGNORE INTO object_link (holder, zone_id, owner, relationship, field, member)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(holder.rawValue), .integer(zone.rawValue), .name(row.owner),
                .name(row.relationship), .name(row.field), .name(row.member),
            ])
        touch(ObjectList(zone: zone, owner: row.owner, relationship: row.relationship))
    }

    func touch(_ list: ObjectList) { transaction.touchedLists.insert(list) }

    /// Returns the names in a relationship, without doubles, in the order of their bytes.
    func names(
        in list: ObjectList, by field: FieldName
    ) throws(RecordError) -> [RecordName] {
        try connection.names(in: list, by: field)
    }

    /// Returns the records that link two objects.
    func links(in list: ObjectList, to member: RecordName) throws(RecordError) -> [RecordID] {
        try connection.all(
            """
            SELECT holder FROM object_link
            WHERE zone_id = ? AND owner = ? AND relationship = ? AND field = x'' AND member = ?
                AND holder != 0
            """,
            [
                .integer(list.zone.rawValue), .name(list.owner), .name(list.relationship),
                .name(member),
            ]
        ) { RecordID($0.int64(0)) }
    }

    /// Keeps a name whose object is not there yet.
    func addWaiting(
        _ member: RecordName, to list: ObjectList, by field: FieldName
    ) throws(RecordError) {
        let row = Row(
            owner: list.owner, relationship: list.relationship, field: field, member: member)
        try insert(row, holder: RecordID(0), in: list.zone)
    }

    func removeWaiting(_ member: RecordName, from list: ObjectList) throws(RecordError) {
        touch(list)
        try connection.run(
            """
            DELETE FROM object_link
            WHERE holder = 0 AND zone_id = ? AND owner = ? AND relationship = ? AND member = ?
            """,
            [
                .integer(list.zone.rawValue), .name(list.owner), .name(list.relationship),
                .name(member),
            ])
    }

    /// Returns the relationships in which a name waits for its object.
    func waiting(
        for member: RecordName, in zone: ZoneID
    ) throws(RecordError) -> [ObjectList] {
        try connection.all(
            """
            SELECT owner, relationship FROM object_link
            WHERE holder = 0 AND zone_id = ? AND member = ?
            """, [.integer(zone.rawValue), .name(member)]
        ) {
            ObjectList(
                zone: zone, owner: RecordName(bytes: $0.bytes(0)),
                relationship: FieldName(bytes: $0.bytes(1)))
        }
    }

    /// Makes an object that has moved to another zone wait there for the same names. The lists in
    /// its text are written anew.
    func carry(
        _ name: RecordName, from zone: ZoneID, to place: TypePlace
    ) throws(RecordError) {
        guard let mapping = transaction.model?.mapping else { return }
        try connection.run(
            "UPDATE OR REPLACE object_link SET zone_id = ? WHERE holder = 0 AND zone_id = ? AND owner = ?",
            [.integer(place.zone.id.rawValue), .integer(zone.rawValue), .name(name)])
        for relation in mapping.relations(of: place.name) where relation.isList {
            touch(ObjectList(zone: place.zone.id, owner: name, relationship: relation.name))
        }
    }

    // MARK: Texts

    /// Writes the lists that this transaction has changed into the texts of their objects.
    func refresh() throws(RecordError) {
        guard !transaction.touchedLists.isEmpty, let mapping = transaction.model?.mapping else {
            return
        }
        guard !transaction.leavesLists else { return try leaveLists() }
        let lists = Dictionary(grouping: transaction.touchedLists) {
            Owner(zone: $0.zone, name: $0.owner)
        }
        for (owner, lists) in lists {
            let stored = try connection.records.stored(named: owner.name, owner.zone)
            if stored == nil, transaction.author == .sync { try doubt(lists) }
            guard let record = stored, record.state == .saved,
                let text = try connection.records.wholeSavedText(of: record.id)
            else { continue }
            let place = try transaction.place(record.entry.type)
            guard let document = transaction.records.readable(text, place) else { continue }
            var names: [FieldName: [RecordName]] = [:]
            for relation in mapping.relations(of: place.name) {
                guard let field = relation.listField,
                    let list = lists.first(where: { $0.relationship == relation.name })
                else { continue }
                names[relation.name] = try self.names(in: list, by: field)
            }
            let new = document.replacing(lists: names)
            if new != text { try transaction.records.rewrite(record, as: new, in: place) }
        }
        transaction.touchedLists = []
    }

    private struct Owner: Hashable {
        let zone: ZoneID
        let name: RecordName
    }
}

extension Relation {
    var isList: Bool { listField != nil }

    /// Returns whether a field is the key of this relationship.
    func isKey(_ field: FieldName) -> Bool { form == .key(field: field) }

    /// The value of `field` in the rows of a to-many relationship. Nil for a to-one relationship.
    var listField: FieldName? {
        switch form {
        case .key: nil
        case .keys(let field): field
        case .links: ObjectLinks.linkField
        }
    }
}
