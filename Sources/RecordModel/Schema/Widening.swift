extension FieldType {
    /// The type that takes the same whole numbers and fractions too. It is nil for all types but
    /// INT64 and lists of it.
    package var wider: FieldType? {
        switch self {
        case .int64: .double
        case .list(.int64): .list(.double)
        default: nil
        }
    }
}

extension RecordSchema.Field {
    /// The type that a fraction gives the field: DOUBLE for INT64, as long as nobody has declared
    /// the field's type.
    package var wider: FieldType? { isDeclared ? nil : type.wider }

    /// Returns this field, with its indexes, with another type.
    func with(_ type: FieldType) -> RecordSchema.Field {
        RecordSchema.Field(
            name: name, type: type, isQueryable: isQueryable, isSortable: isSortable,
            isSearchable: isSearchable, isEncrypted: isEncrypted)
    }
}

extension RecordSchema {
    /// Returns the fields of whole numbers that accept fractions in `new`.
    package func widened(in new: RecordSchema) -> [FieldName] {
        fields.filter { field in
            guard let wider = field.type.wider else { return false }
            return new.type(of: field.name) == wider
        }.map(\.name)
    }
}

extension Int64 {
    /// Indicates whether a double holds this number and every whole number nearer to zero exactly:
    /// at most 2^53 from zero.
    package var isExactDouble: Bool { magnitude <= 1 << 53 }
}

extension FieldValue {
    /// A whole number as a double. Any other value is unchanged.
    var asDouble: FieldValue {
        if case .int64(let integer) = self { .double(Double(integer)) } else { self }
    }

    /// The whole number that no double holds exactly, also one in a list. It is nil when there is
    /// none.
    package var inexactInteger: Int64? {
        switch self {
        case .int64(let integer): integer.isExactDouble ? nil : integer
        case .list(let elements): elements.lazy.compactMap(\.inexactInteger).first
        default: nil
        }
    }
}
