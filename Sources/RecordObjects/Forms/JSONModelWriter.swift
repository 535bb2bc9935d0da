import RecordModel

/// Writes a model in our JSON form: what a person would write, and Xcode's own details under
/// `xcode`, so that the `.xcdatamodel` can be made again.
package enum JSONModelWriter {
    package static func print(_ model: ObjectModel) -> [UInt8] {
        value(model).serialized(pretty: true) + [UInt8(ascii: "\n")]
    }

    static func value(_ model: ObjectModel) -> JSONValue {
        var members = Members()
        members.add("entities", .object(model.entities.map { .init($0.name, value($0)) }))
        members.add(
            "configurations", .object(model.configurations.map { .init($0.name, value($0)) }))
        members.add(model.xcode)
        return members.value
    }

    private static func value(_ configuration: Configuration) -> JSONValue {
        var members = Members()
        members.add("entities", .array(configuration.entities.map { JSONValue($0) }))
        members.add("usedWithCloudKit", configuration.usedWithCloudKit)
        return members.value
    }

    private static func value(_ entity: Entity) -> JSONValue {
        var members = Members()
        members.add("parent", entity.parent)
        members.add("abstract", entity.isAbstract)
        members.add("renamedFrom", entity.renamedFrom)
        members.add("attributes", .object(entity.attributes.map { .init($0.name, value($0)) }))
        members.add(
            "relationships", .object(entity.relationships.map { .init($0.name, value($0)) }))
        members.add("indexes", .object(entity.indexes.map { .init($0.name, value($0)) }))
        members.add(
            "unique",
            .array(entity.uniquenessConstraints.map { .array($0.map { JSONValue($0) }) }))
        members.add(entity.userInfo)
        members.add(entity.xcode)
        return members.value
    }

    private static func value(_ attribute: Attribute) -> JSONValue {
        var members = Members()
        members.add("type", attribute.type.rawValue)
        members.add("required", !attribute.isOptional)
        members.add("default", attribute.defaultValue)
        members.add("minimum", attribute.minimum)
        members.add("maximum", attribute.maximum)
        members.add("pattern", attribute.pattern)
        members.add("transient", attribute.isTransient)
        members.add("derivation", attribute.derivation)
        members.add("externalStorage", attribute.allowsExternalStorage)
        members.add("encrypted", attribute.allowsCloudEncryption)
        members.add("preserveAfterDeletion", attribute.isPreservedAfterDeletion)
        members.add("transformer", attribute.transformer)
        members.add("renamedFrom", attribute.renamedFrom)
        members.add(attribute.userInfo)
        members.add(attribute.xcode)
        return members.value
    }

    private static func value(_ relationship: Relationship) -> JSONValue {
        var members = Members()
        members.add("to", relationship.destination)
        members.add("many", relationship.isToMany)
        members.add("inverse", relationship.inverse)
        if relationship.deleteRule != .nullify {
            members.add("onDelete", relationship.deleteRule.rawValue)
        }
        members.add("required", !relationship.isOptional)
        members.add("ordered", relationship.isOrdered)
        members.add("minimumCount", relationship.minimumCount)
        members.add("maximumCount", relationship.maximumCount)
        members.add("renamedFrom", relationship.renamedFrom)
        members.add(relationship.userInfo)
        members.add(relationship.xcode)
        return members.value
    }

    private static func value(_ index: FetchIndex) -> JSONValue {
        .array(
            index.parts.map { part in
                var members = Members()
                members.add(part.isExpression ? "expression" : "property", part.property)
                if part.kind != "Binary" { members.add("kind", part.kind) }
                members.add("descending", !part.isAscending)
                return members.value
            })
    }
}

/// The members of an object that are there: what is false, empty or nil is left out.
private struct Members {
    private var members: [JSONMember] = []

    var value: JSONValue { .object(members) }

    mutating func add(_ name: String, _ value: JSONValue) {
        switch value {
        case .array([]), .object([]): break
        default: members.append(.init(name, value))
        }
    }

    mutating func add(_ name: String, _ text: String?) {
        if let text { add(name, JSONValue(text)) }
    }

    mutating func add(_ name: String, _ flag: Bool) {
        if flag { add(name, .bool(true)) }
    }

    mutating func add(_ name: String, _ count: Int?) {
        if let count { add(name, JSONValue(Int64(count))) }
    }

    mutating func add(_ userInfo: [UserInfo]) {
        add("userInfo", .object(userInfo.map { .init($0.key, JSONValue($0.value)) }))
    }

    mutating func add(_ details: XcodeDetails) {
        var members = Members()
        members.add(
            "attributes",
            .object(
                details.attributes.sorted { $0.key < $1.key }
                    .map { .init($0.key, JSONValue($0.value)) }))
        members.add("elements", .array(details.elements.map(Self.value)))
        add("xcode", members.value)
    }

    private static func value(_ element: XMLElement) -> JSONValue {
        var members = Members()
        members.add("element", element.name)
        members.add(
            "attributes",
            .object(element.attributes.map { .init($0.name, JSONValue($0.value)) }))
        members.add("children", .array(element.children.map(value)))
        if !element.text.isEmpty { members.add("text", element.text) }
        return members.value
    }
}

extension JSONMember {
    fileprivate init(_ key: String, _ value: JSONValue) {
        self.init(key: Text(key), value: value)
    }
}
