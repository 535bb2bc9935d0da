/// How much of lists and nested objects is kept while a text is read.
///
/// Values take many times the bytes of their text. What cannot fit a record is read to its end all
/// the same, so that an error in it is told, but it is not kept.
struct JSONAllowance {
    static let unlimited = JSONAllowance(bytes: .max, values: .max)
    static let nothing = JSONAllowance(bytes: 0, values: 0)

    private var bytes: Int
    private var values: Int
    private(set) var isExceeded = false

    init(bytes: Int, values: Int) {
        self.bytes = bytes
        self.values = values
    }

    /// How many more values are kept at most.
    var room: Int { isExceeded ? 0 : max(0, values) }

    /// Whether one more element or member is kept.
    ///
    /// Counts no more than `FieldValue.countedBytes` will: a number 8 bytes in a list and its
    /// spelling with a comma in nested JSON, a string nothing, because it may be a date, a name or
    /// an asset, and what it takes is what its text takes.
    mutating func keeps(_ value: JSONValue, isTagged: Bool = false) -> Bool {
        guard !isExceeded else { return false }
        switch value {
        case .number(let number) where !isTagged: bytes -= min(8, number.spellingCount + 1)
        case .bool where !isTagged: bytes -= 4
        case .number, .bool, .null, .string, .array, .object: break
        }
        values -= 1
        isExceeded = bytes < 0 || values < 0
        return !isExceeded
    }
}
