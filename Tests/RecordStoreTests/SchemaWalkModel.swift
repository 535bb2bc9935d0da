/// A value in a record's file, and the rules of the types that fields get from values.
enum ModelValue: String, CaseIterable {
    case whole = "7"
    /// A whole number that no double holds exactly.
    case large = "9007199254740993"
    case fraction = "0.5"
    case bool = "true"
    case word = "\"x\""
    case null
    case none = "[]"
    case wholes = "[1,2]"
    case larges = "[1,-9007199254740993]"
    case fractions = "[1,0.5]"
    case words = "[\"x\"]"
    case object = "{\"k\":1}"
}

/// The type of a field. The raw value is its name in the schema.
enum ModelType: String, CaseIterable {
    case int = "INT64"
    case double = "DOUBLE"
    case string = "STRING"
    case ints = "LIST<INT64>"
    case doubles = "LIST<DOUBLE>"
    case strings = "LIST<STRING>"
    case json = "JSON"

    /// The type that a new field gets. Nil for a value that says nothing about it.
    init?(of value: ModelValue) {
        switch value {
        case .null, .none: return nil
        case .whole, .large, .bool: self = .int
        case .fraction: self = .double
        case .word: self = .string
        case .wholes, .larges: self = .ints
        case .fractions: self = .doubles
        case .words: self = .strings
        case .object: self = .json
        }
    }

    /// Returns whether a field of this type takes a value as it is.
    func takes(_ value: ModelValue) -> Bool {
        if value == .null || value == .none || self == .json { return true }
        return switch self {
        case .int: [.whole, .large, .bool].contains(value)
        case .double: [.whole, .large, .fraction].contains(value)
        case .string: value == .word
        case .ints: [.wholes, .larges].contains(value)
        case .doubles: [.wholes, .larges, .fractions].contains(value)
        case .strings: value == .words
        case .json: true
        }
    }

    /// The type to which a fraction widens the field.
    func widened(by value: ModelValue) -> ModelType? {
        switch (self, value) {
        case (.int, .fraction): .double
        case (.ints, .fractions): .doubles
        default: nil
        }
    }

    /// Returns whether a stored value of a field of whole numbers stays exact in one of doubles.
    func isExact(_ value: ModelValue) -> Bool {
        takes(value) && value != .large && value != .larges
    }
}

/// The schema of one type and the values of its records.
struct SchemaModel {
    struct Field: Equatable {
        var type: ModelType
        var isDeclared = false
    }

    typealias Values = [String: ModelValue]
    var fields: [String: Field] = [:]
    var records: [String: Values] = [:]

    /// Saves a record. Returns false, and changes nothing, where the schema refuses it.
    mutating func save(_ record: String, _ values: Values) -> Bool {
        var new = fields
        for (name, value) in values {
            guard let field = fields[name] else {
                new[name] = ModelType(of: value).map { Field(type: $0) }
                continue
            }
            if field.type.takes(value) { continue }
            guard let wider = field.type.widened(by: value), !field.isDeclared else { return false }
            let others = records.filter { $0.key != record }.compactMap { $0.value[name] }
            guard others.allSatisfy(wider.isExact) else { return false }
            new[name]?.type = wider
        }
        (fields, records[record]) = (new, values)
        return true
    }

    /// Declares all fields. Returns false, and changes nothing, where a record does not fit.
    mutating func declare(_ types: [String: ModelType]) -> Bool {
        for values in records.values {
            for (name, value) in values {
                guard let type = types[name] else {
                    if ModelType(of: value) != nil { return false }
                    continue
                }
                let old = fields[name]?.type
                let isWidened =
                    (old == .int && type == .double) || (old == .ints && type == .doubles)
                guard isWidened ? type.isExact(value) : type.takes(value) else { return false }
            }
        }
        fields = types.mapValues { Field(type: $0, isDeclared: true) }
        return true
    }
}
