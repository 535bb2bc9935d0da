package import RecordModel
package import RecordWire

/// One record type of a container's schema, with the fields that every type has.
package struct TypeSchema: Sendable {
    package let name: RecordTypeName
    /// The fields in the order of the text, with the system fields that the text mentions.
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

    /// The number of fields that clients have given the type.
    var clientFieldCount: Int { fields.clientFieldCount }

    mutating func add(_ field: SchemaDocument.Field) {
        index[field.name] = fields.count
        fields.append(field)
    }

    /// Returns a system field with its options. `___parent` and `___share` are QUERYABLE in every
    /// type without an index of their own, because the storage keeps the hierarchy.
    package func field(_ field: SystemField) -> SchemaDocument.Field {
        let name = FieldName(field.schemaName)
        if let mentioned = self.field(name) { return mentioned }
        return SchemaDocument.Field(
            RecordSchema.Field(
                name: name, type: field.type, isQueryable: field == .parent || field == .share,
                isSortable: false, isSearchable: false))
    }

    /// The grants of a type without grants of its own (ManagementPlane, "The schema language"). To
    /// close a type, give it one, for example `GRANT WRITE TO "_creator"`.
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

    /// Indicates whether the index of values has entries of the field when the schema gives it an
    /// index. The storage finds names, parents and shares in other ways. The last modifier is only
    /// read in the records that a query meets.
    var hasIndexEntries: Bool {
        switch self {
        case .createdTimestamp, .modifiedTimestamp, .createdUserRecordName: true
        case .recordName, .share, .parent, .modifiedUserRecordName: false
        }
    }
}

extension SchemaDocument.RecordType {
    /// Returns a type as development makes it for its first record: all indexes of the system
    /// fields, so that a query without filter and one by time of change work at once, and the usual
    /// grants.
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

    /// Returns the type `cloudkit.share` or `Users`, which are in every schema without being in its
    /// text.
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
                // This lets a client list the shares of a zone.
                SchemaDocument.Field(
                    RecordSchema.Field(
                        name: FieldName(SystemField.recordName.schemaName), type: .reference,
                        isQueryable: true, isSortable: false, isSearchable: false))
            ])
    }

    static let implicitNames: [RecordTypeName] = [.share, .users]
}

extension [SchemaDocument.Field] {
    /// The number of fields that count towards the limit of a type. System fields do not count, nor
    /// do assets that hold the long values of other fields.
    var clientFieldCount: Int {
        let values = Set(filter { $0.type == .string || $0.type == .bytes }.map(\.name))
        return count { field in
            let isTwin = field.type == .asset && field.name.field.map(values.contains) ?? false
            return !field.isSystem && !isTwin
        }
    }
}
