import RecordModel
import RecordWire

/// The contradictions between two schemas.
enum SchemaChanges {
    /// Returns the parts of `old` that would be lost in `new`: types and fields that are gone or of
    /// another type. A number that becomes a `NUMBER` loses nothing. Types that are in every schema
    /// lose only the fields that clients gave them.
    static func losses(from old: SchemaDocument, to new: SchemaDocument) -> [Loss] {
        let kept = ContainerSchema.types(of: new)
        var losses: [Loss] = []
        for type in old.types {
            guard let newType = kept[type.name] else {
                losses.append(Loss(type: type.name, field: nil, change: "would be gone"))
                continue
            }
            for field in type.fields where !field.isSystem {
                guard let newField = newType.field(field.name) else {
                    losses.append(
                        Loss(type: type.name, field: field.name, change: "would be gone"))
                    continue
                }
                guard !newField.holdsAll(of: field) else { continue }
                losses.append(
                    Loss(
                        type: type.name, field: field.name,
                        change: "would become \(newField.typeText) from \(field.typeText)"))
            }
        }
        return losses
    }

    struct Loss: Hashable, Sendable, CustomStringConvertible {
        let type: RecordTypeName
        /// The field. It is nil for the type itself.
        let field: FieldName?
        let change: String

        var description: String {
            field.map { "field '\($0)' of record type '\(type)' \(change)" }
                ?? "record type '\(type)' \(change)"
        }
    }

    /// Returns the types whose records need new index entries: those with a field that has an index
    /// now and had none before.
    static func typesToIndex(from old: ContainerSchema, to new: ContainerSchema) -> [RecordTypeName]
    {
        let names = new.document.types.map(\.name)
        return names.filter { name in
            guard let newType = new.type(name) else { return false }
            return newType.fields.contains { field in
                guard field.needsEntries else { return false }
                guard let oldField = old.type(name)?.field(field.name) else { return true }
                return oldField.type != field.type
                    || !oldField.entries.isSuperset(of: field.entries)
            }
        }
    }
}

extension SchemaDocument.Field {
    /// Returns whether each value of the other field is also a value of this field.
    fileprivate func holdsAll(of other: SchemaDocument.Field) -> Bool {
        guard field.isEncrypted == other.field.isEncrypted else { return false }
        if number == .open {
            switch (type, other.type) {
            case (.list(.double), .list(.int64)), (.double, .int64): return true
            default: break
            }
        }
        return type == other.type && (number == .open || other.number != .open)
    }

    /// The kinds of index entries that records have of the field.
    fileprivate var entries: Set<IndexEntry.Kind> {
        var kinds: Set<IndexEntry.Kind> = []
        if case .list = type {
            if field.isQueryable { kinds.insert(.element) }
        } else if field.isQueryable || field.isSortable {
            kinds.insert(.value)
        }
        if field.isSearchable { kinds.insert(.token) }
        return kinds
    }

    fileprivate var needsEntries: Bool {
        guard isSystem else { return !entries.isEmpty }
        return !entries.isEmpty
            && SystemField.allCases.contains {
                $0.hasIndexEntries && FieldName($0.schemaName) == name
            }
    }
}
