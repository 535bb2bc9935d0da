import RecordModel
import Testing

/// A JSON merge patch on the text of a record.
@Suite("Merge patches")
struct PatchingTests {
    private static let noteSchema = schema(
        ("title", .string), ("n", .int64), ("at", .timestamp), ("photo", .asset), ("more", .json))

    private func patched(_ record: String, _ patch: String) throws -> String {
        text(
            try document(record, Self.noteSchema).patched(
                try JSONParser.parse(bytes(patch)), schema: Self.noteSchema))
    }

    private let record = """
        {
          "title" : "Soup",   "n":1,
          "more": {"a": {"b": 1, "c": [1, 2]}, "d": null}, "$parent": "book"
        }

        """

    @Test("a member of the patch is replaced, added or removed, and all other bytes stay")
    func members() throws {
        #expect(
            try patched(record, #"{"title": "Stew"}"#)
                == record.replacing("\"Soup\"", with: "\"Stew\""))
        #expect(try patched(record, #"{"n": 1, "title": "Soup"}"#) == record)
        #expect(try patched(record, "{}") == record)
        #expect(try patched(record, #"{"n": null}"#) == record.replacing("\"n\":1,\n  ", with: ""))
        #expect(try patched(record, #"{"$parent": "shelf"}"#).contains(#""$parent": "shelf""#))
        #expect(!(try patched(record, #"{"$parent": null}"#).contains("$parent")))
        #expect(
            try patched(#"{"ok":1,"x": 2.5}"#, #"{"ok": true, "x": 2.50, "d": 1e3}"#)
                == #"{"ok":1,"x": 2.5,"d": 1e3}"#,
            "equal values keep their form, others have theirs")
        #expect(try patched(#"{"ok": 0}"#, #"{"ok": true}"#) == #"{"ok": true}"#)
        let added = try patched(record, #"{"at": "2026-11-30T10:00:00Z", "new": [true]}"#)
        let document = try document(added, Self.noteSchema)
        #expect(document["at"]?.type == .timestamp && document["new"] == .list([.int64(1)]))
    }

    @Test(
        "members of nested JSON are merged as RFC 7396 says",
        arguments: [
            (#"{"more": {"a": {"b": 2}}}"#, #"{"a":{"b":2,"c":[1,2]},"d":null}"#),
            (#"{"more": {"a": {"c": null}}}"#, #"{"a":{"b":1},"d":null}"#),
            (#"{"more": {"a": null}}"#, #"{"d":null}"#),
            (
                #"{"more": {"e": {"f": null, "g": 1}}}"#,
                #"{"a":{"b":1,"c":[1,2]},"d":null,"e":{"g":1}}"#
            ),
            (#"{"more": {"a": {"c": [3]}}}"#, #"{"a":{"b":1,"c":[3]},"d":null}"#),
            (#"{"more": [1]}"#, "[1]"),
        ])
    func nested(patch: String, expected: String) throws {
        let result = try document(try patched(record, patch), Self.noteSchema)
        #expect(
            try JSONParser.parse(result.text)["more"]
                == JSONParser.parse(bytes(expected)))
    }

    @Test(
        "a value of another type than the field's is refused, as is the end of a field with a file")
    func refusals() throws {
        func code(_ record: String, _ patch: String) -> RecordError.Code? {
            do {
                _ = try patched(record, patch)
                return nil
            } catch {
                #expect((error as? RecordError)?.position == nil)
                return (error as? RecordError)?.code
            }
        }
        #expect(code(record, #"{"n": "many"}"#) == .schemaMismatch)
        #expect(code(record, #"{"$other": 1}"#) == .invalidRecord)
        #expect(code(record, "[1]") == .invalidRecord)
        #expect(code(#"{"photo": "r@photo.jpg"}"#, #"{"photo": null}"#) == .unsupported)
    }

    @Test("the first member with another value is named")
    func conditions() throws {
        let document = try document(record, Self.noteSchema)
        func first(_ expected: String) throws -> FieldName? {
            try document.firstMember(
                unlike: try JSONParser.parse(bytes(expected)), schema: Self.noteSchema)
        }
        #expect(try first(#"{"title": "Soup", "n": 1, "at": null, "$parent": "book"}"#) == nil)
        #expect(try first(#"{"title": "Soup", "n": 2}"#) == "n")
        #expect(try first(#"{"n": null}"#) == "n")
        #expect(try first(#"{"at": "2026-11-30T10:00:00Z"}"#) == "at")
        #expect(try first(#"{"$parent": null}"#) == .parent)
    }
}

/// Guesses at mistyped words.
@Suite("Spelling")
struct SpellingTests {
    @Test(
        "the nearest word is guessed, when it is near enough",
        arguments: [
            ("servigns", "servings"), ("Title", "title"), ("titel", "title"), ("tilte", "title"),
            ("tags", "tagg"), ("tag", "tagg"), ("description", ""), ("", ""), ("title", ""),
        ])
    func guess(word: String, meant: String) {
        let guess = Spelling.guess(word, among: ["servings", "title", "tagg"])
        #expect(guess ?? "" == meant)
    }
}
