package import RecordModel

/// The record types that Core Data makes of a model when it initialises the schema: one for each
/// root entity with the fields of all its family, and `CDMR` for the links of many-to-many
/// relationships.
package enum MirroredSchema {
    /// The prefix of record types and fields.
    package static let prefix = MemberMapping.fieldPrefix
    /// Returns the field of an attribute, or of the key of a to-one relationship.
    package static func field(of property: String) -> FieldName { FieldName(prefix + property) }

    /// The suffix of the field that has a large value's file.
    package static let assetSuffix = "_ckAsset"
    /// The type of the records that link the objects of many-to-many relationships.
    package static let linkType = RecordTypeName("CDMR")
    /// The largest number of fields of a type (Apple, TN3164).
    package static let fieldsMax = SchemaAddition.fieldsMax

    /// Returns the schema of a model, or of the part that a configuration has.
    ///
    /// Errors: `schemaMismatch` with all that is wrong, one a line: fields to which entities of one
    /// family give two types, and types with more than `fieldsMax` fields.
    package static func document(
        _ model: ObjectModel, configuration: Configuration? = nil
    ) throws(RecordError) -> SchemaDocument {
        let hierarchy = ModelHierarchy(model)
        let entities = model.entities(of: configuration)
        let members = Set(entities.map(\.name))
        var types: [SchemaDocument.RecordType] = []
        var problems: [String] = []
        for root in Set(entities.map { hierarchy.root(of: $0.name) }).sorted() {
            var fields = Fields(of: prefix + root)
            for entity in hierarchy.family(of: root) where members.contains(entity.name) {
                // What an entity inherits counts when its parent is in no configuration.
                fields.add(hierarchy.line(of: entity.name))
            }
            types.append(fields.type())
            problems += fields.problems
        }
        guard problems.isEmpty else {
            throw RecordError(.schemaMismatch, problems.joined(separator: "\n"))
        }
        if !links(of: entities, hierarchy).isEmpty { types.append(linkRecordType) }
        return SchemaDocument(types: types)
    }

    /// Returns whether a relationship is many-to-many, so that `CDMR` records hold it.
    static func isLink(_ relationship: Relationship, _ hierarchy: ModelHierarchy) -> Bool {
        guard relationship.isToMany, let inverse = relationship.inverse else { return false }
        return hierarchy.relationship(inverse, of: relationship.destination)?.isToMany == true
    }

    /// Returns the many-to-many relationships of entities, each side of its own.
    static func links(
        of entities: [Entity], _ hierarchy: ModelHierarchy
    ) -> [(entity: Entity, relationship: Relationship)] {
        entities.flatMap { entity in
            hierarchy.relationships(of: entity.name).filter { isLink($0, hierarchy) }
                .map { (entity, $0) }
        }
    }

    private static var linkRecordType: SchemaDocument.RecordType {
        let names = ["CD_entityNames", "CD_recordNames", "CD_relationships"]
        var fields = Fields(of: linkType.description)
        for name in names {
            fields.values[name] = RecordSchema.Field(name: FieldName(name), type: .string)
        }
        fields.addMoveReceipt()
        return fields.recordType()
    }
}

/// The fields of a record type while they are collected.
private struct Fields {
    let name: String
    var values: [String: RecordSchema.Field] = [:]
    private(set) var problems: [String] = []
    /// The entities whose properties are added.
    private var added: Set<String> = []

    init(of name: String) { self.name = name }

    mutating func add(_ line: [Entity]) {
        for entity in line where added.insert(entity.name).inserted {
            for attribute in entity.attributes where attribute.isMirrored {
                add(attribute, of: entity)
            }
            // The side of a to-one relationship has the key. A to-many has none.
            for relationship in entity.relationships where !relationship.isToMany {
                add(relationship.name, .string, of: entity)
            }
        }
    }

    private mutating func add(_ attribute: Attribute, of entity: Entity) {
        guard let type = attribute.type.fieldType else { return }
        add(attribute.name, type, of: entity, isEncrypted: attribute.allowsCloudEncryption)
        if attribute.type.hasAssetTwin {
            add(attribute.name + MirroredSchema.assetSuffix, .asset, of: entity)
        }
    }

    private mutating func add(
        _ property: String, _ type: FieldType, of entity: Entity, isEncrypted: Bool = false
    ) {
        let name = MirroredSchema.prefix + property
        let word = (isEncrypted ? "ENCRYPTED " : "") + type.name
        if Self.reserved.contains(name) {
            problems.append(
                "\(name) of \(self.name) is a field of Core Data itself: "
                    + "\(entity.name).\(property) needs another name.")
        } else if let known = values[name], known.type != type || known.isEncrypted != isEncrypted {
            let other = (known.isEncrypted ? "ENCRYPTED " : "") + known.type.name
            problems.append(
                "\(name) of \(self.name) would be \(other) and \(word): "
                    + "\(entity.name).\(property) needs another name.")
        }
        values[name] =
            isEncrypted
            ? RecordSchema.Field(
                name: FieldName(name), type: type, isQueryable: false, isSortable: false,
                isSearchable: false, isEncrypted: true)
            : RecordSchema.Field(name: FieldName(name), type: type)
    }

    mutating func addMoveReceipt() {
        for (name, type) in [
            ("CD_moveReceipt", FieldType.bytes), ("CD_moveReceipt_ckAsset", .asset),
        ] {
            values[name] = RecordSchema.Field(name: FieldName(name), type: type)
        }
    }

    mutating func type() -> SchemaDocument.RecordType {
        values["CD_entityName"] = RecordSchema.Field(
            name: FieldName("CD_entityName"), type: .string)
        addMoveReceipt()
        if values.count > MirroredSchema.fieldsMax {
            problems.append(
                "\(name) would have \(values.count) fields. A record type has at most "
                    + "\(MirroredSchema.fieldsMax).")
        }
        return recordType()
    }

    /// The type as Apple's tools print it: fields in the order of their bytes, then grants.
    func recordType() -> SchemaDocument.RecordType {
        var fields = values.values.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }
        fields += Self.systemFields.map { name, type in
            RecordSchema.Field(
                name: FieldName(name), type: type, isQueryable: false, isSortable: false,
                isSearchable: false)
        }
        return SchemaDocument.RecordType(
            name: RecordTypeName(name), fields: fields.map { SchemaDocument.Field($0) },
            grants: [
                .init([.write], to: "_creator"), .init([.create], to: "_icloud"),
                .init([.read], to: "_world"),
            ])
    }

    /// The fields that Core Data adds to each type.
    private static let reserved: Set = [
        "CD_entityName", "CD_moveReceipt", "CD_moveReceipt_ckAsset",
    ]

    /// The system fields that an export prints. `___parent` and `___share` are not among them.
    private static let systemFields = SchemaDocument.systemFields.filter {
        $0.name != "___parent" && $0.name != "___share"
    }
}

extension AttributeType {
    /// The type of the attribute's field. Nil where CloudKit has none.
    package var fieldType: FieldType? {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: .int64
        case .double, .float, .decimal: .double
        case .date: .timestamp
        case .uuid, .uri, .string: .string
        case .binary, .transformable, .composite: .bytes
        case .undefined, .objectID: nil
        }
    }

    /// Indicates whether a large value moves to a file, in a field with the suffix `_ckAsset`.
    package var hasAssetTwin: Bool {
        switch self {
        case .string, .binary, .transformable, .composite: true
        default: false
        }
    }
}
