package import RecordModel

/// The objects of a model in the records that Core Data makes of them (Apple, "Reading CloudKit
/// Records for Core Data").
///
/// Each entity that is not abstract is a record type of this machine, named as the entity. On the
/// server its records have the type of the root entity, `CD_Post`, and `CD_entityName` tells which
/// entity a record is of.
package struct ObjectMapping: Sendable {
    /// The field that names the entity of a record.
    package static let entityField = FieldName("CD_entityName")

    /// The field of the attribute that tells the version of the app which made an object.
    package static let versionField = FieldName("CD_version")
    /// The beginning of the types that hold what is newer than the model.
    private static let newerPrefix = "_newer_"

    package let model: ObjectModel
    /// The largest version that the model knows. Objects of a later one are hidden. Nil for no limit.
    package let largestVersion: Int64?
    private let mappings: [RecordTypeName: MemberMapping]
    private let relations: [RecordTypeName: [Relation]]
    /// The types on the server, by entity.
    private let serverTypes: [RecordTypeName: RecordTypeName]
    /// The types on the server that the model's roots have.
    package let rootTypes: Set<RecordTypeName>
    /// The types of objects that are newer than the model. No directory shows them.
    package let hiddenTypes: [RecordTypeName]
    /// Indicates whether a to-many relationship says how many objects it has.
    package let hasCounts: Bool

    /// Creates the mapping of a model, or of the part that a configuration has.
    package init(
        _ model: ObjectModel, configuration: Configuration? = nil, largestVersion: Int64? = nil
    ) {
        self.model = model
        self.largestVersion = largestVersion
        let hierarchy = ModelHierarchy(model)
        var mappings: [RecordTypeName: MemberMapping] = [:]
        var serverTypes: [RecordTypeName: RecordTypeName] = [:]
        var relations: [RecordTypeName: [Relation]] = [:]
        for entity in model.entities(of: configuration) where !entity.isAbstract {
            let type = RecordTypeName(entity.name)
            mappings[type] = MemberMapping(
                of: entity.name, in: hierarchy, largestVersion: largestVersion)
            relations[type] = Relation.all(of: entity.name, in: hierarchy)
            serverTypes[type] = RecordTypeName(
                MirroredSchema.prefix + hierarchy.root(of: entity.name))
        }
        self.mappings = mappings
        self.relations = relations
        hasCounts = relations.values.contains { $0.contains(where: \.hasCounts) }
        rootTypes = Set(serverTypes.values)
        hiddenTypes = largestVersion == nil ? [] : rootTypes.map(Self.newer).sorted()
        if largestVersion != nil {
            for type in rootTypes { serverTypes[Self.newer(type)] = type }
        }
        self.serverTypes = serverTypes
    }

    private static func newer(_ serverType: RecordTypeName) -> RecordTypeName {
        RecordTypeName("\(newerPrefix)\(serverType)")
    }

    /// Indicates whether an entity has a version to compare.
    package var hasVersions: Bool {
        mappings.values.contains { $0.member(of: Self.versionField)?.type == .int64 }
    }

    /// The types that have a mapping, in the order of their names.
    package var types: [RecordTypeName] { mappings.keys.sorted() }

    /// Returns the members of a type's texts. Returns nil for a type that is no entity.
    package func members(of type: RecordTypeName) -> MemberMapping? { mappings[type] }

    /// Returns the relationships of a type's objects. Empty for a type that is no entity.
    package func relations(of type: RecordTypeName) -> [Relation] { relations[type] ?? [] }

    /// Returns the type that the records of a type have on the server.
    package func serverType(of type: RecordTypeName) -> RecordTypeName {
        serverTypes[type] ?? type
    }

    /// Returns the type on this machine of a record that the server has.
    ///
    /// - Parameters:
    ///   - entity: the value of `entityField`. A record of an entity that the model does not have, or
    ///     that is abstract, keeps the type that it has on the server.
    ///   - version: the value of `versionField`.
    package func type(
        of serverType: RecordTypeName, entity: FieldValue?, version: FieldValue?
    ) -> RecordTypeName {
        if let largestVersion, case .int64(let version)? = version, version > largestVersion,
            rootTypes.contains(serverType)
        {
            return Self.newer(serverType)
        }
        guard case .string(let name)? = entity else { return serverType }
        let type = RecordTypeName(bytes: name.utf8)
        return serverTypes[type] == serverType ? type : serverType
    }
}

extension MemberMapping {
    /// Creates the mapping of an entity: its attributes, and the keys of its to-one relationships.
    fileprivate init(of entity: String, in hierarchy: ModelHierarchy, largestVersion: Int64?) {
        var members: [Member] = []
        for attribute in hierarchy.attributes(of: entity) where attribute.isMirrored {
            guard let type = attribute.type.fieldType else { continue }
            let field = MirroredSchema.field(of: attribute.name)
            var rule = attribute.rule
            if field == ObjectMapping.versionField, let largestVersion {
                rule = rule.limited(to: largestVersion)
            }
            members.append(
                Member(
                    FieldName(attribute.name), field: field, type: type,
                    form: attribute.type.form, rule: rule,
                    isRequired: !attribute.isOptional, initial: attribute.initialValue))
        }
        for relationship in hierarchy.relationships(of: entity) where !relationship.isToMany {
            members.append(
                Member(
                    FieldName(relationship.name),
                    field: MirroredSchema.field(of: relationship.name), type: .string,
                    form: .key))
        }
        self.init(
            entity: entity, members: members,
            lists: Set(
                hierarchy.relationships(of: entity).filter(\.isToMany).map { FieldName($0.name) }),
            constant: RecordField(
                name: ObjectMapping.entityField, value: .string(Text(entity))))
    }
}

extension MemberRule? {
    /// Returns the rule of a version, which a save may not take out of sight.
    fileprivate func limited(to largest: Int64) -> MemberRule {
        var rule = self ?? MemberRule()
        rule.maximum = min(rule.maximum ?? .infinity, Double(largest))
        return rule
    }
}
