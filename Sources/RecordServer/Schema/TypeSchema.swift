package import RecordModel
package import RecordWire

/// One record type of a container's schema, with the fields that every type has.
package struct TypeSchema: Sendable {
    package let name: RecordTypeName
    /// In the order of the text; system fields where the text mentions them.
    private(set) var fields: [SchemaDocument.Field]
    let grants: [SchemaDocument.Grant]
    private var index: [FieldName: Int]

    init(_ type: SchemaDocument.RecordType) {
        name = type.name
        fields = type.fields
        grants = type.grants.isEmpty ? Self.defaultGrants : type.grants
        index = [:]
        for (position, field) in fields.enumerated() { index[field.name] = position }
    }

    package func field(_ name: FieldName) -> SchemaDocument.Field? {
        index[name].map { fields[$0] }
    }

    /// How many fields a client has given the type.
    var clientFieldCount: Int { fields.clientFieldCount }

    mutating func add(_ field: SchemaDocument.Field) {
        index[field.name] = fields.count
        fields.append(field)
    }

    /// A system field with its options. `___parent` and `___share` are QUERYABLE in every type
    /// without an index of their own: the storage keeps the hierarchy.
    package func field(_ field: SystemField) -> SchemaDocument.Field {
        let name = FieldName(field.schemaName)
        if let mentioned = self.field(name) { return mentioned }
        return SchemaDocument.Field(
            RecordSchema.Field(
                name: name, type: field.type, isQueryable: field == .parent || field == .share,
                isSortable: false, isSearchable: false))
    }

    /// Where a type has no grant of its own (reference §15.3). To close a type it needs one, for
    /// example `GRANT WRITE TO "_creator"`.
    static let defaultGrants: [SchemaDocument.Grant] = [
        .init([.write], to: "_creator"), .init([.create], to: "_icloud"),
        .init([.read], to: "_world"),
    ]
}

extension SystemField {
    var type: FieldType {
        switch self {
        case .createdTimestamp, .modifiedTimestamp: .timestamp
        case .recordName, .share, .parent, .createdUserRecordName, .modifiedUserRecordName:
            .reference
        }
    }

    /// Whether the index of values has entries of the field when the schema gives it an index.
    /// Names, parents and shares have their own ways in the storage; who modified is only looked
    /// at in the records that a query comes by.
    var hasIndexEntries: Bool {
        switch self {
        case .createdTimestamp, .modifiedTimestamp, .createdUserRecordName: true
        case .recordName, .share, .parent, .modifiedUserRecordName: false
        }
    }
}

extension SchemaDocument.RecordType {
    /// A type as development makes it when its first record comes: all indexes of the system
    /// fields, so that a query without filter and one by time of change work at once, and the
    /// usual grants.
    static func new(_ name: RecordTypeName) -> SchemaDocument.RecordType {
        if name == .share || name == .users { return .implicit(name) }
        func system(_ field: SystemField, sortable: Bool) -> SchemaDocument.Field {
            SchemaDocument.Field(
                RecordSchema.Field(
                    name: FieldName(field.schemaName), type: field.type, isQueryable: true,
                    isSortable: sortable, isSearchable: false))
        }
        return SchemaDocument.RecordType(
            name: name,
            fields: [
                system(.createdTimestamp, sortable: true),
                system(.createdUserRecordName, sortable: false),
                system(.modifiedTimestamp, sortable: true),
                system(.modifiedUserRecordName, sortable: false),
                system(.recordName, sortable: true),
            ],
            grants: TypeSchema.defaultGrants)
    }

    /// `cloudkit.share` and `Users`, which are there in every schema without being in its text.
    static func implicit(_ name: RecordTypeName) -> SchemaDocument.RecordType {
        if name == .users {
            return SchemaDocument.RecordType(
                name: name,
                grants: [.init([.write], to: "_creator"), .init([.read], to: "_world")])
        }
        let plain: [(String, FieldType)] = [
            ("cloudkit.title", .string), ("cloudkit.thumbnailImageData", .bytes),
            ("cloudkit.type", .string),
        ]
        return SchemaDocument.RecordType(
            name: name,
            fields: plain.map { name, type in
                SchemaDocument.Field(
                    RecordSchema.Field(
                        name: FieldName(name), type: type, isQueryable: false, isSortable: false,
                        isSearchable: false))
            } + [
                // So that the shares of a zone can be listed.
                SchemaDocument.Field(
                    RecordSchema.Field(
                        name: FieldName(SystemField.recordName.schemaName), type: .reference,
                        isQueryable: true, isSortable: false, isSearchable: false))
            ])
    }

    static let implicitNames: [RecordTypeName] = [.share, .users]
}

extension [SchemaDocument.Field] {
    /// Those that count towards the limit of a type: no system fields, and no assets that have the long
    /// values of other fields.
    var clientFieldCount: Int {
        let values = Set(filter { $0.type == .string || $0.type == .bytes }.map(\.name))
        return count { field in
            let isTwin = field.type == .asset && field.name.field.map(values.contains) ?? false
            return !field.isSystem && !isTwin
        }
    }
}
