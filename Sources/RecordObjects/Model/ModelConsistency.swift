package import RecordModel

/// Finds what a model cannot mean: names that nothing has, names twice, circles of parents.
package struct ModelConsistency {
    /// The largest number of entities.
    package static let entitiesMax = 10_000
    /// The largest number of ancestors.
    package static let depthMax = 64
    /// The longest name of an entity or property, in bytes: with `CD_` and `_ckAsset` around it,
    /// it is a field name.
    package static let nameBytesMax = FieldName.maximumBytes - 11
    /// The number of problems after which the search ends.
    private static let problemsMax = 20

    private let model: ObjectModel
    private let hierarchy: ModelHierarchy
    private var problems: [String] = []

    /// Checks a model.
    ///
    /// Errors: `invalidArgument` with all problems, one a line.
    package static func check(_ model: ObjectModel) throws(RecordError) {
        guard model.entities.count <= entitiesMax else {
            throw RecordError(
                .invalidArgument,
                "the model has \(model.entities.count) entities. At most \(entitiesMax) are read.")
        }
        var search = ModelConsistency(model: model, hierarchy: ModelHierarchy(model))
        search.checkEntities()
        // What is inherited is known only when all chains of parents end.
        if search.problems.isEmpty { search.checkProperties() }
        if search.problems.isEmpty { search.checkConfigurations() }
        guard search.problems.isEmpty else {
            throw RecordError(
                .invalidArgument,
                "the model is not consistent:\n" + search.problems.joined(separator: "\n"))
        }
    }

    private mutating func found(_ problem: String) {
        if problems.count < Self.problemsMax {
            problems.append(problem)
        } else if problems.count == Self.problemsMax {
            problems.append("and more.")
        }
    }

    private mutating func checkName(_ name: String, _ owner: String) {
        let bytes = Array(name.utf8)
        if !FieldName(bytes: bytes).isValid || bytes.count > Self.nameBytesMax {
            found(
                "\(owner): \(String(reflecting: name)) is no name. A name begins with a letter from A to Z, "
                    + "has such letters, digits and _, and at most \(Self.nameBytesMax) bytes.")
        }
    }

    private mutating func checkEntities() {
        var seen: Set<String> = []
        for entity in model.entities {
            checkName(entity.name, "an entity")
            if !seen.insert(entity.name).inserted {
                found("\(entity.name): the name is used twice.")
            }
            if let parent = entity.parent, hierarchy.entities[parent] == nil {
                found(
                    "\(entity.name): there is no entity \(String(reflecting: parent)), its parent.")
            }
            if hierarchy.line(of: entity.name).count > Self.depthMax + 1 {
                found(
                    "\(entity.name): its parents form a circle, or are more than "
                        + "\(Self.depthMax).")
            }
        }
    }

    private mutating func checkProperties() {
        for entity in model.entities {
            let inherited = hierarchy.line(of: entity.name).dropLast()
            var names = Set(
                inherited.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
            for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
                checkName(name, entity.name)
                if !names.insert(name).inserted {
                    found(
                        "\(entity.name): the property \(String(reflecting: name)) is there twice.")
                }
            }
            for relationship in entity.relationships { check(relationship, of: entity) }
            checkOnce(entity.indexes.map(\.name), "\(entity.name): the index")
            for index in entity.indexes {
                for part in index.parts where !part.isExpression && !names.contains(part.property) {
                    found(
                        "\(entity.name): the index \(String(reflecting: index.name)) names "
                            + "\(String(reflecting: part.property)), which is no property.")
                }
            }
            checkNotes(of: entity)
            for constraint in entity.uniquenessConstraints {
                for name in constraint where !names.contains(name) {
                    found(
                        "\(entity.name): a uniqueness constraint names \(String(reflecting: name)), "
                            + "which is no property.")
                }
            }
        }
    }

    private mutating func check(_ relationship: Relationship, of entity: Entity) {
        let place = "\(entity.name).\(relationship.name)"
        guard hierarchy.entities[relationship.destination] != nil else {
            return found(
                "\(place): there is no entity \(String(reflecting: relationship.destination)).")
        }
        guard let inverse = relationship.inverse else { return }
        guard let back = hierarchy.relationship(inverse, of: relationship.destination) else {
            return found(
                "\(place): its inverse \(String(reflecting: inverse)) is no relationship of "
                    + "\(relationship.destination).")
        }
        if let other = back.inverse, other != relationship.name {
            found(
                "\(place): its inverse \(relationship.destination).\(inverse) has another inverse, "
                    + "\(String(reflecting: other)).")
        }
    }

    private mutating func checkNotes(of entity: Entity) {
        checkOnce(entity.userInfo.map(\.key), "\(entity.name): the userInfo key")
        for attribute in entity.attributes {
            checkOnce(
                attribute.userInfo.map(\.key), "\(entity.name).\(attribute.name): the userInfo key")
        }
        for relationship in entity.relationships {
            checkOnce(
                relationship.userInfo.map(\.key),
                "\(entity.name).\(relationship.name): the userInfo key")
        }
    }

    private mutating func checkOnce(_ names: [String], _ kind: String) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            found("\(kind) \(String(reflecting: name)) is there twice.")
        }
    }

    private mutating func checkConfigurations() {
        checkOnce(model.configurations.map(\.name), "the configuration")
        for configuration in model.configurations {
            for name in configuration.entities where hierarchy.entities[name] == nil {
                found(
                    "configuration \(String(reflecting: configuration.name)): there is no entity "
                        + "\(String(reflecting: name)).")
            }
        }
    }
}
