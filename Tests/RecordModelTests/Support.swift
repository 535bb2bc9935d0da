import RecordModel
import Testing

func bytes(_ string: String) -> [UInt8] { Array(string.utf8) }
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

func document(_ string: String, _ schema: RecordSchema = .empty) throws -> RecordDocument {
    try RecordDocument(parsing: bytes(string), schema: schema)
}

func schema(_ fields: (String, FieldType)...) -> RecordSchema {
    RecordSchema(fields: fields.map { .init(name: FieldName($0.0), type: $0.1) })
}

/// Runs `body` and gives the error that it must throw.
func refusal(
    _ location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) -> RecordError? {
    do {
        let result = try body()
        Issue.record("accepted as \(result)", sourceLocation: location)
    } catch let error as RecordError {
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: location)
    }
    return nil
}

extension FieldName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
