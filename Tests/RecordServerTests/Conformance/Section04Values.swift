import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: field values", .serialized) struct ConformanceSection4 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(table, lists, encrypted, numbers, times, shapes, names)

    /// A tag, a value, and a value of another kind, which the field refuses.
    private static let scalars: [(tag: String, value: JSONValue, wrong: JSONValue)] = [
        ("STRING", "x", 1), ("INT64", 7, "x"), ("DOUBLE", .fraction(0.5), "x"),
        ("TIMESTAMP", 1_767_225_600_000, "x"), ("BYTES", "AQID", "!"),
        ("LOCATION", ["latitude": 1, "longitude": 2], "x"),
        ("REFERENCE", ["recordName": "r", "action": "NONE"], 1),
    ]

    private static func field(_ value: JSONValue, _ tag: String?) -> JSONValue {
        let field: JSONValue = ["value": value]
        return tag.map { field.with("type", JSONValue($0)) } ?? field
    }

    /// Saves one field and gives it back as a lookup has it, or the item of the failure.
    private static func save(_ s: ConformanceScene, _ field: JSONValue, _ name: String = "f")
        async throws -> JSONValue
    {
        let fields: JSONValue = .object([JSONMember(key: Text(name), value: field)])
        let answer = try await s.modify(
            operation("forceUpdate", s.name("a"), type: s.type, fields))
        guard answer.results == ["saved"] else { return answer.at("records.0") }
        return try await s.record(s.name("a")).at("fields")[name] ?? .null
    }

    private static func table(_ rows: inout ConformanceRows) {
        for (tag, value, wrong) in scalars {
            rows.row("\(tag): the value comes back with the tag") { s in
                let saved = try await save(s, field(value, tag))
                #expect(saved.at("type") == JSONValue(tag))
                #expect(sameValue(saved.at("value"), value), "\(saved)")
            }
            rows.row("\(tag): without a tag by the schema") { s in
                _ = try await save(s, field(value, tag))
                let saved = try await save(s, field(value, nil))
                #expect(saved.at("type") == JSONValue(tag))
                #expect(sameValue(saved.at("value"), value), "\(saved)")
            }
            rows.row("\(tag): a value of another kind is BAD_REQUEST and names the field") { s in
                let refused = try await save(s, field(wrong, tag))
                #expect(refused.at("serverErrorCode") == "BAD_REQUEST")
                #expect(refused.at("reason").words.contains("fields.f"))
            }
        }
        for tag in ["ASSET", "ASSETID"] {
            rows.row("\(tag): the answer has ASSETID") { s in
                let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
                let saved = try await save(s, field(asset, tag), "photo")
                #expect(saved.at("type") == "ASSETID")
                #expect(saved.at("value.fileChecksum") == asset.at("fileChecksum"))
            }
        }
        for tag in ["ASSET_LIST", "ASSETID_LIST"] {
            rows.row("\(tag): the answer has ASSETID_LIST") { s in
                let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
                let saved = try await save(s, field([asset], tag), "photo")
                #expect(saved.at("type") == "ASSETID_LIST")
                #expect(saved.at("value.0.size") == 3)
            }
        }
    }

    private static func sameValue(_ saved: JSONValue, _ sent: JSONValue) -> Bool {
        guard let members = sent.object else { return saved == sent }
        return members.allSatisfy { member in
            let value = saved[member.key.string]
            return value == member.value
                || (value?.double != nil && value?.double == member.value.double)
        }
    }

    private static func lists(_ rows: inout ConformanceRows) {
        for (tag, value, wrong) in scalars {
            rows.row("\(tag)_LIST: elements without tags, in order") { s in
                let saved = try await save(s, field([value, value], tag + "_LIST"))
                #expect(saved.at("type") == JSONValue(tag + "_LIST"))
                #expect(saved.at("value").count == 2)
                #expect(sameValue(saved.at("value.1"), value), "\(saved)")
            }
            rows.row("\(tag)_LIST: an empty list keeps the tag, a mixed one is refused") { s in
                let empty = try await save(s, field([], tag + "_LIST"))
                #expect(empty == field([], tag + "_LIST"))
                let mixed = try await save(s, field([value, wrong], tag + "_LIST"))
                #expect(mixed.at("serverErrorCode") == "BAD_REQUEST")
            }
        }
        rows.row("LIST: a plain tag takes the elements as they are") { s in
            let saved = try await save(s, field(["a", "b"], "LIST"))
            #expect(saved == field(["a", "b"], "STRING_LIST"))
        }
        rows.row("lists may not mix types") { s in
            let mixed = try await save(s, field(["a", 1], nil))
            #expect(mixed.at("serverErrorCode") == "BAD_REQUEST")
        }
    }

    private static func encrypted(_ rows: inout ConformanceRows) {
        rows.row("ENCRYPTED_BYTES: the same tag in the answer") { s in
            let saved = try await save(s, field("AQID", "ENCRYPTED_BYTES"))
            #expect(saved.at("type") == "ENCRYPTED_BYTES")
            #expect(saved.at("value") == "AQID")
        }
        rows.row("isEncrypted: a tag with the mark") { s in
            let saved = try await save(s, field("x", "STRING").with("isEncrypted", true))
            #expect(saved == field("x", "STRING").with("isEncrypted", true))
        }
    }

    private static func numbers(_ rows: inout ConformanceRows) {
        rows.row("INT64: a string with numbersAsStrings, both ways") { s in
            _ = try await save(s, field(7, "INT64"))
            let record = try await s.record(s.name("a"), ["numbersAsStrings": true])
            #expect(record.at("fields.f") == field("7", "INT64"))
            #expect(
                try await save(s, field("9223372036854775807", "INT64"))
                    == field(9_223_372_036_854_775_807, "INT64"))
        }
        rows.row("NUMBER_INT64, NUMBER_DOUBLE: synonyms") { s in
            #expect(try await save(s, field(7, "NUMBER_INT64")) == field(7, "INT64"))
            let saved = try await save(s, field(7, "NUMBER_DOUBLE"), "g")
            #expect(saved.at("type") == "DOUBLE")
        }
        rows.row("no Boolean on the wire: true and false are INT64 1 and 0") { s async throws in
            #expect(try await save(s, field(true, nil)) == field(1, "INT64"))
            #expect(try await save(s, field(false, nil)) == field(0, "INT64"))
        }
    }

    private static func times(_ rows: inout ConformanceRows) {
        rows.row("TIMESTAMP: fractions are rounded") { s in
            let fraction = JSONValue.fraction(1_767_225_600_000.6)
            #expect(
                try await save(s, field(fraction, "TIMESTAMP"))
                    == field(1_767_225_600_001, "TIMESTAMP"))
            let place: JSONValue = ["latitude": 1, "longitude": 2, "timestamp": fraction]
            let saved = try await save(s, field(place, "LOCATION"), "g")
            #expect(saved.at("value.timestamp") == 1_767_225_600_001)
        }
        rows.row("TIMESTAMP: strict mode refuses fractions, also of a location") { s in
            let server = try await s.own { $0.service.isStrict = true }
            let strict = ConformanceScene(server: server, number: s.number)
            try await server.makeZone(strict.zone)
            let fraction = JSONValue.fraction(0.5)
            let place: JSONValue = ["latitude": 1, "longitude": 2, "timestamp": fraction]
            for value in [field(fraction, "TIMESTAMP"), field(place, "LOCATION")] {
                let refused = try await save(strict, value)
                #expect(refused.at("serverErrorCode") == "BAD_REQUEST")
            }
        }
        for milliseconds in [-62_135_596_800_000, -62_135_769_600_000] as [Int64] {
            rows.row("TIMESTAMP: \(milliseconds), not set, is kept") { s async throws in
                let value = field(JSONValue(milliseconds), "TIMESTAMP")
                #expect(try await save(s, value) == value)
            }
        }
    }

    private static func shapes(_ rows: inout ConformanceRows) {
        rows.row("IN and NOT_IN: with a list") { s in
            _ = try await save(s, field("x", "STRING"))
            for (comparator, count) in [("IN", 1), ("NOT_IN", 0)] {
                let filter: JSONValue = [
                    "comparator": JSONValue(comparator), "fieldName": "f",
                    "fieldValue": field(["x", "y"], "STRING_LIST"),
                ]
                #expect(try await s.query(filter).names.count == count)
                let scalar: JSONValue = [
                    "comparator": JSONValue(comparator), "fieldName": "f",
                    "fieldValue": field("x", "STRING"),
                ]
                #expect(try await s.query(scalar).code == "BAD_REQUEST")
            }
        }
        rows.row("null: clears the field in an update") { s in
            _ = try await save(s, field("x", "STRING"))
            #expect(try await save(s, field(.null, "STRING")) == .null)
            #expect(try await s.record(s.name("a")).at("fields") == [:])
        }
        rows.row("type: an unknown tag is BAD_REQUEST") { s in
            let refused = try await save(s, field("x", "TEXT"))
            #expect(refused.at("serverErrorCode") == "BAD_REQUEST")
        }
        rows.row("type: another type than the schema has is BAD_REQUEST") { s in
            _ = try await save(s, field("x", "STRING"))
            let refused = try await save(s, field(1, "INT64"))
            #expect(refused.at("serverErrorCode") == "BAD_REQUEST")
        }
    }

    private static func names(_ rows: inout ConformanceRows) {
        rows.row("field names: letter first, then letters, digits, underscore") { s in
            let good = try await save(s, field("x", "STRING"), "aZ_9")
            #expect(good == field("x", "STRING"))
            for name in ["9a", "_a", "a-b", "a b", "", "é", "___recordID"] {
                let refused = try await save(s, field("x", "STRING"), name)
                #expect(refused.at("serverErrorCode") == "BAD_REQUEST", "\(name)")
            }
        }
    }
}
