/// The amount of lists and nested objects that is kept while a text is read.
///
/// Values take many times the bytes of their text. A value that cannot fit a record is read to its
/// end nevertheless, so that an error in it is reported, but it is not kept.
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

    /// The largest number of further values that are kept.
    var room: Int { isExceeded ? 0 : max(0, values) }

    /// Returns whether one more element or member is kept.
    ///
    /// Never counts more than `FieldValue.countedBytes` counts. A number counts 8 bytes in a list,
    /// and its spelling with a comma in nested JSON. A string counts nothing, because it may be a
    /// date, a name or an asset, and it takes no more memory than its text.
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
