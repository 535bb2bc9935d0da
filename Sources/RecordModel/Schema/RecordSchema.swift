/// The fields of one record type in the order in which they were first seen.
package struct RecordSchema: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let name: FieldName
        package let type: FieldType
        package var isQueryable: Bool
        package var isSortable: Bool
        package var isSearchable: Bool
        /// Kept so that a schema of another tool survives; nothing is encrypted here.
        package var isEncrypted: Bool
        /// Stands in a schema text that somebody wrote, so that no value changes its type.
        package var isDeclared = false

        /// With all the indexes that the type allows, as new fields of a development schema have.
        package init(name: FieldName, type: FieldType) {
            self.name = name
            self.type = type
            let element = if case .list(let element) = type { element } else { type }
            isQueryable = element != .asset && element != .json
            isSortable =
                switch type {
                case .string, .int64, .double, .timestamp, .bytes, .location: true
                case .reference, .asset, .json, .list: false
                }
            isSearchable = element == .string
            isEncrypted = false
        }

        package init(
            name: FieldName, type: FieldType, isQueryable: Bool, isSortable: Bool,
            isSearchable: Bool, isEncrypted: Bool = false
        ) {
            self.name = name
            self.type = type
            self.isQueryable = isQueryable
            self.isSortable = isSortable
            self.isSearchable = isSearchable
            self.isEncrypted = isEncrypted
        }
    }

    package private(set) var fields: [Field]
    private var places: [FieldName: Int]

    package static let empty = RecordSchema(fields: [])

    /// Of two fields with one name the first counts.
    package init(fields: [Field]) {
        self.fields = []
        places = [:]
        for field in fields { add(field) }
    }

    private mutating func add(_ field: Field) {
        guard places[field.name] == nil else { return }
        places[field.name] = fields.count
        fields.append(field)
    }

    package subscript(name: FieldName) -> Field? { places[name].map { fields[$0] } }

    package func type(of name: FieldName) -> FieldType? { self[name]?.type }

    /// The schema with every field declared.
    package var declared: RecordSchema {
        var declared = self
        for place in declared.fields.indices { declared.fields[place].isDeclared = true }
        return declared
    }

    /// The schema after just-in-time adoption of what the document introduces; nil when nothing
    /// is new. A known field keeps its type, but that a fraction widens one of whole numbers
    /// (`Field.wider`); an empty list introduces nothing, because its type cannot be known yet.
    package func adopting(_ document: RecordDocument) -> RecordSchema? {
        adopting(document.fields)
    }

    package func adopting(_ newFields: [RecordField]) -> RecordSchema? {
        var adopted = self
        var isChanged = false
        for field in newFields {
            guard let type = field.value.type else { continue }
            guard let place = places[field.name] else {
                adopted.add(Field(name: field.name, type: type))
                isChanged = true
                continue
            }
            guard type == fields[place].wider else { continue }
            adopted.fields[place] = fields[place].with(type)
            isChanged = true
        }
        return isChanged ? adopted : nil
    }

    /// With these fields besides; nil when all are known already.
    package func adding(_ newFields: [(name: FieldName, type: FieldType)]) -> RecordSchema? {
        var adopted = self
        for (name, type) in newFields { adopted.add(Field(name: name, type: type)) }
        return adopted.fields.count == fields.count ? nil : adopted
    }

    package static func == (left: Self, right: Self) -> Bool { left.fields == right.fields }
    package func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension RecordSchema {
    /// How many fields count towards the limit of a type: those that have the long values of other ones
    /// do not.
    package var countedFields: Int {
        fields.count { field in
            guard field.type == .asset, let value = field.name.field else { return true }
            let type = self.type(of: value)
            return type != .string && type != .bytes
        }
    }
}
