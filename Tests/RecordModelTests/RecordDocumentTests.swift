import RecordModel
import Testing

@Suite("Reading a record's file")
struct RecordDocumentTests {
    @Test("every kind of value is read from its tag or its form")
    func kinds() throws {
        let record = try document(Samples.rich)
        #expect(record["title"] == .string("Käse-Suppe 😀 \"hot\""))
        #expect(record["servings"] == .int64(-42))
        #expect(record["price"] == .double(15))
        #expect(record["vegan"] == .int64(1))
        #expect(record["nothing"] == nil)
        #expect(record["tags"] == .list([.string("a"), .string("b\n")]))
        #expect(record["ratings"] == .list([.double(1), .double(2.5), .double(-3)]))
        #expect(record["made"] == .timestamp(milliseconds: 1_795_168_800_000))
        #expect(record["thumb"] == .bytes([0, 1, 2, 255]))
        var place = try #require(Location(latitude: 48.1, longitude: -11.5))
        place.altitude = 300
        #expect(record["place"] == .location(place))
        #expect(
            record["author"]
                == .reference(
                    Reference(
                        name: RecordName("me"), zone: ZoneName("People"), action: .deleteSelf)))
        #expect(record["photo"] == .asset(AssetValue(fileName: "soup@photo.png", size: 12345)))
        #expect(
            record["steps"] == .json(["one": [1, "two", ["three": []]], "four": nil]))
        #expect(record["mixed"] == .json([1, "a", nil]))
        #expect(record["none"] == .list([]))
        #expect(record.parent == RecordName("cookbook"))
        #expect(record.fields.count == 14)
        #expect(record.fields.first?.name == "title")
        #expect(record.text == bytes(Samples.rich))
    }

    @Test("once the schema knows the type, plain values are read as it")
    func plainValues() throws {
        let known = schema(
            ("made", .timestamp), ("price", .double), ("thumb", .bytes), ("author", .reference),
            ("photo", .asset), ("place", .location), ("any", .json), ("days", .list(.timestamp)),
            ("prices", .list(.double)), ("flag", .int64), ("none", .list(.string)))
        let record = try document(
            """
            {"made": "2026-11-20T10:00:00.000Z", "price": 5, "thumb": "AAEC", "author": "me",
             "photo": "x@photo.png", "place": {"latitude": 1, "longitude": 2.5}, "any": "text",
             "days": ["1970-01-01T00:00:00Z", {"$timestamp": "1970-01-01T00:00:01Z"}],
             "prices": [1, 2.5], "flag": false, "none": []}
            """, known)
        #expect(record["made"] == .timestamp(milliseconds: 1_795_168_800_000))
        #expect(record["price"] == .double(5))
        #expect(record["thumb"] == .bytes([0, 1, 2]))
        #expect(record["author"] == .reference(Reference(name: RecordName("me"))))
        #expect(record["photo"] == .asset(AssetValue(fileName: "x@photo.png")))
        #expect(record["place"] == Location(latitude: 1, longitude: 2.5).map { .location($0) })
        #expect(record["any"] == .json("text"))
        #expect(
            record["days"] == .list([.timestamp(milliseconds: 0), .timestamp(milliseconds: 1000)]))
        #expect(record["prices"] == .list([.double(1), .double(2.5)]))
        #expect(record["flag"] == .int64(0))
        #expect(record["none"] == .list([]))
    }

    @Test("a long STRING or BYTES may stand as an asset")
    func longValues() throws {
        let known = schema(("story", .string), ("scan", .bytes))
        let record = try document(
            #"{"story": {"$asset": "x@story.txt"}, "scan": {"$asset": "x@scan", "size": 9}}"#,
            known)
        #expect(record["story"] == .asset(AssetValue(fileName: "x@story.txt")))
        #expect(known.adopting(record) == nil)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let input: String
        let code: RecordError.Code
        let column: Int
        let message: String
        var testDescription: String { input }
        init(_ input: String, _ code: RecordError.Code, _ column: Int, _ message: String) {
            (self.input, self.code, self.column, self.message) = (input, code, column, message)
        }
    }

    static let known = schema(
        ("count", .int64), ("price", .double), ("title", .string), ("made", .timestamp),
        ("thumb", .bytes), ("place", .location), ("author", .reference), ("photo", .asset),
        ("tags", .list(.string)), ("any", .json), ("days", .list(.timestamp))
    ).declared

    static let shapes = [
        Refused("[]", .invalidRecord, 1, "a record is an object in { }, and this is an array"),
        Refused(" null", .invalidRecord, 2, "this is null"),
        Refused("\"x\"", .invalidRecord, 1, "this is a string"),
        Refused("[1,", .invalidJSON, 4, "expected a value"),
        Refused(#"{"$id": 1}"#, .invalidRecord, 2, "\"$id\" is no name of a field"),
        Refused(#"{"_system": 1}"#, .invalidRecord, 2, "a field's name is a letter"),
        Refused(#"{"__proto__": 1}"#, .invalidRecord, 2, "a field's name"),
        Refused(#"{"1a": 1}"#, .invalidRecord, 2, "a field's name"),
        Refused(#"{"": 1}"#, .invalidRecord, 2, "a field's name"),
        Refused(#"{"a-b": 1}"#, .invalidRecord, 2, "a field's name"),
        Refused(#"{"ä": 1}"#, .invalidRecord, 2, "a field's name"),
        Refused(#"{"$parent": 1}"#, .invalidRecord, 13, "\"$parent\" takes the name"),
        Refused(#"{"$parent": ""}"#, .invalidRecord, 13, "this is empty"),
        Refused(#"{"x": {"$date": 1}}"#, .invalidRecord, 8, "unknown key \"$date\" in field \"x\""),
        Refused(
            #"{"x": {"$ref": "a", "b": 1}}"#, .invalidRecord, 21,
            "unknown key \"b\" beside \"$ref\""),
        Refused(
            #"{"x": {"$ref": "a", "$bytes": ""}}"#, .invalidRecord, 21, "unknown key \"$bytes\""),
        Refused(#"{"x": {"a": {"$ref": "b"}}}"#, .invalidRecord, 14, "inside a JSON value"),
        Refused(#"{"x": [1, {"$ref": "b"}]}"#, .invalidRecord, 12, "inside a JSON value"),
        Refused(
            #"{"x": [{"$ref": "b"}, {"$bytes": ""}]}"#, .invalidRecord, 9, "inside a JSON value"),
    ]

    static let tags = [
        Refused(#"{"x": {"$ref": 1}}"#, .invalidRecord, 16, "takes a string"),
        Refused(#"{"x": {"$ref": ""}}"#, .invalidRecord, 16, "names no record"),
        Refused(
            #"{"x": {"$ref": "a", "action": "DROP"}}"#, .invalidRecord, 31,
            "write NONE, DELETE_SELF or VALIDATE"),
        Refused(#"{"x": {"$ref": "a", "zone": 7}}"#, .invalidRecord, 29, "\"zone\" takes a string"),
        Refused(#"{"x": {"$timestamp": 5}}"#, .invalidRecord, 22, "takes a date like"),
        Refused(#"{"x": {"$timestamp": "yesterday"}}"#, .invalidRecord, 22, "takes a date like"),
        Refused(#"{"x": {"$bytes": "a b="}}"#, .invalidRecord, 18, "base 64"),
        Refused(
            #"{"x": {"$location": {"latitude": 91, "longitude": 0}}}"#, .invalidRecord, 34,
            "a number from -90 to 90"),
        Refused(
            #"{"x": {"$location": {"latitude": 1, "longitude": -180.5}}}"#, .invalidRecord, 50,
            "a number from -180 to 180"),
        Refused(
            #"{"x": {"$location": {"latitude": 1}}}"#, .invalidRecord, 21, "lacks \"longitude\""),
        Refused(#"{"x": {"$location": 1}}"#, .invalidRecord, 21, "takes an object"),
        Refused(
            #"{"x": {"$location": {"latitude": 1, "longitude": 1, "planet": 1}}}"#, .invalidRecord,
            53, "unknown key \"planet\""),
        Refused(#"{"x": {"$asset": "../../etc/passwd"}}"#, .invalidRecord, 18, "beside the record"),
        Refused(#"{"x": {"$asset": "/etc/passwd@x"}}"#, .invalidRecord, 18, "beside the record"),
        Refused(#"{"x": {"$asset": "a/../b@x.png"}}"#, .invalidRecord, 18, "beside the record"),
        Refused(
            #"{"x": {"$asset": "https://example.org/a@x.png"}}"#, .invalidRecord, 18,
            "addresses are not followed"),
        Refused(#"{"x": {"$asset": "photo.png"}}"#, .invalidRecord, 18, "NAME@x.EXT"),
        Refused(#"{"x": {"$asset": ".a@x.png"}}"#, .invalidRecord, 18, "beside the record"),
        Refused(#"{"x": {"$asset": "a@x.p\n"}}"#, .invalidRecord, 18, "beside the record"),
        Refused(#"{"x": {"$asset": "a@x", "size": -1}}"#, .invalidRecord, 33, "number of bytes"),
        Refused(#"{"x": {"$asset": "a@x", "sha256": "1"}}"#, .invalidRecord, 35, "64 hexadecimal"),
    ]

    static let mismatches = [
        Refused(
            #"{"count": 1.5}"#, .schemaMismatch, 11,
            "field \"count\" is INT64 in the schema, and this is a fraction; write a whole number"),
        Refused(#"{"count": 5.0}"#, .schemaMismatch, 11, "development.ckdb"),
        Refused(#"{"count": "5"}"#, .schemaMismatch, 11, "this is a string"),
        Refused(#"{"price": "5"}"#, .schemaMismatch, 11, "is DOUBLE in the schema"),
        Refused(#"{"price": true}"#, .schemaMismatch, 11, "this is true"),
        Refused(#"{"title": 5}"#, .schemaMismatch, 11, "write text in double quotes"),
        Refused(#"{"title": {"$ref": "a"}}"#, .schemaMismatch, 11, "this is REFERENCE"),
        Refused(#"{"count": {"$asset": "a@count"}}"#, .schemaMismatch, 11, "this is ASSET"),
        Refused(#"{"made": 1795168800000}"#, .schemaMismatch, 10, "write a date like"),
        Refused(#"{"made": "soon"}"#, .schemaMismatch, 10, "takes a date like"),
        Refused(#"{"place": [1, 2]}"#, .schemaMismatch, 11, "$location"),
        Refused(#"{"place": {"latitude": 100, "longitude": 2}}"#, .invalidRecord, 24, "latitude"),
        Refused(#"{"author": {"name": "x"}}"#, .schemaMismatch, 12, "$ref"),
        Refused(#"{"photo": "../x"}"#, .invalidRecord, 11, "beside the record"),
        Refused(#"{"tags": "a"}"#, .schemaMismatch, 10, "is LIST<STRING> in the schema"),
        Refused(#"{"tags": ["a", 1]}"#, .schemaMismatch, 16, "is STRING in the schema"),
        Refused(#"{"tags": ["a", null]}"#, .schemaMismatch, 16, "cannot hold null"),
        Refused(#"{"tags": [{"$asset": "a@tags.0.txt"}]}"#, .schemaMismatch, 11, "asset"),
        Refused(#"{"tags": ["a", ["b"]]}"#, .schemaMismatch, 16, "is STRING in the schema"),
        Refused(#"{"any": {"$ref": "a"}}"#, .schemaMismatch, 9, "is JSON in the schema"),
        Refused(#"{"any": {"a": [{"$b": 1}]}}"#, .invalidRecord, 17, "inside a JSON value"),
        Refused(#"{"days": ["1970-01-01T00:00:00Z", 1]}"#, .schemaMismatch, 35, "TIMESTAMP"),
    ]

    @Test(
        "what is no record is refused with its place and what to write instead",
        arguments: shapes + tags + mismatches)
    func refuses(_ refused: Refused) {
        let error = refusal { try document(refused.input, Self.known) }
        #expect(error?.code == refused.code)
        #expect(error?.position?.column == refused.column)
        let message = error?.message ?? ""
        #expect(message.contains(refused.message), "\(message)")
    }

    @Test("a field name has at most 255 bytes")
    func longKeys() throws {
        _ = try document("{\"\(String(repeating: "k", count: 255))\": 1}")
        let error = refusal { try document("{\"\(String(repeating: "k", count: 256))\": 1}") }
        #expect(error?.code == .invalidRecord)
    }

    @Test("an error deep in a list or location points at the very value")
    func nestedPositions() {
        let error = refusal {
            try document("{\n \"a\": 1,\n \"tags\": [\n  \"x\\\"]\",\n  [3]\n ]\n}", Self.known)
        }
        #expect(error?.position == TextPosition(line: 5, column: 3, offset: 34))
    }

    @Test("a byte order mark and CR LF are accepted and stay in the text")
    func byteOrderMark() throws {
        let text = [0xEF, 0xBB, 0xBF] + bytes("{\r\n  \"a\": 1\r\n}\r\n")
        let record = try RecordDocument(parsing: text, schema: .empty)
        #expect(record.text == text)
        #expect(record["a"] == .int64(1))
    }

    @Test("a reference may name its own record, and names that are no UTF-8 cannot occur")
    func references() throws {
        let record = try document(#"{"me": {"$ref": "a/b %", "action": "VALIDATE", "zone": null}}"#)
        #expect(
            record["me"] == .reference(Reference(name: RecordName("a/b %"), action: .validate)))
    }

    @Test("hashes are accepted in either case and kept in lower case")
    func hashes() throws {
        let hex = SHA256.hash([]).hex
        let record = try document(
            "{\"x\": {\"sha256\": \"\(hex.uppercased())\", \"$asset\": \"a@x\"}}")
        #expect(
            record["x"] == .asset(AssetValue(fileName: "a@x", sha256: ContentHash(hex: hex))))
    }
}
