import RecordModel
import Testing

@Suite("Comparing records")
struct RecordComparisonTests {
    @Test("layout, order, spelling of doubles and nulls do not make other values")
    func same() throws {
        let known = schema(("p", .double), ("t", .timestamp))
        let left = try document(
            #"{"a": 1, "p": 1.0, "t": "1970-01-01T00:00:00Z", "s": "\u00e9"}"#, known)
        let right = try document(
            """
            {
              "s": "é", "nothing": null, "t": {"$timestamp": "1970-01-01T01:00:00.000+01:00"},
              "p": 1, "a": 1
            }
            """, known)
        #expect(left.hasSameValues(as: right))
        #expect(left.changedFields(from: right).isEmpty)
    }

    @Test("added, changed and removed fields and the parent are named")
    func changes() throws {
        let old = try document(#"{"a": 1, "b": 2, "c": 3, "$parent": "x"}"#)
        let new = try document(#"{"d": 4, "a": 1, "c": 5}"#)
        #expect(!new.hasSameValues(as: old))
        #expect(new.changedFields(from: old) == ["d", "c", "b", .parent])
        #expect(new.changedFields(from: nil) == ["d", "a", "c"])
    }

    @Test("1 and 1.0, NFC and NFD, a text and its asset are other values")
    func different() throws {
        for (left, right) in [
            (#"{"a": 1}"#, #"{"a": 1.0}"#), ("{\"a\": \"\u{E9}\"}", "{\"a\": \"e\u{301}\"}"),
            (#"{"a": "x"}"#, #"{"a": {"$asset": "n@a.txt"}}"#), (#"{"a": [1]}"#, #"{"a": [1, 1]}"#),
            (#"{"a": {"b": 1}}"#, #"{"a": {"b": 2}}"#),
        ] {
            #expect(try !document(left).hasSameValues(as: document(right)), "\(left) \(right)")
        }
    }

    @Test("assets are the same by hash and ending when both know them, else by name and size")
    func assets() {
        let one = ContentHash(hex: SHA256.hash([1]).hex)
        let two = ContentHash(hex: SHA256.hash([2]).hex)
        let known = AssetValue(fileName: "a@x.png", size: 1, sha256: one)
        #expect(known.hasSameContent(as: AssetValue(fileName: "b@x.png", sha256: one)))
        #expect(!known.hasSameContent(as: AssetValue(fileName: "b@x.jpg", sha256: one)))
        #expect(!known.hasSameContent(as: AssetValue(fileName: "a@x.png", size: 1, sha256: two)))
        #expect(known.hasSameContent(as: AssetValue(fileName: "a@x.png", size: 1)))
        #expect(known.hasSameContent(as: AssetValue(fileName: "a@x.png")))
        #expect(!known.hasSameContent(as: AssetValue(fileName: "a@x.png", size: 2)))
        #expect(!known.hasSameContent(as: AssetValue(fileName: "b@x.png", size: 1)))
    }

    @Test("all texts can be searched, also in lists and JSON, and nothing else")
    func searchableText() throws {
        let record = try document(
            #"{"a": "one", "b": ["two", "three"], "c": {"k": ["four"]}, "d": {"$ref": "no"}}"#)
        #expect(record.searchableTexts == ["one", "two", "three", "four"])
    }

    @Test("100 000 fields are compared in no quadratic time")
    func manyFields() throws {
        let members = (0..<100_000).map { "\"k\($0)\":1" }
        // More than a server takes: of what came from elsewhere.
        let documents = try [members, members.reversed()].map { members in
            try RecordDocument(
                parsing: bytes("{\(members.joined(separator: ","))}"), schema: .empty,
                limits: .received)
        }
        #expect(documents[0].hasSameValues(as: documents[1]))
    }
}
