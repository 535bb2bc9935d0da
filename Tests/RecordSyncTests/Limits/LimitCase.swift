import RecordModel
import Testing

/// A limit that mount and server share: a record one below it, at it, and one above it.
struct LimitCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// How much the limit is.
    let limit: Int
    /// What a save above it is refused with; nil for one that goes up in another form.
    let refusal: RecordError.Code?
    /// The record's name and text, so much of it.
    let record: @Sendable (Int) -> (name: String, text: String)

    var testDescription: String { name }

    init(
        _ name: String, _ limit: Int, _ refusal: RecordError.Code?,
        _ record: @escaping @Sendable (Int) -> (name: String, text: String)
    ) {
        (self.name, self.limit, self.refusal, self.record) = (name, limit, refusal, record)
    }

    static func text(_ fields: String) -> (name: String, text: String) { ("x", "{\(fields)}") }

    private static func list(_ element: String, _ count: Int) -> String {
        "[" + [String](repeating: element, count: count).joined(separator: ",") + "]"
    }

    private static func letters(_ count: Int) -> String { String(repeating: "k", count: count) }

    /// What a field's key and the brackets of a list take in a request beside the field `a`.
    private static let listOverhead = 160 + 1 + 2 + 1 + 2
    private static let inRequest =
        ServerLimits.requestBytes - ServerLimits.requestOverheadBytes - listOverhead

    static let all: [LimitCase] = [
        LimitCase("bytes of lists", ServerLimits.recordBytes, .tooLarge) { count in
            let rest = count - 19 * 50_000
            let texts = [String](repeating: letters(50_000), count: 19) + [letters(rest)]
            return text("\"a\":[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]")
        },
        LimitCase("numbers in lists", ServerLimits.recordBytes / 8, .tooLarge) {
            text("\"a\":\(list("1", $0))")
        },
        LimitCase("elements of lists", ServerLimits.listElements, .tooLarge) {
            text("\"a\":\(list("\"\"", $0 - 1)),\"b\":[\"\"]")
        },
        LimitCase("references", ServerLimits.references, .tooLarge) {
            text("\"a\":\(list(#"{"$ref":"other","zone":"Elsewhere"}"#, $0))")
        },
        LimitCase("escapes of a list in a request", inRequest / 6, .tooLarge) { count in
            text("\"a\":[\"" + String(repeating: #"\u0001"#, count: count) + "\"]")
        },
        LimitCase("fields of a type", ServerLimits.fieldsPerType, .tooLarge) { count in
            text((0..<count).map { "\"f\($0)\":\($0)" }.joined(separator: ","))
        },
        LimitCase("name of a field", ServerLimits.nameBytes, .invalidRecord) {
            text("\"\(letters($0))\":1")
        },
        // With `.json` it is the longest name of a file.
        LimitCase("name of a record", ServerLimits.nameBytes - 5, .invalidName) {
            (letters($0), #"{"a":1}"#)
        },
        LimitCase("name of a referred record", ServerLimits.nameBytes, .invalidRecord) {
            text("\"a\":{\"$ref\":\"\(letters($0))\"}")
        },
        LimitCase("a text", ServerLimits.recordBytes, nil) {
            text("\"a\":\"\(letters($0))\"")
        },
        LimitCase("a text of control characters", inRequest / 6, nil) {
            text("\"a\":\"" + String(repeating: #"\u0001"#, count: $0) + "\"")
        },
        LimitCase("a text of letters that are no ASCII", ServerLimits.recordBytes / 2, nil) {
            text("\"a\":\"" + String(repeating: "é", count: $0) + "\"")
        },
        LimitCase("bytes", ServerLimits.recordBytes, nil) { count in
            let bytes = [UInt8](repeating: 0xAB, count: count)
            let spelling = String(decoding: Base64.encode(bytes), as: UTF8.self)
            return text("\"a\":{\"$bytes\":\"\(spelling)\"}")
        },
        LimitCase("nested JSON", ServerLimits.recordBytes, nil) { count in
            text("\"a\":{\"b\":\"\(letters(count - 8))\"}")
        },
        LimitCase("many texts", ServerLimits.recordBytes, nil) { count in
            let texts = (0..<14).map { "\"f\($0)\":\"\(letters(70_000))\"" }
            return text(
                (texts + ["\"z\":\"\(letters(count - 14 * 70_000))\""]).joined(separator: ","))
        },
    ]

    /// Texts far above the limit.
    static let long: [LimitCase] = [
        LimitCase("a text of 20 MB", 20_000_000, nil) { text("\"a\":\"\(letters($0))\",\"n\":1") },
        LimitCase("15 texts", 70_000, nil) { count in
            text((0..<15).map { "\"f\($0)\":\"\(letters(count))\"" }.joined(separator: ","))
        },
        LimitCase("texts and bytes of some MB", 3_000_000, nil) { count in
            let bytes = String(decoding: Base64.encode([UInt8](0...255)), as: UTF8.self)
            return text(
                "\"a\":\"\(letters(count))\",\"b\":\"\(letters(count / 2))\","
                    + "\"c\":{\"$bytes\":\"\(bytes)\"},\"d\":[1,2]")
        },
    ]
}
