package import RecordModel
import RecordObjects
import RecordSQL

extension StoreModel {
    /// The attached model as a text in our JSON form, and the time at which it was attached.
    package var text: (bytes: [UInt8], attached: Timestamp)? {
        attached.map { (JSONModelWriter.print($0.mapping.model), $0.attached) }
    }

    /// The types that the objects of the attached model have, whether they are in a zone or not.
    package var types: [RecordTypeName] { attached?.mapping.types ?? [] }

    /// Indicates whether a type holds objects that are newer than the model, which no directory
    /// shows.
    package func isHidden(_ type: RecordTypeName) -> Bool {
        attached?.mapping.hiddenTypes.contains(type) ?? false
    }

    /// Returns the record types of a zone that a directory shows.
    package func shownTypes(in zone: ZoneID) throws(RecordError) -> [TypeInfo] {
        try store.types(in: zone).filter { !isHidden($0.name) }
    }

    /// Returns the record type with a name, if a directory shows it.
    package func shownType(
        _ zone: ZoneID, _ name: RecordTypeName
    ) throws(RecordError) -> TypeInfo? {
        isHidden(name) ? nil : try store.type(zone, name)
    }

    /// Returns the number of objects that are newer than the model.
    package func newerCount() throws(RecordError) -> Int64 {
        var count: Int64 = 0
        for type in attached?.mapping.hiddenTypes ?? [] {
            count += try store.read { connection throws(RecordError) in
                try connection.first(
                    """
                    SELECT COUNT(*) FROM record r JOIN record_type t ON t.id = r.type_id
                    WHERE t.name = ? AND r.state = 0
                    """, [.name(type)]
                ) { $0.int64(0) } ?? 0
            }
        }
        return count
    }

    /// Returns the types of records that Core Data has made, while no model is attached.
    package func typesWithoutModel() throws(RecordError) -> [RecordTypeName] {
        guard attached == nil else { return [] }
        return try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT DISTINCT t.name FROM schema_field f JOIN record_type t ON t.name = f.type
                WHERE f.field = ? AND t.removed = 0
                    AND EXISTS (SELECT 1 FROM record WHERE type_id = t.id) ORDER BY 1
                """, [.name(Self.entityField)]
            ) { RecordTypeName(bytes: $0.bytes(0)) }
        }
    }

    /// Returns the JSON Schema of a type's texts, for editors.
    package func editorSchema(of type: RecordTypeName) throws(RecordError) -> [UInt8] {
        EditorSchema(
            of: type, try store.schema(of: type), notes: attached?.mapping.notes(of: type) ?? [:]
        ).text
    }

    /// Returns the names that texts of a type have for fields. The field that no text shows is left
    /// out.
    package func shownNames(of fields: [FieldName], in type: RecordTypeName) -> [FieldName] {
        guard let members = attached?.members(of: type) else { return fields }
        return fields.filter { $0 != members.constant.name }.map(members.name(of:))
    }

    /// Returns a version with the names that texts have for its fields.
    package func named(_ version: Version) -> Version {
        var named = version
        named.fields = shownNames(of: version.fields, in: version.type)
        return named
    }

    // MARK: Records as the server has them

    /// Returns the types that the records of a zone have on the server.
    package func serverTypes(in zone: ZoneID) throws(RecordError) -> [RecordTypeName] {
        Set(try store.types(in: zone).map { serverType(of: $0.name) }).sorted()
    }

    /// Returns the records that have a type on the server.
    package func records(
        in zone: ZoneID, ofServerType type: RecordTypeName
    ) throws(RecordError) -> [(id: RecordID, name: RecordName)] {
        let types = try store.types(in: zone).filter { serverType(of: $0.name) == type }
        var found: [(id: RecordID, name: RecordName)] = []
        for type in types {
            found += try store.read { connection throws(RecordError) in
                try connection.all(
                    """
                    SELECT id, name FROM record
                    WHERE type_id = ? AND state = 0 AND name IS NOT NULL
                    """, [.integer(type.id.rawValue)]
                ) { (id: RecordID($0.int64(0)), name: RecordName(bytes: $0.bytes(1))) }
            }
        }
        return found
    }

    /// Returns the record with a name, if it has the type on the server.
    package func record(
        named name: RecordName, in zone: ZoneID, ofServerType type: RecordTypeName
    ) throws(RecordError) -> RecordID? {
        guard let entry = try store.record(named: name, in: zone), entry.state == .saved,
            let own = try store.type(entry.type), serverType(of: own.name) == type
        else { return nil }
        return entry.id
    }

    /// Returns the text of a record without the model, and the time of its last change. Nil for a
    /// record that is no more.
    package func serverText(
        of record: RecordID
    ) throws(RecordError) -> (text: [UInt8], modified: Timestamp)? {
        guard let entry = try store.record(record), entry.state == .saved,
            let type = try store.type(entry.type), let text = try store.savedText(of: record)
        else { return nil }
        let limits = store.options.limits.asReceived
        let document = try RecordDocument(
            parsing: text, schema: try store.schema(of: type.name), limits: limits)
        return (try document.translated(to: .empty, limits: limits), entry.modified)
    }
}
