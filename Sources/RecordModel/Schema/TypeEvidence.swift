/// The evidence of all values of one field of an input for its type.
///
/// One value is too little to decide: `18` before `18.5`, an empty list before a full one.
package struct TypeEvidence: Sendable {
    /// The type that fits all plain values. It is `json` when they are of different kinds.
    private var plain: FieldType?
    /// The type of tagged values, which no other type can hold; the first counts.
    private var tagged: FieldType?
    private var hasBool = false
    private var hasInexactInteger = false
    private var hasEmptyList = false
    private var hasOther = false
    private var hasJSON = false

    package init() {}

    /// Adds a value. null, and a value that the reader refuses, change nothing.
    package mutating func add(_ value: JSONValue) {
        switch value {
        case .null: break
        case .bool:
            hasBool = true
            join(.int64)
        case .number(let number):
            if let integer = number.int64 {
                if !integer.isExactDouble { hasInexactInteger = true }
                join(.int64)
            } else {
                join(.double)
            }
        case .string: join(.string)
        case .array, .object: addNested(value)
        }
    }

    private mutating func addNested(_ value: JSONValue) {
        let reading: ValueReader.Reading?
        do throws(ValueError) {
            reading = try ValueReader(field: FieldName("f")).read(value, as: nil)
        } catch {
            return
        }
        guard let reading else { return }
        guard let type = reading.value.type else {
            hasEmptyList = true
            return
        }
        if type.needsTag { tagged = tagged ?? type } else { join(type) }
    }

    private mutating func join(_ type: FieldType) {
        if type != .int64, type != .double { hasOther = true }
        if type == .json { hasJSON = true }
        guard let plain, plain != type else {
            self.plain = type
            return
        }
        if type == plain.wider {
            self.plain = type
        } else if plain != type.wider {
            self.plain = .json
        }
    }

    /// The type that takes all values. It is nil when no value gives evidence.
    ///
    /// DOUBLE for whole numbers and fractions, JSON for values that have no other type in common:
    /// also for whole numbers beside fractions that no DOUBLE would hold exactly.
    package var type: FieldType? {
        if let tagged { return tagged }
        guard let plain else { return nil }
        if hasEmptyList, !plain.isList { return .json }
        return plain == .double && (hasBool || hasInexactInteger) ? .json : plain
    }

    /// Indicates whether only JSON can hold these kinds of values side by side, although no value
    /// is nested JSON itself.
    package var isMixed: Bool { type == .json && !hasJSON }

    /// Indicates whether there are values, and all are numbers that one type holds.
    package var isNumeric: Bool {
        !hasOther && !hasBool && tagged == nil && (type == .int64 || type == .double)
    }

    /// Indicates whether there are values, and all are tagged.
    package var isTagged: Bool { tagged != nil && plain == nil && !hasEmptyList }
}

extension FieldType {
    fileprivate var isList: Bool {
        if case .list = self { true } else { false }
    }

    /// Indicates whether values of the type are written with a tag where no schema is known.
    fileprivate var needsTag: Bool {
        switch self {
        case .timestamp, .bytes, .location, .reference, .asset: true
        case .list(let element): element.needsTag
        case .string, .int64, .double, .json: false
        }
    }
}
