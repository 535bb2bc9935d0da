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

/// SplitMix64: the same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension FieldName: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}
