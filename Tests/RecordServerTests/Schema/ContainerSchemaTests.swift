import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

@Suite("Schemas of containers")
struct ContainerSchemaTests {
    private let development = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)
    private let note = RecordTypeName("Note")

    private func schema(_ text: String = "DEFINE SCHEMA") throws -> ContainerSchema {
        ContainerSchema(
            container: development, version: 4,
            document: try SchemaDocument(parsing: Array(text.utf8)))
    }

    private func field(
        _ name: String, _ value: WireValue?, _ type: FieldType?, isTagged: Bool = true,
        isEncrypted: Bool = false
    ) -> WireField {
        var field = WireField(
            name: FieldName(name), value: value, type: type, isEncrypted: isEncrypted)
        field.isTagged = isTagged
        return field
    }

    private func resolve(
        _ schema: ContainerSchema, _ fields: [WireField], type: String = "Note",
        in environment: ServerEnvironment = .development,
        settings: ServiceSettings = ServiceSettings(), opensNumbers: Bool = false
    ) throws -> (fields: [WireField], grown: ContainerSchema?) {
        try schema.resolve(
            type: RecordTypeName(type), fields: fields, environment: environment,
            settings: settings, opensNumbers: opensNumbers)
    }

    @Test("a new field of numbers takes whole ones and fractions, where a client asks for it")
    func openNumbers() throws {
        let fields = [
            field("p", .int64(1), .int64), field("q", .list([.double(0.5)]), .list(.double)),
            field("r", .string("s"), .string),
        ]
        let grown = try #require(try resolve(schema(), fields, opensNumbers: true).grown)
        let others = [
            field("p", .double(0.5), .double), field("q", .list([.int64(1)]), .list(.int64)),
        ]
        #expect(try resolve(grown, others).fields.map(\.value) == others.map(\.value))
        #expect(grown.type(note)?.field(FieldName("p"))?.number == .open)
        // A field that is there stays what it is.
        let plain = try #require(try resolve(schema(), fields).grown)
        #expect(refusal { _ = try resolve(plain, others, opensNumbers: true) }?.code == .badRequest)
    }

    private func refusal(_ body: () throws -> Void) -> ServerError? {
        #expect(throws: ServerError.self, performing: body)
    }

    @Test("a new type comes with all indexes, those of system fields and the usual grants")
    func newType() throws {
        let fields = [
            field("title", .string("x"), .string), field("done", .int64(1), .int64),
            field("photo", .asset(WireAsset(fileChecksum: "", size: 1)), .asset),
            field("tags", .list([.string("a")]), .list(.string)),
            field("secret", .string("x"), .string, isEncrypted: true),
        ]
        let grown = try #require(try resolve(try schema(), fields).grown)
        let expected = """
            DEFINE SCHEMA

                RECORD TYPE Note (
                    "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                    "___createdBy" REFERENCE QUERYABLE,
                    "___modTime" TIMESTAMP QUERYABLE SORTABLE,
                    "___modifiedBy" REFERENCE QUERYABLE,
                    "___recordID" REFERENCE QUERYABLE SORTABLE,
                    title STRING QUERYABLE SORTABLE SEARCHABLE,
                    done INT64 QUERYABLE SORTABLE,
                    photo ASSET,
                    tags LIST<STRING> QUERYABLE SEARCHABLE,
                    secret ENCRYPTED STRING,
                    GRANT WRITE TO "_creator",
                    GRANT CREATE TO "_icloud",
                    GRANT READ TO "_world"
                );

            """
        #expect(String(decoding: grown.document.print(), as: UTF8.self) == expected)
        let again = try resolve(grown, fields)
        #expect(again.grown == nil)
        #expect(again.fields.last?.isEncrypted == true)
    }

    @Test("a record without fields makes its type too")
    func emptyType() throws {
        let grown = try #require(try resolve(try schema(), []).grown)
        #expect(grown.type(note) != nil)
        #expect(try resolve(grown, []).grown == nil)
    }

    @Test("new fields are put behind the known ones; nulls and empty lists introduce nothing")
    func newFields() throws {
        let first = try #require(
            try resolve(try schema(), [field("a", .int64(1), .int64)]).grown)
        let result = try resolve(
            first,
            [
                field("z", .double(1.5), .double), field("b", nil, nil),
                field("e", .list([]), nil, isTagged: false), field("a", .int64(2), .int64),
            ])
        let fields = try #require(result.grown?.document.types.first?.fields)
        #expect(fields.filter { !$0.isSystem }.map(\.name.description) == ["a", "z"])
        // A null clears what may be there without a type.
        #expect(result.fields.map(\.name.description) == ["z", "b", "e", "a"])
    }

    @Test("known fields decide how values without a tag are read")
    func coercion() throws {
        let schema = try schema(
            """
            DEFINE SCHEMA RECORD TYPE Note (t TIMESTAMP, d DOUBLE, b BYTES, n NUMBER,
                p NUMBER PREFERRED AS INT64, ln LIST<NUMBER>, j JSON);
            """)
        let fields = try resolve(
            schema,
            [
                field("t", .int64(5_000), .int64, isTagged: false),
                field("d", .int64(5), .int64, isTagged: false),
                field("b", .string("AQI="), .string, isTagged: false),
                field("n", .int64(7), .int64), field("n", .double(7.5), .double),
                field("p", .int64(7), .int64), field("ln", .list([.int64(1)]), .list(.int64)),
                field("j", .string("{\"a\":[1]}"), .string), field("t", nil, nil),
            ]
        ).fields
        let values: [WireValue?] = [
            .timestamp(milliseconds: 5_000), .double(5), .bytes([1, 2]), .int64(7), .double(7.5),
            .int64(7), .list([.int64(1)]), .string("{\"a\":[1]}"), nil,
        ]
        #expect(fields.map(\.value) == values)
        let types: [FieldType?] = [
            .timestamp, .double, .bytes, .int64, .double, .int64, .list(.int64), .string, nil,
        ]
        #expect(fields.map(\.type) == types)
    }

    @Test("a value of another type is refused")
    func mismatch() throws {
        let schema = try schema(
            """
            DEFINE SCHEMA RECORD TYPE Note (i INT64, j JSON, e ENCRYPTED STRING,
                p NUMBER PREFERRED AS INT64, l LIST<STRING>);
            """)
        let wrong = [
            field("i", .string("x"), .string), field("i", .double(1.5), .double),
            field("j", .string("{"), .string), field("p", .double(1.5), .double),
            field("l", .string("x"), .string), field("i", .list([.int64(1)]), .list(.int64)),
            field("i", .int64(1), .int64, isEncrypted: true),
        ]
        for field in wrong {
            let error = refusal { _ = try resolve(schema, [field]) }
            #expect(error?.code == .badRequest)
            #expect(error?.reason.contains("\(field.name)") == true)
        }
        let sealed = try resolve(schema, [field("e", .string("x"), .string)]).fields
        #expect(sealed.first?.isEncrypted == true)
    }

    @Test("production has only what was deployed")
    func production() throws {
        let schema = try schema("DEFINE SCHEMA RECORD TYPE Note (a STRING);")
        let known = [field("a", .string("x"), .string), field("gone", nil, nil)]
        #expect(try resolve(schema, known, in: .production).grown == nil)
        let newField = refusal {
            _ = try resolve(schema, [field("x", .int64(1), .int64)], in: .production)
        }
        #expect(newField?.code == .badRequest)
        #expect(
            newField?.reason
                == "Cannot create or modify field 'x' in record 'Note' in production schema")
        let newType = refusal { _ = try resolve(schema, [], type: "Other", in: .production) }
        #expect(newType?.code == .badRequest)
        #expect(newType?.reason == "Cannot create new type Other in production schema")
    }

    @Test("names that the schema language cannot have are refused")
    func names() throws {
        for type in ["", "1a", "a b", "a.b", "Ä", "cloudkit.other", "a\"b"] {
            let error = refusal { _ = try resolve(try schema(), [], type: type) }
            #expect(error?.code == .badRequest)
        }
        for name in ["", "_a", "___recordID", "1", "a.b", "a-b", "a\"", "ä"] {
            let error = refusal {
                _ = try resolve(try schema(), [field(name, .int64(1), .int64)])
            }
            #expect(error?.code == .badRequest)
        }
    }

    @Test("a type has at most so many fields as the settings say")
    func fieldLimit() throws {
        var settings = ServiceSettings()
        settings.fieldsPerType = 2
        let two = [field("a", .int64(1), .int64), field("b", .int64(1), .int64)]
        let grown = try #require(try resolve(try schema(), two, settings: settings).grown)
        let error = refusal {
            _ = try resolve(grown, [field("c", .int64(1), .int64)], settings: settings)
        }
        #expect(error?.code == .limitExceeded)
        #expect(error?.reason.contains("at most 2") == true)
    }

    @Test("shares and users are known everywhere; apps can add fields to shares in development")
    func implicitTypes() throws {
        let title = field("cloudkit.title", .string("x"), .string)
        let own = field("topic", .string("x"), .string)
        let share = "cloudkit.share"
        #expect(try resolve(try schema(), [title], type: share, in: .production).grown == nil)
        #expect(try resolve(try schema(), [], type: "Users", in: .production).grown == nil)
        #expect(
            refusal { _ = try resolve(try schema(), [own], type: share, in: .production) } != nil)
        let grown = try #require(try resolve(try schema(), [own], type: share).grown)
        #expect(grown.type(.share)?.field(FieldName("cloudkit.title")) != nil)
        #expect(grown.type(.share)?.field(FieldName("topic")) != nil)
        #expect(try SchemaDocument(parsing: grown.document.print()) == grown.document)
    }

    @Test("however often it grows in one transaction, a schema gets one new version")
    func versions() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        let container = development
        let fields = [field("a", .int64(1), .int64), field("b", .int64(1), .int64)]
        let versions = try await storage.write { transaction throws(ServerError) in
            var versions: [Int64] = []
            for field in fields {
                var schema = try ContainerSchema.current(container, transaction)
                for name in ["One", "Two"] {
                    let resolved = try schema.resolve(
                        type: RecordTypeName(name), fields: [field], environment: .development,
                        settings: ServiceSettings())
                    schema = resolved.grown ?? schema
                }
                try schema.save(transaction)
                versions.append(try ContainerSchema.current(container, transaction).version)
            }
            return versions
        }
        #expect(versions == [1, 2])
    }

    @Test("two storages in one process do not see each other's schemas")
    func cache() async throws {
        let container = development
        for name in ["A", "B"] {
            let storage = try SQLiteStorage.open(path: nil)
            let text = Array("DEFINE SCHEMA RECORD TYPE \(name) ();".utf8)
            let known = try await storage.write { transaction throws(ServerError) in
                try transaction.putSchema(container, SchemaRow(version: 1, text: text))
                let schema = try ContainerSchema.current(container, transaction)
                return schema.type(RecordTypeName(name)) != nil
            }
            #expect(known)
        }
    }

    @Test("grants: what is written counts, the usual ones where nothing is")
    func grants() throws {
        let schema = try schema(
            """
            DEFINE SCHEMA CREATE ROLE editor;
            RECORD TYPE Usual (a STRING);
            RECORD TYPE Own (a STRING, GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud");
            RECORD TYPE Edited (a STRING, GRANT READ TO "_icloud", GRANT WRITE, CREATE TO editor);
            """)
        let world: Set<String> = ["_world"]
        let user: Set<String> = ["_world", "_icloud"]
        let editor = user.union(["editor"])
        func rights(_ type: String, _ roles: Set<String>, isCreator: Bool = false) -> String {
            SchemaPermission.allCases.filter {
                schema.allows(
                    $0, type: RecordTypeName(type), roles: roles, isCreator: isCreator)
            }.map(\.rawValue).joined(separator: " ")
        }
        #expect(rights("Usual", world) == "READ")
        #expect(rights("Usual", user) == "READ CREATE")
        #expect(rights("Usual", user, isCreator: true) == "READ CREATE WRITE")
        #expect(rights("Own", world) == "")
        #expect(rights("Own", user) == "CREATE")
        #expect(rights("Own", user, isCreator: true) == "READ CREATE WRITE")
        #expect(rights("Edited", world) == "")
        #expect(rights("Edited", user, isCreator: true) == "READ")
        #expect(rights("Edited", editor) == "READ CREATE WRITE")
        #expect(rights("Users", user) == "READ")
        #expect(rights("New", user) == "READ CREATE")
    }

    @Test("roles: everybody, users, and those given")
    func roles() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        let container = development
        let user = UserRow(
            name: UserName("_u"), emailAddress: "u@example.org", passwordHash: "",
            createdMilliseconds: 0)
        let roles = try await storage.write { transaction throws(ServerError) in
            try transaction.putUser(user)
            try transaction.putRoles(container, of: user.name, ["editor", "_creator"])
            return [
                try ContainerSchema.roles(of: .anonymous, in: container, transaction),
                try ContainerSchema.roles(of: .user(user), in: container, transaction),
            ]
        }
        #expect(roles == [["_world"], ["_world", "_icloud", "editor"]])
    }

    @Test("index entries: values, elements, words, and the stamps of the record")
    func entries() throws {
        let schema = try schema(
            """
            DEFINE SCHEMA RECORD TYPE Note ("___modTime" TIMESTAMP SORTABLE,
                "___modifiedBy" REFERENCE QUERYABLE, "___recordID" REFERENCE QUERYABLE,
                title STRING SORTABLE SEARCHABLE, plain STRING, tags LIST<STRING> QUERYABLE);
            """)
        let stamp = WriteStamp(milliseconds: 9, user: UserName("_u"), device: "")
        let record = StoredRecord(
            name: RecordName("n"), type: note, tag: 1, position: 1, fields: [], created: stamp,
            modified: stamp)
        let entries = schema.indexEntries(
            record,
            fields: [
                field("title", .string("Two words"), .string),
                field("plain", .string("x"), .string),
                field("tags", .list([.string("a"), .string("a"), .string("b")]), .list(.string)),
                field("unknown", .string("x"), .string),
            ])
        let found = entries.map { entry in
            "\(entry.field) \(entry.kind) \(entry.kind == .value && entry.key.count == 8 ? "" : String(decoding: entry.key, as: UTF8.self))"
        }
        #expect(
            Set(found) == [
                "title value Two words", "title token two", "title token words",
                "tags element a", "tags element b", "___modTime value ",
            ])
        #expect(found.count == 6)
    }
}
