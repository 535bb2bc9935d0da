import RecordModel
import RecordWire
import Testing

@Suite("Values under a schema") struct CoercionTests {
    @Test(
        "a value without tag becomes what the schema says",
        arguments: [
            (#"{"value":5}"#, FieldType.timestamp, WireValue.timestamp(milliseconds: 5)),
            (#"{"value":5.5}"#, .timestamp, .timestamp(milliseconds: 6)),
            (#"{"value":5}"#, .double, .double(5)),
            (#"{"value":5}"#, .int64, .int64(5)),
            (#"{"value":"5"}"#, .int64, .int64(5)),
            (#"{"value":"5.5"}"#, .double, .double(5.5)),
            (#"{"value":true}"#, .int64, .int64(1)),
            (#"{"value":"AA=="}"#, .bytes, .bytes([0])),
            (#"{"value":"AA=="}"#, .string, .string("AA==")),
            (#"{"value":[1,2]}"#, .list(.double), .list([.double(1), .double(2)])),
            (#"{"value":[1]}"#, .list(.timestamp), .list([.timestamp(milliseconds: 1)])),
            (#"{"value":["AA=="]}"#, .list(.bytes), .list([.bytes([0])])),
            (#"{"value":[]}"#, .list(.reference), .list([])),
            (#"{"type":"LIST","value":[1]}"#, .list(.double), .list([.double(1)])),
            (#"{"type":"STRING","value":"{\"a\":[]}"}"#, .json, .string(#"{"a":[]}"#)),
            (#"{"value":"[]"}"#, .json, .string("[]")),
        ])
    func untagged(_ json: String, _ type: FieldType, _ value: WireValue) throws {
        let field = try wireField(json).coerced(to: type)
        #expect(field.value == value)
        #expect(field.type == (type == .json ? .string : type))
        #expect(field.isTagged)
    }

    @Test(
        "what the schema does not agree to is BAD_REQUEST that names the field",
        arguments: [
            (#"{"type":"INT64","value":5}"#, FieldType.timestamp),
            (#"{"type":"INT64","value":5}"#, .double),
            (#"{"type":"STRING","value":"5"}"#, .int64),
            (#"{"type":"STRING","value":"AA=="}"#, .bytes),
            (#"{"type":"STRING_LIST","value":[]}"#, .list(.int64)),
            (#"{"type":"STRING_LIST","value":["x"]}"#, .string),
            (#"{"value":"x"}"#, .list(.string)), (#"{"value":["x"]}"#, .string),
            (#"{"value":"x"}"#, .int64), (#"{"value":"x"}"#, .bytes),
            (#"{"value":"x"}"#, .timestamp), (#"{"value":"x"}"#, .json),
            (#"{"value":5}"#, .string), (#"{"value":5.5}"#, .int64),
            (#"{"value":253402300800000}"#, .timestamp), (#"{"value":1e300}"#, .timestamp),
            (#"{"value":{"recordName":"r"}}"#, .location), (#"{"value":["x"]}"#, .list(.int64)),
            (#"{"value":{"recordName":"r"}}"#, .asset), (#"{"value":1}"#, .reference),
        ])
    func refused(_ json: String, _ type: FieldType) throws {
        let field = try wireField(json, name: "photo")
        let error = refusal { try field.coerced(to: type) }
        #expect(error?.code == .badRequest)
        #expect(error?.reason.contains("photo") == true)
    }

    @Test("a text that should be JSON is refused with the reason")
    func notJSON() throws {
        let field = try wireField(##"{"value":"{\"a\": x}"}"##, name: "photo")
        let error = refusal { try field.coerced(to: .json) }
        #expect(error?.reason.contains("photo") == true)
        #expect(error?.reason.contains("found x") == true)
    }

    @Test("every tagged type fits itself and no other")
    func matrix() throws {
        var generator = FieldGenerator(seed: 11)
        var samples: [FieldType: WireField] = [:]
        while samples.count < 16 {
            for field in generator.fields() {
                guard let type = field.type else { continue }
                samples[type] = field
            }
        }
        for (type, field) in samples {
            for other in samples.keys {
                if other == type {
                    #expect(try field.coerced(to: other) == field)
                } else {
                    #expect(refusal { try field.coerced(to: other) } != nil, "\(type) as \(other)")
                }
            }
        }
    }

    @Test("strict: a timestamp without its type is refused, in Apple's words")
    func strict() throws {
        let field = try wireField(#"{"value":5}"#)
        let error = refusal { try field.coerced(to: .timestamp, isStrict: true) }
        #expect(error?.reason.hasPrefix("Invalid value, expected type TIMESTAMP") == true)
    }

    @Test("a field without a value stays")
    func null() throws {
        let field = WireField(name: "f", value: nil, type: nil)
        #expect(try field.coerced(to: .int64) == field)
    }
}
