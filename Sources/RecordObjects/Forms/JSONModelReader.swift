package import RecordModel

/// Reads a model in our JSON form.
package enum JSONModelReader {
    /// Errors: `invalidArgument`, with the path of the member; `invalidJSON` with position.
    package static func read(_ text: [UInt8]) throws(RecordError) -> ObjectModel {
        let root = try ObjectMembers(try JSONParser.parse(text), "the model")
        var model = ObjectModel()
        model.entities = try root.named("entities", entity)
        model.configurations = try root.named("configurations", configuration)
        model.xcode = try root.xcode()
        try root.finish(["entities", "configurations", "xcode"])
        try ModelConsistency.check(model)
        return model
    }

    private static func configuration(
        _ name: String, _ members: ObjectMembers
    ) throws(RecordError) -> Configuration {
        try members.finish(["entities", "usedWithCloudKit"])
        return Configuration(
            name: name, entities: try members.texts("entities"),
            usedWithCloudKit: try members.flag("usedWithCloudKit"))
    }

    private static func entity(
        _ name: String, _ members: ObjectMembers
    ) throws(RecordError) -> Entity {
        try members.finish([
            "parent", "abstract", "renamedFrom", "attributes", "relationships", "indexes", "unique",
            "userInfo", "xcode",
        ])
        return Entity(
            name: name, parent: try members.text("parent"),
            isAbstract: try members.flag("abstract"),
            renamedFrom: try members.text("renamedFrom"),
            attributes: try members.named("attributes", attribute),
            relationships: try members.named("relationships", relationship),
            indexes: try members.lists("indexes", index),
            uniquenessConstraints: try members.constraints("unique"),
            userInfo: try members.userInfo(), xcode: try members.xcode())
    }

    private static func attribute(
        _ name: String, _ members: ObjectMembers
    ) throws(RecordError) -> Attribute {
        try members.finish([
            "type", "required", "default", "minimum", "maximum", "pattern", "transient",
            "derivation", "externalStorage", "encrypted", "preserveAfterDeletion", "transformer",
            "renamedFrom", "userInfo", "xcode",
        ])
        let spelling = try members.required("type")
        guard let type = AttributeType(rawValue: spelling) else {
            throw members.error(
                "type",
                "\"\(spelling)\" is no type. The types are "
                    + AttributeType.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return Attribute(
            name: name, type: type, isOptional: !(try members.flag("required")),
            defaultValue: try members.scalar("default"), minimum: try members.scalar("minimum"),
            maximum: try members.scalar("maximum"), pattern: try members.text("pattern"),
            isTransient: try members.flag("transient"), derivation: try members.text("derivation"),
            allowsExternalStorage: try members.flag("externalStorage"),
            allowsCloudEncryption: try members.flag("encrypted"),
            isPreservedAfterDeletion: try members.flag("preserveAfterDeletion"),
            transformer: try members.text("transformer"),
            renamedFrom: try members.text("renamedFrom"), userInfo: try members.userInfo(),
            xcode: try members.xcode())
    }

    private static func relationship(
        _ name: String, _ members: ObjectMembers
    ) throws(RecordError) -> Relationship {
        try members.finish([
            "to", "many", "inverse", "onDelete", "required", "ordered", "minimumCount",
            "maximumCount", "renamedFrom", "userInfo", "xcode",
        ])
        let spelling = try members.text("onDelete") ?? Relationship.DeleteRule.nullify.rawValue
        guard let rule = Relationship.DeleteRule(spelling: spelling) else {
            throw members.error(
                "onDelete",
                "\"\(spelling)\" is no delete rule. The rules are "
                    + Relationship.DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")
                    + ".")
        }
        let isToMany = try members.flag("many")
        let maximum = try members.count("maximumCount")
        guard isToMany || maximum == nil else {
            throw members.error("maximumCount", "the relationship is to one object.")
        }
        return Relationship(
            name: name, destination: try members.required("to"),
            inverse: try members.text("inverse"), isToMany: isToMany,
            isOptional: !(try members.flag("required")), isOrdered: try members.flag("ordered"),
            minimumCount: try members.count("minimumCount"),
            maximumCount: maximum, deleteRule: rule,
            renamedFrom: try members.text("renamedFrom"), userInfo: try members.userInfo(),
            xcode: try members.xcode())
    }

    private static func index(
        _ name: String, _ parts: [ObjectMembers]
    ) throws(RecordError) -> FetchIndex {
        var index = FetchIndex(name: name, parts: [])
        for part in parts {
            try part.finish(["property", "expression", "kind", "descending"])
            let expression = try part.text("expression")
            let property = if let expression { expression } else { try part.required("property") }
            index.parts.append(
                FetchIndex.Part(
                    property: property, isExpression: expression != nil,
                    kind: try part.text("kind") ?? "Binary",
                    isAscending: !(try part.flag("descending"))))
        }
        return index
    }
}
