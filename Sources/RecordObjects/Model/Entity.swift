/// An entity: the kind of an object, with its properties. It inherits those of its parent.
package struct Entity: Hashable, Sendable {
    package var name: String
    package var parent: String?
    /// Indicates whether there are objects of sub-entities only.
    package var isAbstract: Bool
    /// The name in the model version before (`elementID`).
    package var renamedFrom: String?
    /// The entity's own attributes, without inherited ones.
    package var attributes: [Attribute]
    /// The entity's own relationships, without inherited ones.
    package var relationships: [Relationship]
    package var indexes: [FetchIndex]
    /// The names of attributes that no two objects may have in common.
    package var uniquenessConstraints: [[String]]
    package var userInfo: [UserInfo]
    package var xcode: XcodeDetails

    package init(
        name: String, parent: String? = nil, isAbstract: Bool = false, renamedFrom: String? = nil,
        attributes: [Attribute] = [], relationships: [Relationship] = [],
        indexes: [FetchIndex] = [], uniquenessConstraints: [[String]] = [],
        userInfo: [UserInfo] = [], xcode: XcodeDetails = XcodeDetails()
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.renamedFrom = renamedFrom
        self.attributes = attributes
        self.relationships = relationships
        self.indexes = indexes
        self.uniquenessConstraints = uniquenessConstraints
        self.userInfo = userInfo
        self.xcode = xcode
    }
}

/// A note that a developer left at an entity or a property.
package struct UserInfo: Hashable, Sendable {
    package var key: String
    package var value: String

    package init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// An index of an entity's objects.
package struct FetchIndex: Hashable, Sendable {
    package struct Part: Hashable, Sendable {
        /// The name of a property, or an expression over several.
        package var property: String
        package var isExpression: Bool
        /// The kind of the index, `Binary` or `RTree`.
        package var kind: String
        package var isAscending: Bool

        package init(
            property: String, isExpression: Bool = false, kind: String = "Binary",
            isAscending: Bool = true
        ) {
            self.property = property
            self.isExpression = isExpression
            self.kind = kind
            self.isAscending = isAscending
        }
    }

    package var name: String
    package var parts: [Part]

    package init(name: String, parts: [Part]) {
        self.name = name
        self.parts = parts
    }
}
