/// An attribute of an entity.
package struct Attribute: Hashable, Sendable {
    package var name: String
    package var type: AttributeType
    package var isOptional: Bool
    /// The value of new objects, as the model spells it. Dates are seconds since 2001.
    package var defaultValue: String?
    /// The least value, or the least length of a string, as the model spells it.
    package var minimum: String?
    /// The greatest value, or the greatest length of a string, as the model spells it.
    package var maximum: String?
    /// The regular expression that a string matches.
    package var pattern: String?
    /// Indicates whether the attribute is in memory only, and never in a record.
    package var isTransient: Bool
    /// The expression that computes the value. Nil for an attribute that people write.
    package var derivation: String?
    /// Indicates whether large values may be in files of their own.
    package var allowsExternalStorage: Bool
    package var allowsCloudEncryption: Bool
    /// Indicates whether the tombstone of a deleted object keeps the value.
    package var isPreservedAfterDeletion: Bool
    /// The name of the transformer of a Transformable. It may be empty.
    package var transformer: String?
    /// The name in the model version before (`elementID`).
    package var renamedFrom: String?
    package var userInfo: [UserInfo]
    package var xcode: XcodeDetails

    package init(
        name: String, type: AttributeType, isOptional: Bool = true, defaultValue: String? = nil,
        minimum: String? = nil, maximum: String? = nil, pattern: String? = nil,
        isTransient: Bool = false, derivation: String? = nil, allowsExternalStorage: Bool = false,
        allowsCloudEncryption: Bool = false, isPreservedAfterDeletion: Bool = false,
        transformer: String? = nil, renamedFrom: String? = nil, userInfo: [UserInfo] = [],
        xcode: XcodeDetails = XcodeDetails()
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.minimum = minimum
        self.maximum = maximum
        self.pattern = pattern
        self.isTransient = isTransient
        self.derivation = derivation
        self.allowsExternalStorage = allowsExternalStorage
        self.allowsCloudEncryption = allowsCloudEncryption
        self.isPreservedAfterDeletion = isPreservedAfterDeletion
        self.transformer = transformer
        self.renamedFrom = renamedFrom
        self.userInfo = userInfo
        self.xcode = xcode
    }

    /// Indicates whether records have a field for the attribute. Derived attributes have none:
    /// Apple's printed `CD_Tag` lacks the derived `postCount` of its model.
    package var isMirrored: Bool { !isTransient && derivation == nil }
}

/// The type of an attribute, with its name in a model.
package enum AttributeType: String, CaseIterable, Hashable, Sendable {
    case integer16 = "Integer 16"
    case integer32 = "Integer 32"
    case integer64 = "Integer 64"
    case decimal = "Decimal"
    case double = "Double"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    case date = "Date"
    case binary = "Binary"
    case uuid = "UUID"
    case uri = "URI"
    case transformable = "Transformable"
    case composite = "Composite"
    case undefined = "Undefined"
    case objectID = "ObjectID"

    /// Indicates whether CloudKit can hold such an attribute.
    package var isSupported: Bool { self != .undefined && self != .objectID }
}
