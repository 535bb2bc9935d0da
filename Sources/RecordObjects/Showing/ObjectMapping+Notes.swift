package import RecordModel

extension ObjectMapping {
    /// Returns what the model says of the members of a type's texts, in the words of `model show`.
    package func notes(of type: RecordTypeName) -> [FieldName: String] {
        let hierarchy = ModelHierarchy(model)
        var notes: [FieldName: String] = [:]
        for attribute in hierarchy.attributes(of: "\(type)") {
            notes[FieldName(attribute.name)] = ModelShowing.facts(of: attribute)
        }
        for relationship in hierarchy.relationships(of: "\(type)") {
            notes[FieldName(relationship.name)] = ModelShowing.facts(of: relationship)
        }
        return notes
    }
}
