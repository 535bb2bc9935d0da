/// The names in a model's XML, in the order in which Xcode writes them (read from 146 public
/// models: no two have them in different orders).
enum XMLForm {
    static let model = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
        "userDefinedModelVersionIdentifier",
    ]
    static let entity = [
        "name", "representedClassName", "isAbstract", "parentEntity", "elementID",
        "versionHashModifier", "syncable", "codeGenerationType",
    ]
    static let attribute = [
        "name", "optional", "transient", "attributeType", "minValueString", "maxValueString",
        "minDateTimeInterval", "maxDateTimeInterval", "defaultValueString", "derived",
        "derivationExpression", "regularExpressionString", "allowsExternalBinaryDataStorage",
        "allowsCloudEncryption", "preserveAfterDeletion", "valueTransformerName",
        "customClassName", "defaultDateTimeInterval", "usesScalarValueType", "syncable",
        "elementID", "versionHashModifier", "spotlightIndexingEnabled",
    ]
    static let relationship = [
        "name", "optional", "toMany", "minCount", "maxCount", "deletionRule", "ordered",
        "destinationEntity", "inverseName", "inverseEntity", "syncable", "elementID",
    ]
    static let configuration = ["name", "usedWithCloudKit"]

    /// Returns attributes in the order of a form. Those that it does not know follow by name.
    static func ordered(_ values: [String: String], by names: [String]) -> [XMLAttribute] {
        let known = names.compactMap { name in values[name].map { XMLAttribute(name, $0) } }
        let others = values.filter { !names.contains($0.key) }.sorted { $0.key < $1.key }
        return known + others.map { XMLAttribute($0.key, $0.value) }
    }
}
