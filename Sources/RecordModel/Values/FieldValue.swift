/// The value of a field. null is no value.
package enum FieldValue: Hashable, Sendable {
    case string(Text)
    case int64(Int64)
    case double(Double)
    /// A time since 1970-01-01T00:00:00Z.
    case timestamp(milliseconds: Int64)
    case bytes([UInt8])
    indirect case location(Location)
    indirect case reference(Reference)
    /// An asset. It is also the value of a STRING or BYTES field that is long enough to be shown as
    /// a file.
    indirect case asset(AssetValue)
    case json(JSONValue)
    case list([FieldValue])

    /// The type that this value gives a new field of a schema. It is nil for an empty list, which
    /// fits all.
    package var type: FieldType? {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .json: .json
        case .list(let elements): elements.first?.type.map { .list($0) }
        }
    }

    /// Returns whether the values are equal. Assets are compared by content
    /// (`AssetValue.hasSameContent`).
    package func isSame(as other: FieldValue) -> Bool {
        switch (self, other) {
        case (.asset(let left), .asset(let right)): left.hasSameContent(as: right)
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        default: self == other
        }
    }
}

/// A field of a record with its value.
package struct RecordField: Hashable, Sendable {
    package let name: FieldName
    package let value: FieldValue

    package init(name: FieldName, value: FieldValue) {
        self.name = name
        self.value = value
    }
}
