/// The fields of one record type in the order in which they were first seen.
package struct RecordSchema: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let name: FieldName
        package let type: FieldType
        package var isQueryable: Bool
        package var isSortable: Bool
        package var isSearchable: Bool
        /// Indicates whether the schema marks the field as encrypted. The mark is kept so that the
        /// schema of another tool survives. Nothing is encrypted here.
        package var isEncrypted: Bool
        /// Indicates whether the field is in a schema text that a person wrote, so that no value
        /// changes its type.
        package var isDeclared = false

        /// Creates a field with all the indexes that its type allows, as new fields of a
        /// development schema have.
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

        /// Returns this field with another name.
        fileprivate func named(_ name: FieldName) -> Field {
            var named = Field(
                name: name, type: type, isQueryable: isQueryable, isSortable: isSortable,
                isSearchable: isSearchable, isEncrypted: isEncrypted)
            named.isDeclared = isDeclared
            return named
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
    /// The members of texts, where a model is attached.
    package var mapping: MemberMapping?

    package static let empty = RecordSchema(fields: [])

    /// Creates a schema. When two fields have the same name, the first counts.
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

    /// The names and types of the members that texts have: those of a model, then the fields that it
    /// does not have. Relationships whose lists other records hold are JSON.
    package var shownFields: [Field] {
        guard let mapping else { return fields }
        let others = fields.filter {
            mapping.member(of: $0.name) == nil && $0.name != mapping.constant.name
        }
        return mapping.members.map { Field(name: $0.name, type: $0.type) }
            + mapping.lists.sorted().map { Field(name: $0, type: .json) } + others
    }

    /// The schema of the members that texts have.
    package var shown: RecordSchema {
        mapping == nil ? self : RecordSchema(fields: shownFields)
    }

    /// The schema with every field declared.
    package var declared: RecordSchema {
        var declared = self
        for place in declared.fields.indices { declared.fields[place].isDeclared = true }
        return declared
    }

    /// Returns the schema with the new fields of the document added just in time. Returns nil when
    /// nothing is new.
    ///
    /// A known field keeps its type, except that a fraction widens a field of whole numbers
    /// (`Field.wider`). An empty list adds nothing, because its type cannot be known yet.
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

    /// Returns the schema with these fields added. Returns nil when all are known already.
    package func adding(_ newFields: [(name: FieldName, type: FieldType)]) -> RecordSchema? {
        var adopted = self
        for (name, type) in newFields { adopted.add(Field(name: name, type: type)) }
        return adopted.fields.count == fields.count ? nil : adopted
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.fields == right.fields && left.mapping == right.mapping
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(fields) }
}

extension RecordSchema {
    /// The fields with the names that texts have for them.
    package var namedFields: [Field] {
        guard let mapping else { return fields }
        return fields.map { $0.named(mapping.name(of: $0.name)) }
    }

    /// Returns a schema that somebody wrote with the names of members, with those of the fields.
    package func renamed(by mapping: MemberMapping?) -> RecordSchema {
        guard let mapping else { return self }
        return RecordSchema(fields: fields.map { $0.named(mapping.field(of: $0.name)) })
    }

    /// The number of fields that count towards the limit of a type. Fields that hold the long
    /// values of other fields do not count.
    package var countedFields: Int {
        fields.count { field in
            guard field.type == .asset, let value = field.name.field else { return true }
            let type = self.type(of: value)
            return type != .string && type != .bytes
        }
    }
}
