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

    package let model: ObjectModel
    private let mappings: [RecordTypeName: MemberMapping]
    private let relations: [RecordTypeName: [Relation]]
    /// The types on the server, by entity.
    private let serverTypes: [RecordTypeName: RecordTypeName]
    /// The types on the server that the model's roots have.
    package let rootTypes: Set<RecordTypeName>

    /// Creates the mapping of a model, or of the part that a configuration has.
    package init(_ model: ObjectModel, configuration: Configuration? = nil) {
        self.model = model
        let hierarchy = ModelHierarchy(model)
        var mappings: [RecordTypeName: MemberMapping] = [:]
        var serverTypes: [RecordTypeName: RecordTypeName] = [:]
        var relations: [RecordTypeName: [Relation]] = [:]
        for entity in model.entities(of: configuration) where !entity.isAbstract {
            let type = RecordTypeName(entity.name)
            mappings[type] = MemberMapping(of: entity.name, in: hierarchy)
            relations[type] = Relation.all(of: entity.name, in: hierarchy)
            serverTypes[type] = RecordTypeName(
                MirroredSchema.prefix + hierarchy.root(of: entity.name))
        }
        self.mappings = mappings
        self.relations = relations
        self.serverTypes = serverTypes
        rootTypes = Set(serverTypes.values)
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
    /// - Parameter entity: the value of `entityField`. A record of an entity that the model does
    ///   not have, or that is abstract, keeps the type that it has on the server.
    package func type(of serverType: RecordTypeName, entity: FieldValue?) -> RecordTypeName {
        guard case .string(let name)? = entity else { return serverType }
        let type = RecordTypeName(bytes: name.utf8)
        return serverTypes[type] == serverType ? type : serverType
    }
}

extension MemberMapping {
    /// Creates the mapping of an entity: its attributes, and the keys of its to-one relationships.
    fileprivate init(of entity: String, in hierarchy: ModelHierarchy) {
        var members: [Member] = []
        for attribute in hierarchy.attributes(of: entity) where attribute.isMirrored {
            guard let type = attribute.type.fieldType else { continue }
            members.append(
                Member(
                    FieldName(attribute.name),
                    field: MirroredSchema.field(of: attribute.name), type: type,
                    form: attribute.type.form, rule: attribute.rule,
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
