import HTTPTypes
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Schema endpoints", .everyTransport)
struct SchemaEndpointTests {
    private static let text = """
        DEFINE SCHEMA

            CREATE ROLE editor;

            RECORD TYPE Note (
                "___recordID" REFERENCE QUERYABLE,
                title STRING,
                n INT64 QUERYABLE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

        """

    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.changeUser(.alice) { $0.isAdministrator = true }
        return server
    }

    private func call(
        _ endpoint: Endpoint, _ server: TestServer, environment: ServerEnvironment = .development
    ) async throws -> TestServer.Answer {
        try await server.call(endpoint, .public, as: .alice, environment: environment)
    }

    private func send(
        _ endpoint: Endpoint, _ text: String, _ server: TestServer,
        environment: ServerEnvironment = .development
    ) async throws -> TestServer.Answer {
        try await server.call(
            endpoint, .public, as: .alice, ["schema": .string(Text(text))],
            environment: environment)
    }

    private func save(
        _ name: String, _ fields: JSONValue, _ server: TestServer, type: String = "Note",
        scope: DatabaseScope = .private, environment: ServerEnvironment = .development
    ) async throws -> JSONValue {
        let answer = try await server.call(
            .recordsModify, scope, as: .alice,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": .string(Text(name)), "recordType": .string(Text(type)),
                            "fields": fields,
                        ],
                    ]
                ]
            ], environment: environment)
        return answer.json["records"]?.array?.first ?? answer.json
    }

    private func find(
        _ filter: JSONValue, _ server: TestServer, environment: ServerEnvironment = .development
    ) async throws -> [String] {
        let answer = try await server.call(
            .recordsQuery, .private, as: .alice,
            ["query": ["recordType": "Note", "filterBy": [filter]]], environment: environment)
        let records = answer.json["records"]?.array
        return try #require(records, "\(answer.text)").compactMap {
            $0["recordName"]?.string?.string
        }
    }

    @Test("what is imported is exported, and imports again")
    func roundTrip() async throws {
        let server = try await server()
        #expect(
            try await call(.schemaExport, server).json["schema"]?.string == "DEFINE SCHEMA\n")
        let imported = try await send(.schemaImport, Self.text, server)
        #expect(imported.status == 200 && imported.json == [:], "\(imported.text)")
        let exported = try await call(.schemaExport, server)
        #expect(exported.json["schema"]?.string?.string == Self.text)
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
    }

    @Test("only administrators may")
    func rights() async throws {
        let server = try await server()
        for endpoint in Endpoint.allCases where endpoint.isAdministrative {
            let answer = try await server.call(endpoint, .public, as: .bob, ["schema": "x"])
            #expect(answer.code == "ACCESS_DENIED")
        }
    }

    @Test("a text that is none is refused with line and column, and changes nothing")
    func syntax() async throws {
        let server = try await server()
        for endpoint in [Endpoint.schemaValidate, .schemaImport] {
            let answer = try await send(
                endpoint, "DEFINE SCHEMA\n  RECORD TYPE A (\n    a TEXT);", server)
            #expect(answer.code == "BAD_REQUEST")
            #expect(answer.json["reason"]?.string?.string.contains("line 3, column 7") == true)
        }
        let missing = try await call(.schemaImport, server)
        #expect(missing.code == "BAD_REQUEST")
        #expect(
            try await call(.schemaExport, server).json["schema"]?.string == "DEFINE SCHEMA\n")
    }

    @Test("validate says whether an import would work, and does nothing")
    func validate() async throws {
        let server = try await server()
        #expect(try await send(.schemaValidate, Self.text, server).json == [:])
        #expect(
            try await call(.schemaExport, server).json["schema"]?.string == "DEFINE SCHEMA\n")
    }

    @Test("an import cannot take away what stored records have, whole or not at all")
    func contradiction() async throws {
        let server = try await server()
        #expect(try await save("a", ["title": ["value": "x"]], server)["serverErrorCode"] == nil)
        let texts = [
            "DEFINE SCHEMA RECORD TYPE Other (a STRING);",
            "DEFINE SCHEMA RECORD TYPE Note (other STRING);",
            "DEFINE SCHEMA RECORD TYPE Note (title INT64);",
            "DEFINE SCHEMA RECORD TYPE Note (title ENCRYPTED STRING);",
        ]
        let before = try await call(.schemaExport, server).text
        for text in texts {
            for endpoint in [Endpoint.schemaValidate, .schemaImport] {
                let answer = try await send(endpoint, text, server)
                #expect(answer.code == "BAD_REQUEST", "\(text)")
                #expect(answer.json["reason"]?.string?.string.contains("'Note'") == true)
            }
        }
        #expect(try await call(.schemaExport, server).text == before)
        // Fields that no record has can go.
        #expect(
            try await send(
                .schemaImport, "DEFINE SCHEMA RECORD TYPE Note (title STRING);", server
            ).status == 200)
    }

    @Test("an import that adds keeps all that is there, and refuses a field of another type")
    func adds() async throws {
        let server = try await server()
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
        #expect(try await save("a", ["title": ["value": "x"]], server)["serverErrorCode"] == nil)
        func add(_ text: String) async throws -> TestServer.Answer {
            try await server.call(
                .schemaImport, .public, as: .alice,
                ["schema": .string(Text("DEFINE SCHEMA \(text)")), "adds": true])
        }
        let other = try await add("RECORD TYPE Note (m STRING, n STRING); RECORD TYPE B (b ASSET);")
        #expect(other.code == "BAD_REQUEST")
        #expect(
            other.json["reason"]?.string?.string.contains(
                "field 'n' of record type 'Note' would become STRING from INT64") == true)
        let unchanged = try await call(.schemaExport, server)
        #expect(unchanged.json["schema"]?.string?.string == Self.text)
        let many = (0..<256).map { "f\($0) INT64" }.joined(separator: ", ")
        #expect(try await add("RECORD TYPE Note (\(many));").code == "LIMIT_EXCEEDED")

        let added = try await add(
            "RECORD TYPE Note (m STRING, title STRING QUERYABLE); RECORD TYPE B (b ASSET);")
        #expect(added.status == 200 && added.json == [:], "\(added.text)")
        let exported = try await call(.schemaExport, server)
        #expect(
            exported.json["schema"]?.string?.string == """
                DEFINE SCHEMA

                    CREATE ROLE editor;

                    RECORD TYPE Note (
                        m STRING,
                        n INT64 QUERYABLE,
                        title STRING QUERYABLE,
                        "___recordID" REFERENCE QUERYABLE,
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ TO "_world"
                    );

                    RECORD TYPE B (
                        b ASSET
                    );

                """)
        // The new index has the earlier record.
        let filter: JSONValue = [
            "comparator": "EQUALS", "fieldName": "title", "fieldValue": ["value": "x"],
        ]
        #expect(try await find(filter, server) == ["a"])
    }

    @Test("fields that clients gave users and shares are lost as little as those of other types")
    func implicitTypes() async throws {
        let server = try await server()
        let name = try #require(TestServer.Person.alice.user).description
        #expect(try await server.call(.usersCaller, .public, as: .alice).status == 200)
        let saved = try await server.call(
            .recordsModify, .public, as: .alice,
            [
                "operations": [
                    [
                        "operationType": "forceUpdate",
                        "record": [
                            "recordName": .string(Text(name)), "recordType": "Users",
                            "fields": ["nick": ["value": "al"]],
                        ],
                    ]
                ]
            ])
        #expect(saved.code == nil && saved.status == 200, "\(saved.text)")
        for text in ["DEFINE SCHEMA", "DEFINE SCHEMA RECORD TYPE Users (nick INT64);"] {
            for endpoint in [Endpoint.schemaValidate, .schemaImport] {
                let answer = try await send(endpoint, text, server)
                #expect(answer.code == "BAD_REQUEST", "\(text): \(answer.text)")
                let reason = answer.json["reason"]?.string?.string
                #expect(reason?.contains("field 'nick' of record type 'Users'") == true)
            }
        }
        // What every schema has of itself needs no mention.
        let own = """
            DEFINE SCHEMA RECORD TYPE Users (nick STRING);
            RECORD TYPE "cloudkit.share" ("cloudkit.title" STRING, mood STRING);
            """
        #expect(try await send(.schemaImport, own, server).status == 200)
        #expect(try await call(.schemaDeploy, server).status == 200)
        let without = "DEFINE SCHEMA RECORD TYPE Users (nick STRING);"
        let lost = try await send(.schemaImport, without, server)
        let reason = try #require(lost.json["reason"]?.string?.string)
        #expect(reason.contains("field 'mood' of record type 'cloudkit.share' would be gone"))
        #expect(!reason.contains("cloudkit.title"), "\(reason)")
    }

    @Test("a hostile text is refused in few words, and changes nothing")
    func hostile() async throws {
        let server = try await server()
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
        func repeated(_ text: String, _ count: Int) -> String {
            String(repeating: text, count: count)
        }
        let start = "DEFINE SCHEMA RECORD TYPE A ("
        let texts = [
            repeated("x", 1_000_000), start + repeated("y", 500_000) + " STRING);",
            start + "a " + repeated("z", 500_000) + ");", start + "a " + repeated("LIST<", 100_000),
            start + repeated("(", 100_000), start + "a LIST<LIST<STRING>>);",
            start + "a STRING " + repeated("QUERYABLE ", 10_000) + "NO);",
            start + "\"" + repeated("e\u{301}", 100_000) + "\" STRING);",
            start + "\"" + repeated("q", 100_000), start + "/*" + repeated("*", 100_000),
            start + "GRANT READ TO \"" + repeated("r", 256) + "\");",
            start + "GRANT " + repeated("READ, ", 10_000) + "ALL TO a);",
            start + "GRANT READ TO " + repeated("s", 255) + ");",
            "DEFINE SCHEMA RECORD TYPE " + repeated("T", 256) + " (a STRING);",
            "DEFINE SCHEMA RECORD TYPE \"a b\" (a STRING);",
            "DEFINE SCHEMA RECORD TYPE _hidden (\"___etag\" INT64);",
            "DEFINE SCHEMA RECORD TYPE A (\"___other\" STRING);",
            "DEFINE SCHEMA RECORD TYPE A (a STRING); RECORD TYPE A (a STRING);",
            start + "a STRING, a STRING);", start + "a\u{0}b STRING);", "\u{FEFF}", "",
            start + (0..<1_001).map { "f\($0) INT64" }.joined(separator: ",") + ");",
            repeated("DEFINE SCHEMA ", 10_000), "\u{1F4A9}",
        ]
        for text in texts {
            for endpoint in [Endpoint.schemaValidate, .schemaImport] {
                let answer = try await send(endpoint, text, server)
                #expect((400..<500).contains(answer.status), "\(text.prefix(80))")
                #expect(answer.body.count < 1_000, "\(text.prefix(80)): \(answer.body.count)")
            }
        }
        #expect(try await call(.schemaExport, server).json["schema"]?.string?.string == Self.text)
    }

    @Test("a text that would lose thousands of types names some of them")
    func manyLosses() async throws {
        let server = try await server()
        let types = (0..<3_000).map { "RECORD TYPE T\($0) (a STRING, GRANT READ TO r\($0));" }
        let roles = (0..<3_000).map { "CREATE ROLE r\($0);" }
        let text = (["DEFINE SCHEMA"] + roles + types).joined(separator: "\n")
        #expect(try await send(.schemaImport, text, server).status == 200)
        #expect(try await call(.schemaDeploy, server).status == 200)
        let answer = try await send(.schemaImport, Self.text, server)
        #expect(answer.code == "BAD_REQUEST")
        #expect(answer.body.count < 3_000)
        let reason = try #require(answer.json["reason"]?.string?.string)
        #expect(reason.contains("record type 'T0' would be gone"))
        #expect(reason.contains("and 2980 more"), "\(reason)")
    }

    @Test("a key that was made for it manages the schema from elsewhere, while its user may")
    func schemaKey() async throws {
        let server = try await server()
        let (plain, schema) = (try SigningKey(), try SigningKey())
        var keys: [(SigningKey, Text)] = []
        for (key, managesSchema) in [(plain, false), (schema, true)] {
            let row = try await server.accounts.addServerKey(
                try key.publicPEM, TestServer.development, name: "CI",
                user: "alice@example.org", managesSchema: managesSchema, now: server.clock.now)
            keys.append((key, row.keyID))
        }
        await #expect(throws: ServerError.self) {
            try await server.accounts.addServerKey(
                try plain.publicPEM, TestServer.development, name: "CI",
                user: "bob@example.org", managesSchema: true, now: server.clock.now)
        }
        let endpoints = Endpoint.allCases.filter(\.isAdministrative)
        for endpoint in endpoints {
            let refused = try await signed(endpoint, keys[0], server)
            #expect(refused.code == "ACCESS_DENIED", "\(endpoint): \(refused.text)")
            let done = try await signed(endpoint, keys[1], server)
            #expect(done.status == 200, "\(endpoint): \(done.text)")
        }
        // What is a person's alone is no key's, whatever it manages.
        #expect(
            try await signed(.recordsAccept, keys[1], server).code == "ACCESS_DENIED")
        try await server.changeUser(.alice) { $0.isAdministrator = false }
        for endpoint in endpoints {
            let late = try await signed(endpoint, keys[1], server)
            #expect(late.code == "ACCESS_DENIED", "\(endpoint): \(late.text)")
        }
    }

    private func signed(
        _ endpoint: Endpoint, _ key: (SigningKey, Text), _ server: TestServer
    ) async throws -> TestServer.Answer {
        let path = "/database/1/\(TestServer.container)/development/public/\(endpoint.rawValue)"
        let body = JSONValue.object([
            JSONMember(key: "schema", value: .string(Text(Self.text)))
        ]).serialized()
        let date = ISO8601.print(milliseconds: server.clock.now.seconds * 1_000)
            .replacing(".000Z", with: "Z")
        let hash = Base64.encode(SHA256.digest(of: body))
        let message = Array("\(date):".utf8) + hash + Array(":\(path)".utf8)
        let signature = Base64.encode(try key.0.signature(for: message))
        var headers = HTTPFields()
        for (name, value) in [
            ("KeyID", key.1.string), ("ISO8601Date", date),
            ("SignatureV1", String(decoding: signature, as: UTF8.self)),
        ] {
            headers[try #require(HTTPField.Name("X-Apple-CloudKit-Request-" + name))] = value
        }
        return try await server.request(.post, path, headers: headers, body: body)
    }

    @Test("an index that comes with an import finds the records from before it")
    func reindex() async throws {
        let server = try await server()
        let bare = "DEFINE SCHEMA RECORD TYPE Note (title STRING, n INT64);"
        #expect(try await send(.schemaImport, bare, server).status == 200)
        for n in 1...3 {
            let saved = try await save(
                "n\(n)", ["n": ["value": .init(Int64(n))], "title": ["value": "some Words"]],
                server)
            #expect(saved["serverErrorCode"] == nil, "\(saved)")
        }
        let filter: JSONValue = [
            "comparator": "EQUALS", "fieldName": "n", "fieldValue": ["value": 2],
        ]
        let refused = try await server.call(
            .recordsQuery, .private, as: .alice,
            ["query": ["recordType": "Note", "filterBy": [filter]]])
        #expect(refused.code == "BAD_REQUEST")
        let indexed = "DEFINE SCHEMA RECORD TYPE Note (title STRING SEARCHABLE, n INT64 QUERYABLE);"
        #expect(try await send(.schemaImport, indexed, server).status == 200)
        #expect(try await find(filter, server) == ["n2"])
        let words: JSONValue = [
            "comparator": "CONTAINS_ALL_TOKENS", "fieldName": "title",
            "fieldValue": ["value": "WORDS"],
        ]
        #expect(try await find(words, server) == ["n1", "n2", "n3"])
    }

    @Test("deploy brings types, fields and indexes to production, and its records into them")
    func deploy() async throws {
        let server = try await server()
        let refused = try await save(
            "a", ["n": ["value": 1]], server, environment: .production)
        #expect(
            refused["reason"]?.string?.string.contains(
                "Cannot create new type Note in production schema") == true, "\(refused)")
        let bare = "DEFINE SCHEMA RECORD TYPE Note (n INT64);"
        #expect(try await send(.schemaImport, bare, server).status == 200)
        #expect(try await call(.schemaDeploy, server).status == 200)
        let saved = try await save("a", ["n": ["value": 1]], server, environment: .production)
        #expect(saved["serverErrorCode"] == nil, "\(saved)")
        let newField = try await save("b", ["x": ["value": 1]], server, environment: .production)
        #expect(
            newField["reason"]?.string?.string.contains(
                "Cannot create or modify field 'x' in record 'Note' in production schema") == true)
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
        let deployed = try await call(.schemaDeploy, server, environment: .production)
        #expect(deployed.json["schema"]?.string?.string == Self.text)
        let filter: JSONValue = [
            "comparator": "EQUALS", "fieldName": "n", "fieldValue": ["value": 1],
        ]
        #expect(try await find(filter, server, environment: .production) == ["a"])
        #expect(try await find(filter, server) == [])
    }

    @Test("production takes no import, and development cannot lose what is deployed")
    func additive() async throws {
        let server = try await server()
        let direct = try await send(
            .schemaImport, Self.text, server, environment: .production)
        #expect(direct.code == "BAD_REQUEST")
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
        #expect(try await call(.schemaDeploy, server).status == 200)
        let lost = try await send(
            .schemaImport, "DEFINE SCHEMA RECORD TYPE Note (title INT64);", server)
        let reason = try #require(lost.json["reason"]?.string?.string)
        #expect(lost.code == "BAD_REQUEST")
        #expect(
            reason.contains("field 'title' of record type 'Note' would become INT64 from STRING"))
        #expect(reason.contains("field 'n' of record type 'Note' would be gone"))
    }

    @Test("a deploy that would lose something lists it and changes nothing")
    func deployContradiction() async throws {
        let server = try await server()
        let production = ContainerKey(
            container: TestServer.container, environment: .production)
        let text = "DEFINE SCHEMA RECORD TYPE Old (a STRING); RECORD TYPE Note (title BYTES);"
        try await server.storage.write { transaction throws(ServerError) in
            try transaction.putSchema(
                production, SchemaRow(version: 1, text: Array(text.utf8)))
        }
        let development = ContainerKey(
            container: TestServer.container, environment: .development)
        try await server.storage.write { transaction throws(ServerError) in
            try transaction.putSchema(
                development, SchemaRow(version: 1, text: Array(Self.text.utf8)))
        }
        let answer = try await call(.schemaDeploy, server)
        let reason = try #require(answer.json["reason"]?.string?.string)
        #expect(answer.code == "BAD_REQUEST")
        #expect(reason.contains("record type 'Old' would be gone"))
        #expect(
            reason.contains("field 'title' of record type 'Note' would become STRING from BYTES"))
        let exported = try await call(.schemaExport, server, environment: .production)
        #expect(exported.json["schema"]?.string?.string.contains("Old") == true)
    }

    @Test("reset gives development the schema of production and erases its records")
    func reset() async throws {
        let server = try await server()
        #expect(try await send(.schemaImport, Self.text, server).status == 200)
        #expect(try await call(.schemaDeploy, server).status == 200)
        #expect(
            try await save("a", ["n": ["value": 1], "more": ["value": 2]], server)["recordName"]
                != nil)
        #expect(
            try await save("a", ["n": ["value": 1]], server, environment: .production)["recordName"]
                != nil)
        let answer = try await call(.schemaReset, server)
        #expect(answer.json["schema"]?.string?.string == Self.text)
        #expect(
            try await call(.schemaExport, server).json["schema"]?.string?.string == Self.text)
        let filter: JSONValue = [
            "comparator": "EQUALS", "fieldName": "n", "fieldValue": ["value": 1],
        ]
        #expect(try await find(filter, server) == [])
        #expect(try await find(filter, server, environment: .production) == ["a"])
    }
}
