/// The addition of record types, fields and indexes to a schema. It removes nothing and changes the
/// type of nothing.
package struct SchemaAddition: Sendable {
    /// A type or field of the added schema, and its place in the other one.
    package struct Item: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            case new
            case there
            /// It is there, and gets these indexes.
            case indexed([String])
            /// It is there with this definition.
            case conflict(String)
            /// The type would have so many fields.
            case tooManyFields(Int)
        }

        package let type: RecordTypeName
        /// The field with its wanted definition. Nil for the type itself.
        package let field: SchemaDocument.Field?
        package let state: State

        /// Indicates whether the schema cannot take the item.
        package var isRefused: Bool {
            switch state {
            case .conflict, .tooManyFields: true
            case .new, .there, .indexed: false
            }
        }
    }

    /// The types and fields of the added schema in its order, without system fields. A type comes
    /// before its fields.
    package private(set) var items: [Item] = []
    /// The schema with all that it can take.
    package private(set) var merged: SchemaDocument

    /// The largest number of fields of a type (Apple, TN3164).
    package static let fieldsMax = 256

    /// Compares a schema with one that is there, and adds it.
    package init(of added: SchemaDocument, to schema: SchemaDocument) {
        merged = schema
        for role in added.roles where !merged.roles.contains(role) { merged.roles.append(role) }
        let places = Dictionary(
            schema.types.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }
        )
        for type in added.types {
            if let place = places[type.name] {
                add(type, at: place)
            } else {
                add(type)
            }
        }
    }

    package var refused: [Item] { items.filter(\.isRefused) }

    /// Indicates whether the schema has everything already.
    package var isEmpty: Bool { items.allSatisfy { $0.state == .there } }

    private mutating func add(_ type: SchemaDocument.RecordType) {
        items.append(Item(type: type.name, field: nil, state: state(of: type, or: .new)))
        for field in type.fields where !field.isSystem {
            items.append(Item(type: type.name, field: field, state: .new))
        }
        merged.types.append(type)
    }

    private mutating func add(_ type: SchemaDocument.RecordType, at place: Int) {
        var whole = merged.types[place]
        let known = Dictionary(
            whole.fields.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }
        )
        var fieldItems: [Item] = []
        for field in type.fields {
            let state: Item.State
            if let index = known[field.name] {
                state = whole.fields[index].add(field)
            } else {
                state = .new
                whole.fields.append(field)
            }
            if !field.isSystem {
                fieldItems.append(Item(type: type.name, field: field, state: state))
            }
        }
        if whole.fields != merged.types[place].fields { whole.sortFields() }
        items.append(Item(type: type.name, field: nil, state: state(of: whole, or: .there)))
        items += fieldItems
        merged.types[place] = whole
    }

    private func state(
        of type: SchemaDocument.RecordType, or state: Item.State
    ) -> Item.State {
        let count = type.fields.count { !$0.isSystem }
        return count > Self.fieldsMax ? .tooManyFields(count) : state
    }
}

extension SchemaDocument.Field {
    /// The type as a schema text has it, without indexes.
    package var typeText: String {
        let bare = SchemaDocument.Field(
            RecordSchema.Field(
                name: name, type: type, isQueryable: false, isSortable: false, isSearchable: false,
                isEncrypted: field.isEncrypted),
            number: number)
        return String(bare.text.dropFirst(SchemaText.quoted(name.bytes).count + 1))
    }

    /// Adds the indexes of a wanted field of the same name.
    fileprivate mutating func add(_ wanted: SchemaDocument.Field) -> SchemaAddition.Item.State {
        guard holdsAll(of: wanted) else { return .conflict(typeText) }
        var names: [String] = []
        func add(_ name: String, _ isWanted: Bool, _ isThere: inout Bool) {
            guard isWanted, !isThere else { return }
            isThere = true
            names.append(name)
        }
        add("QUERYABLE", wanted.field.isQueryable, &field.isQueryable)
        add("SORTABLE", wanted.field.isSortable, &field.isSortable)
        add("SEARCHABLE", wanted.field.isSearchable, &field.isSearchable)
        return names.isEmpty ? .there : .indexed(names)
    }

    /// Returns whether each value of the wanted field fits. A `NUMBER` takes whole numbers too.
    private func holdsAll(of wanted: SchemaDocument.Field) -> Bool {
        guard field.isEncrypted == wanted.field.isEncrypted else { return false }
        if number == .open, type == .double, wanted.type == .int64 { return true }
        return type == wanted.type && (number == .open || wanted.number != .open)
    }
}

extension SchemaDocument.RecordType {
    /// Brings the fields into the order of their bytes, as exports of CloudKit have them: system
    /// fields last.
    fileprivate mutating func sortFields() {
        fields.sort { left, right in
            left.isSystem == right.isSystem
                ? left.name.bytes.lexicographicallyPrecedes(right.name.bytes) : right.isSystem
        }
    }
}
