import RecordModel
import Testing

/// The texts of records where a model gives their fields other names and forms.
@Suite("Members of a text that a model names")
struct MemberMappingTests {
    private static let mapping = MemberMapping(
        entity: "Book",
        members: [
            .init("title", field: "CD_title", type: .string),
            .init("isRead", field: "CD_isRead", type: .int64, form: .boolean),
            .init("price", field: "CD_price", type: .double, form: .decimal),
            .init("added", field: "CD_added", type: .timestamp),
            .init("cover", field: "CD_cover", type: .bytes),
            .init("id", field: "CD_id", type: .string, form: .uuid),
            .init("shelf", field: "CD_shelf", type: .string),
        ], constant: RecordField(name: "CD_entityName", value: .string("Book")))

    private let plain = RecordSchema(
        fields: Self.mapping.members.map { .init(name: $0.field, type: $0.type) }
            + [.init(name: "CD_entityName", type: .string), .init(name: "other", type: .int64)])
    private var mapped: RecordSchema {
        var schema = plain
        schema.mapping = Self.mapping
        return schema
    }

    private let input = """
        {
          "title": "Soup", "isRead": true,
          "price": "12.50", "added": "2026-11-20T10:00:00.000Z", "cover": "AQI=",
          "id": "7b0c6d2e-4c0a-4b6e-9a55-0d3c1e2f4a5b", "shelf": null, "other": 1, "CD_new": "n"
        }

        """

    private func values(_ document: RecordDocument) -> [FieldName: FieldValue] {
        Dictionary(uniqueKeysWithValues: document.fields.map { ($0.name, $0.value) })
    }

    @Test("each form becomes the value of its field, and the entity is a field of each record")
    func reading() throws {
        #expect(
            values(try document(input, mapped)) == [
                "CD_title": .string("Soup"), "CD_isRead": .int64(1), "CD_price": .double(12.5),
                "CD_added": .timestamp(milliseconds: 1_795_168_800_000),
                "CD_cover": .bytes([1, 2]),
                "CD_id": .string("7B0C6D2E-4C0A-4B6E-9A55-0D3C1E2F4A5B"), "other": .int64(1),
                "CD_new": .string("n"), "CD_entityName": .string("Book"),
            ])
    }

    @Test("a text with the names of the fields has the same values")
    func fieldNames() throws {
        let printed = RecordDocument.print(try document(input, mapped).fields, parent: nil)
        let raw = try RecordDocument(parsing: printed, schema: mapped)
        #expect(values(raw) == values(try document(input, mapped)))
        #expect(raw.hasFieldNames)
        #expect(try !document(input, mapped).hasFieldNames)
    }

    @Test("values are printed in the forms of the model, and read back")
    func printing() throws {
        let fields = try document(input, mapped).fields
        let printed = RecordDocument.print(fields, parent: RecordName("p"), mapping: Self.mapping)
        #expect(
            text(printed) == """
                {
                  "$parent": "p",
                  "title": "Soup",
                  "isRead": true,
                  "price": "12.5",
                  "added": "2026-11-20T10:00:00.000Z",
                  "cover": "AQI=",
                  "id": "7B0C6D2E-4C0A-4B6E-9A55-0D3C1E2F4A5B",
                  "other": 1,
                  "CD_new": "n"
                }

                """)
        let again = try RecordDocument(parsing: printed, schema: mapped)
        #expect(again.fields == fields)
        #expect(again.isPrinted(after: nil))
    }

    @Test("a change of the other side replaces only its member, in the form of the model")
    func editing() throws {
        let source = try document(input, mapped)
        let changes: [(FieldName, FieldValue?)] = [
            ("CD_isRead", .int64(0)), ("CD_price", .double(3)), ("CD_shelf", .string("A")),
            ("CD_title", nil),
        ]
        let edited = source.replacing(changes)
        #expect(
            text(edited)
                == input.replacing("\"title\": \"Soup\", ", with: "")
                .replacing("true", with: "false").replacing("12.50", with: "3")
                .replacing("\"shelf\": null", with: "\"shelf\": \"A\""))
        let more: [(FieldName, FieldValue?)] = [
            ("CD_entityName", .string("Book")), ("CD_isRead", .int64(1)),
        ]
        let added = try document("{ }\n", mapped).replacing(more)
        #expect(
            values(try RecordDocument(parsing: added, schema: mapped))["CD_isRead"] == .int64(1))
        #expect(text(added).contains("\"isRead\": true"))
        #expect(!text(added).contains("entityName"))
    }

    @Test(
        "a value that the attribute cannot have is refused at its place",
        arguments: [
            (#"{"isRead": "yes"}"#, "\"isRead\" takes true or false, and this is a string"),
            (#"{"CD_isRead": "yes"}"#, "\"CD_isRead\" takes a whole number, and this is a string"),
            (
                #"{"title": {"$timestamp": "2026-11-20T10:00:00.000Z"}}"#,
                "\"title\" takes text in double quotes"
            ),
            (#"{"price": "12,50"}"#, "\"price\" takes a decimal number"),
            (#"{"price": "0.12345678901234567890"}"#, "\"price\" takes a decimal number"),
            (#"{"price": "1."}"#, "\"price\" takes a decimal number"),
            (#"{"added": "tomorrow"}"#, "field \"added\" takes a date"),
            (#"{"titel": "x"}"#, "Book has no \"titel\""),
            (#"{"title": "x", "CD_title": "y"}"#, "are one field"),
            (#"{"CD_title": "x", "title": "y"}"#, "are one field"),
            (#"{"CD_entityName": "Shelf"}"#, "objects of Book alone"),
        ])
    func refused(input: String, words: String) throws {
        do throws(RecordError) {
            _ = try RecordDocument(parsing: Array(input.utf8), schema: mapped)
            Issue.record("\(input) is read")
        } catch {
            #expect(error.message.contains(words))
            #expect(error.position != nil)
        }
    }

    @Test("a query names the members of the model, or the fields")
    func query() throws {
        let source = try document(input, mapped)
        for (term, isFound) in [
            ("title=Soup", true), ("CD_title=Soup", true), ("title=Stew", false),
            ("price>12", true),
            ("isRead", true), ("!shelf", true), ("isRead=true", true), ("isRead=false", false),
        ] {
            let query = try QueryExpression(parsing: Array(term.utf8), schema: mapped)
            let time = Timestamp(seconds: 0)
            #expect(
                query.matches(source, name: RecordName("B1"), created: time, modified: time)
                    == isFound, "\(term)")
        }
        #expect(throws: RecordError.self) {
            try QueryExpression(parsing: Array("titel=x".utf8), schema: mapped)
        }
    }

    private func rules(_ member: MemberMapping.Member) -> RecordSchema {
        var schema = RecordSchema.empty
        schema.mapping = MemberMapping(
            entity: "Book", members: [member],
            constant: RecordField(name: "CD_entityName", value: .string("Book")))
        return schema
    }

    @Test(
        "a save is checked against the rules of the model",
        arguments: [
            (FieldType.int64, MemberRule(minimum: 1, maximum: 9), "0", "is at least 1"),
            (.int64, MemberRule(minimum: 1, maximum: 9), "10", "is at most 9, and this is 10"),
            (.int64, MemberRule(minimum: 1, maximum: 9), "9", nil),
            (.double, MemberRule(maximum: 0.5), "0.75", "is at most 0.5"),
            (.string, MemberRule(minimumLength: 2), "\"a\"", "has at least 2 characters"),
            (.string, MemberRule(maximumLength: 2), "\"abc\"", "has at most 2 characters"),
            (.string, MemberRule(maximumLength: 2), "\"äö\"", nil),
            (.string, MemberRule(pattern: TextPattern("[0-9]+")), "\"12a\"", "matches the pattern"),
            (.string, MemberRule(pattern: TextPattern("\\d{3}-\\d+")), "\"123-4\"", nil),
            (.string, MemberRule(pattern: TextPattern(".{2}")), "\"äö\"", nil),
            (
                .string, MemberRule(pattern: TextPattern("(a+)+b")),
                "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
                "matches the pattern"
            ),
            (
                .timestamp, MemberRule(minimum: 978_307_200), "\"1999-01-01T00:00:00Z\"",
                "is at least 2001-01-01T00:00:00.000Z"
            ),
        ] as [(FieldType, MemberRule, String, String?)])
    func rules(type: FieldType, rule: MemberRule, value: String, problem: String?) throws {
        let schema = rules(.init("m", field: "CD_m", type: type, rule: rule))
        let source = try document("{ \"m\": \(value) }", schema)
        do throws(RecordError) {
            try source.checkRules(replacing: nil)
            #expect(problem == nil)
        } catch {
            #expect(error.message.contains(problem ?? "nothing"), "\(error)")
            #expect(error.position?.column == 8)
        }
        try source.checkRules(replacing: source)
    }

    @Test(
        "forms are checked at a save too",
        arguments: [
            (MemberMapping.Form.boolean, FieldType.int64, "2", "takes true or false"),
            (.uuid, .string, "\"7b0c6d2e\"", "takes a UUID"),
        ])
    func forms(form: MemberMapping.Form, type: FieldType, value: String, words: String) throws {
        let schema = rules(.init("m", field: "CD_m", type: type, form: form))
        let source = try document("{\"m\": \(value)}", schema)
        do throws(RecordError) {
            try source.checkRules(replacing: nil)
            Issue.record("\(value) is taken")
        } catch {
            #expect(error.message.contains(words))
        }
    }

    @Test(
        "patterns that POSIX does not have are not checked",
        arguments: [
            "(?=a)b", "a+?", "\\p{L}", "[a-z", "(a", "\\1(a)", "a{1001}", "(((a{40}){40}){40}){40}",
        ])
    func foreignPatterns(pattern: String) {
        #expect(TextPattern(pattern) == nil)
    }

    @Test(
        "decimal numbers that a double gives back are taken",
        arguments: ["0", "-0.0", "0.1", "1e3", "123456789012345", "0.00001", "-12.30", "1E-7"])
    func decimals(number: String) throws {
        let source = try document("{\"price\": \"\(number)\"}", mapped)
        #expect(source["CD_price"] == .double(try #require(Double(number))))
    }

    @Test("a text is translated to the plain form and back, and keeps its layout and fields")
    func translation() throws {
        let source = try document(input, mapped)
        let raw = try source.translated(to: plain, limits: .standard)
        let rawDocument = try RecordDocument(parsing: raw, schema: plain)
        #expect(values(rawDocument) == values(source))
        #expect(text(raw).hasPrefix("{\n  \"CD_title\": \"Soup\", \"CD_isRead\": 1,\n"))
        let back = try rawDocument.translated(to: mapped, limits: .standard)
        #expect(
            text(back)
                == input.replacing("12.50", with: "12.5").replacing(
                    "7b0c6d2e-4c0a-4b6e-9a55-0d3c1e2f4a5b",
                    with: "7B0C6D2E-4C0A-4B6E-9A55-0D3C1E2F4A5B"))
    }
}
