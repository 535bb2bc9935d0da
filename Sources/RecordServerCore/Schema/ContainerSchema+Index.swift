import RecordModel
package import RecordWire

extension ContainerSchema {
    /// Returns all index entries of a record with these (decoded) fields, its system fields
    /// included. Store them with every `put` of a record that is not deleted.
    package func indexEntries(_ record: StoredRecord, fields: [WireField]) -> [IndexEntry] {
        guard let type = type(record.type) else { return [] }
        var entries: [IndexEntry] = []
        for field in fields {
            guard let value = field.value, let definition = type.field(field.name) else { continue }
            definition.field.addEntries(of: value, to: &entries)
        }
        for field in SystemField.allCases where field.hasIndexEntries {
            let definition = type.field(field)
            guard let value = record.value(of: field) else { continue }
            definition.field.addEntries(of: value, to: &entries)
        }
        return entries
    }
}

extension RecordSchema.Field {
    fileprivate func addEntries(of value: WireValue, to entries: inout [IndexEntry]) {
        switch value {
        case .list(let elements):
            if isQueryable {
                append(.element, Self.keys(of: elements), to: &entries)
            }
            if isSearchable {
                append(
                    .token, Words.of(elements, upTo: IndexKey.maximumEntries), to: &entries)
            }
        default:
            if isQueryable || isSortable, let key = IndexKey.encode(value) {
                entries.append(IndexEntry(field: name, kind: .value, key: key))
            }
            if isSearchable {
                append(.token, Words.of([value], upTo: IndexKey.maximumEntries), to: &entries)
            }
        }
    }

    /// Returns the keys of the elements, and not more than needed to see that there are too many.
    private static func keys(of elements: [WireValue]) -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = []
        for element in elements where keys.count <= IndexKey.maximumEntries {
            if let key = IndexKey.encode(element) { keys.insert(key) }
        }
        return keys
    }

    /// Adds the entries for the keys. Many words or elements become one entry: queries look there
    /// too, and at the record itself.
    private func append(
        _ kind: IndexEntry.Kind, _ keys: Set<[UInt8]>, to entries: inout [IndexEntry]
    ) {
        let isLong = keys.contains { $0.count > IndexKey.maximumBytes }
        let keys = isLong ? Set(keys.map { Array($0.prefix(IndexKey.maximumBytes)) }) : keys
        let kept = keys.count > IndexKey.maximumEntries ? [IndexKey.overflow] : keys
        for key in kept { entries.append(IndexEntry(field: name, kind: kind, key: key)) }
    }
}

extension Words {
    /// Returns the words of all texts among the values.
    static func of(_ values: [WireValue], upTo limit: Int = .max) -> Set<[UInt8]> {
        var words: Set<[UInt8]> = []
        for value in values where words.count <= limit {
            if case .string(let text) = value { words.formUnion(of(text, upTo: limit)) }
        }
        return words
    }
}

extension StoredRecord {
    /// Returns the value of a system field. References are to records of the same zone.
    package func value(of field: SystemField) -> WireValue? {
        switch field {
        case .recordName: .reference(WireReference(name: name))
        case .share: share.map { .reference(WireReference(name: $0)) }
        case .parent: parent.map { .reference(WireReference(name: $0)) }
        case .createdUserRecordName: .reference(created.user.reference)
        case .createdTimestamp: .timestamp(milliseconds: created.milliseconds)
        case .modifiedTimestamp: .timestamp(milliseconds: modified.milliseconds)
        case .modifiedUserRecordName: .reference(modified.user.reference)
        }
    }
}

extension UserName {
    fileprivate var reference: WireReference { WireReference(name: RecordName(bytes: bytes)) }
}
