package import RecordModel

/// The rules for a model whose earlier version is deployed. A deployed schema is only added to:
/// record types and fields keep their names and types, and objects keep their record type. Each
/// rule that something breaks is a paragraph with one line for each break.
package struct DeploymentCheck: Sendable {
    private let model: ObjectModel
    private let configuration: Configuration?
    private let hierarchy: ModelHierarchy
    private let entities: [Entity]

    /// Prepares the check of a new version of a model, or of the part that a configuration has.
    package init(_ model: ObjectModel, configuration: Configuration? = nil) {
        self.model = model
        self.configuration = configuration
        hierarchy = ModelHierarchy(model)
        entities = model.entities(of: configuration)
    }

    private static let namesHeader =
        "A deployed schema keeps the names of its record types and fields. The following are "
        + "renamed, so that their records and values would be left behind:"
    private static let typesHeader =
        "A deployed field keeps its type. The following would have another one:"
    private static let countHeader =
        "A record type has at most \(SchemaAddition.fieldsMax) fields. With the deployed ones, the "
        + "following would have more:"
    private static let placesHeader =
        "An object keeps its record type. The following entities would have another one:"
    private static let kindsHeader =
        "A deployed relationship stays to one object, or to many. The following change:"

    /// Returns the paragraphs about a deployed schema, such as a server's.
    ///
    /// A Renaming ID counts when the schema has the former name and not the new one.
    ///
    /// Errors: those of `MirroredSchema.document`.
    package func failures(over deployed: SchemaDocument) throws(RecordError) -> [String] {
        let schema = try MirroredSchema.document(model, configuration: configuration)
        return paragraphs([(Self.namesHeader, renames(over: deployed))])
            + additionFailures(schema, to: deployed)
    }

    /// Returns the lines about renamed entities and properties whose former names a schema has.
    package func renames(over deployed: SchemaDocument) -> [String] {
        let fields = Dictionary(
            deployed.types.map { ($0.name.description, Set($0.fields.map(\.name.description))) },
            uniquingKeysWith: { first, _ in first })
        var lines: [String] = []
        for entity in entities where entity.parent == nil {
            let type = MirroredSchema.prefix + entity.name
            guard let former = entity.renamedFrom, hierarchy.entities[former] == nil,
                fields[MirroredSchema.prefix + former] != nil, fields[type] == nil
            else { continue }
            lines.append("\(entity.name): was \(former) (\(MirroredSchema.prefix)\(former))")
        }
        for entity in hierarchyOfMembers {
            let root = hierarchy.root(of: entity.name)
            let former = hierarchy.entities[root]?.renamedFrom ?? root
            let family = propertyNames(ofFamily: root)
            let places = [root, former].map { MirroredSchema.prefix + $0 }
            guard let place = places.first(where: { fields[$0] != nil }),
                let known = fields[place]
            else { continue }
            for (name, former) in fieldRenames(of: entity) where !family.contains(former) {
                let field = MirroredSchema.prefix + former
                guard known.contains(field), !known.contains(MirroredSchema.prefix + name) else {
                    continue
                }
                lines.append("\(entity.name).\(name): was \(former) (\(place).\(field))")
            }
        }
        return lines
    }

    /// Returns the paragraphs about an earlier version of the model, which is deployed.
    ///
    /// Errors: those of `MirroredSchema.document`, also for the earlier version.
    package func failures(after old: ObjectModel) throws(RecordError) -> [String] {
        let part = configuration.flatMap { part in
            old.configurations.first { $0.name == part.name }
        }
        let known = ModelHierarchy(old)
        let pairs = ModelPairing(old.entities(of: part), entities).pairs
        var (names, places, kinds): ([String], [String], [String]) = ([], [], [])
        let formers = Dictionary(
            pairs.map { ($0.new.name, $0.old?.name) }, uniquingKeysWith: { first, _ in first })
        for case (let former?, let entity) in pairs {
            if former.name != entity.name { names.append("\(entity.name): was \(former.name)") }
            let (root, oldRoot) = (hierarchy.root(of: entity.name), known.root(of: former.name))
            // A renamed root is told as such.
            if root != oldRoot, formers[root] != oldRoot {
                places.append("\(entity.name): CD_\(oldRoot), now CD_\(root)")
            }
            names += Self.renamed(entity.name, former.attributes, entity.attributes)
            let relations = ModelPairing(
                former.relationships, entity.relationships, name: \.name, formerName: \.renamedFrom)
            for case (let before?, let after) in relations.pairs {
                let name = "\(entity.name).\(after.name)"
                if before.name != after.name { names.append("\(name): was \(before.name)") }
                if before.isToMany != after.isToMany {
                    kinds.append("\(name): now to \(after.isToMany ? "many" : "one")")
                }
            }
        }
        let schema = try MirroredSchema.document(model, configuration: configuration)
        let deployed = try MirroredSchema.document(old, configuration: part)
        return paragraphs([
            (Self.namesHeader, names), (Self.placesHeader, places), (Self.kindsHeader, kinds),
        ]) + additionFailures(schema, to: deployed)
    }

    // MARK: Parts

    /// The entities that count, with their ancestors, each once.
    private var hierarchyOfMembers: [Entity] {
        var seen: Set<String> = []
        return entities.flatMap { hierarchy.line(of: $0.name) }
            .filter { seen.insert($0.name).inserted }
    }

    private func propertyNames(ofFamily root: String) -> Set<String> {
        Set(
            hierarchy.family(of: root).flatMap { entity in
                entity.attributes.filter(\.isMirrored).map(\.name)
                    + entity.relationships.map(\.name)
            })
    }

    /// Returns the names of an entity's properties with a field, and their former names.
    private func fieldRenames(of entity: Entity) -> [(name: String, former: String)] {
        entity.attributes.filter(\.isMirrored).compactMap { item in
            item.renamedFrom.map { (item.name, $0) }
        }
            + entity.relationships.filter { !$0.isToMany }.compactMap { item in
                item.renamedFrom.map { (item.name, $0) }
            }
    }

    private static func renamed(
        _ entity: String, _ old: [Attribute], _ new: [Attribute]
    ) -> [String] {
        ModelPairing(old, new, name: \.name, formerName: \.renamedFrom).pairs.compactMap { pair in
            guard let former = pair.old, former.name != pair.new.name, former.isMirrored,
                pair.new.isMirrored
            else { return nil }
            return "\(entity).\(pair.new.name): was \(former.name)"
        }
    }

    private func additionFailures(
        _ schema: SchemaDocument, to deployed: SchemaDocument
    ) -> [String] {
        let items = SchemaAddition(of: schema, to: deployed).items
        let types = items.compactMap { item -> String? in
            guard case .conflict(let known) = item.state, let field = item.field else { return nil }
            return "\(item.type).\(field.name): \(known), now \(field.typeText)"
        }
        let counts = items.compactMap { item -> String? in
            guard case .tooManyFields(let count) = item.state else { return nil }
            return "\(item.type): \(count)"
        }
        return paragraphs([(Self.typesHeader, types), (Self.countHeader, counts)])
    }

    private func paragraphs(_ parts: [(header: String, lines: [String])]) -> [String] {
        parts.filter { !$0.lines.isEmpty }.map { part in
            ([part.header] + part.lines).joined(separator: "\n")
        }
    }
}
