extension FieldType {
    /// The type that takes the same whole numbers and fractions too; nil for all others.
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
    /// its type.
    package var wider: FieldType? { isDeclared ? nil : type.wider }

    /// The same field, with its indexes, of another type.
    func with(_ type: FieldType) -> RecordSchema.Field {
        RecordSchema.Field(
            name: name, type: type, isQueryable: isQueryable, isSortable: isSortable,
            isSearchable: isSearchable, isEncrypted: isEncrypted)
    }
}

extension RecordSchema {
    /// The fields of whole numbers that take fractions in `new`.
    package func widened(in new: RecordSchema) -> [FieldName] {
        fields.filter { field in
            guard let wider = field.type.wider else { return false }
            return new.type(of: field.name) == wider
        }.map(\.name)
    }
}

extension Int64 {
    /// Whether every whole number up to this one is a double of its own: at most 2^53 from zero.
    package var isExactDouble: Bool { magnitude <= 1 << 53 }
}

extension FieldValue {
    /// A whole number as a double; all else as it is.
    var asDouble: FieldValue {
        if case .int64(let integer) = self { .double(Double(integer)) } else { self }
    }

    /// A whole number that no double holds exactly, also in a list.
    package var inexactInteger: Int64? {
        switch self {
        case .int64(let integer): integer.isExactDouble ? nil : integer
        case .list(let elements): elements.lazy.compactMap(\.inexactInteger).first
        default: nil
        }
    }
}
