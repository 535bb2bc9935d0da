import RecordModel
import RecordWire
import Testing

/// A reader of JSON text, as a request's body.
func body(_ text: String) throws -> JSONReader {
    JSONReader(try JSONParser.parse(Array(text.utf8)))
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// What is printed of a value.
func printed(_ value: some AnswerValue) -> String {
    var answer = AnswerWriter()
    answer.value(value)
    return text(answer.bytes)
}

/// The error that `work` must throw.
func refusal(
    _ location: SourceLocation = #_sourceLocation, _ work: () throws -> some Any
) -> ServerError? {
    do {
        let result = try work()
        Issue.record("accepted as \(result)", sourceLocation: location)
    } catch let error as ServerError {
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: location)
    }
    return nil
}

/// A field from the text of its dictionary.
func wireField(
    _ json: String, name: FieldName = "f", isStrict: Bool = false, isInQuery: Bool = false
) throws -> WireField {
    try WireField(
        name: name, try body(json), limits: RequestLimits(isStrict: isStrict),
        isInQuery: isInQuery)
}

extension FieldName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension RecordName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension RecordTypeName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension ZoneName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension UserName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
