import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Query endpoint", .everyTransport)
struct QueryEndpointTests {
    private func zone(_ name: String?) -> JSONValue {
        name.map { ["zoneName": .string(Text($0))] } ?? ["zoneName": "_defaultZone"]
    }

    private func make(
        _ names: [String], _ server: TestServer, zone name: String? = nil,
        scope: DatabaseScope = .private, as person: TestServer.Person = .alice,
        type: String = "Note"
    ) async throws {
        if name != nil {
            let made = try await server.call(
                .zonesModify, scope, as: person,
                ["operations": [["operationType": "create", "zone": ["zoneID": zone(name)]]]])
            try #require(made.status == 200, "\(made.text)")
        }
        let operations = names.enumerated().map { index, name -> JSONValue in
            [
                "operationType": "create",
                "record": [
                    "recordName": .string(Text(name)), "recordType": .string(Text(type)),
                    "fields": [
                        "title": ["value": .string(Text("title of \(name)")), "type": "STRING"],
                        "n": ["value": .init(Int64(index)), "type": "INT64"],
                    ],
                ],
            ]
        }
        let saved = try await server.call(
            .recordsModify, scope, as: person,
            ["zoneID": zone(name), "operations": .array(operations)])
        try #require(saved.json["records"]?.array?.count == names.count, "\(saved.text)")
        for record in saved.json["records"]?.array ?? [] {
            try #require(record["serverErrorCode"] == nil, "\(saved.text)")
        }
    }

    private func names(_ answer: TestServer.Answer) throws -> [String] {
        try #require(answer.json["records"]?.array, "\(answer.text)").compactMap {
            $0["recordName"]?.string?.string
        }
    }

    private func query(
        _ server: TestServer, scope: DatabaseScope = .private,
        as person: TestServer.Person = .alice, type: String = "Note",
        sort: JSONValue = [["fieldName": "n", "ascending": false]],
        more: [(String, JSONValue)] = []
    ) async throws -> TestServer.Answer {
        let members: [(String, JSONValue)] =
            [("query", ["recordType": .string(Text(type)), "sortBy": sort])] + more
        return try await server.call(
            .recordsQuery, scope, as: person,
            .object(members.map { JSONMember(key: Text($0.0), value: $0.1) }))
    }

    @Test("pages follow each other with markers until there is none")
    func pages() async throws {
        let server = try await TestServer()
        try await make(["a", "b", "c", "d", "e"], server)
        var found: [String] = []
        var marker: JSONValue?
        repeat {
            let answer = try await query(
                server,
                more: [("resultsLimit", 2)] + (marker.map { [("continuationMarker", $0)] } ?? []))
            found += try names(answer)
            marker = answer.json["continuationMarker"]
        } while marker != nil
        #expect(found == ["e", "d", "c", "b", "a"])
    }

    @Test("a marker is good for its query, caller and database only, and for no other text")
    func markers() async throws {
        let server = try await TestServer()
        for person in [TestServer.Person.alice, .bob] {
            try await make(["a", "b", "c"], server, as: person)
            try await make(["a", "b", "c"], server, zone: "Work", as: person)
        }
        let first = try await query(server, more: [("resultsLimit", 1)])
        let marker = try #require(first.json["continuationMarker"])
        let more: [(String, JSONValue)] = [("continuationMarker", marker)]
        let answers = [
            try await query(server, as: .bob, more: more),
            try await query(server, sort: [["fieldName": "n"]], more: more),
            try await query(server, more: more + [("zoneID", zone("Work"))]),
            try await query(server, more: more + [("zoneWide", true)]),
            try await query(server, more: [("continuationMarker", "AAAA")]),
            try await query(
                server,
                more: [("continuationMarker", .string(Text((marker.string?.string ?? "") + "A")))]),
        ]
        for answer in answers {
            #expect(answer.code == "BAD_REQUEST", "\(answer.text)")
            #expect(answer.json["reason"]?.string?.string.contains("continuationMarker") == true)
        }
        #expect(try names(try await query(server, more: more)) == ["b", "a"])
    }

    @Test("the projection is that of the request")
    func projection() async throws {
        let server = try await TestServer()
        try await make(["a"], server)
        let answer = try await query(
            server, more: [("desiredKeys", ["n"]), ("numbersAsStrings", true)])
        let record = try #require(answer.json["records"]?.array?.first)
        #expect(record["fields"]?.object?.count == 1)
        #expect(record["fields"]?["n"]?["value"]?.string == "0")
    }

    @Test("zoneWide is over all zones of the private database")
    func zoneWide() async throws {
        let server = try await TestServer()
        try await make(["a", "b"], server)
        try await make(["a", "c"], server, zone: "Work")
        let one = try await query(server)
        #expect(try names(one) == ["b", "a"])
        let all = try await query(server, more: [("zoneWide", true)])
        #expect(try names(all) == ["c", "b", "a", "a"])
        let owned = try await query(server, more: [("zoneWide", true), ("zoneID", zone("Work"))])
        #expect(try names(owned) == ["c", "a"])
    }

    @Test("a sync token comes when it is asked for, and not from the public database")
    func syncToken() async throws {
        let server = try await TestServer()
        try await make(["a"], server, zone: "Work")
        try await make(["a"], server, scope: .public)
        let more: [(String, JSONValue)] = [("getCurrentSyncToken", true)]
        let token = try await query(server, more: more + [("zoneID", zone("Work"))])
        #expect(token.json["syncToken"]?.string != nil, "\(token.text)")
        let without = try await query(server, more: [("zoneID", zone("Work"))])
        #expect(without.json["syncToken"] == nil)
        let open = try await query(server, scope: .public, more: more)
        #expect(open.status == 200)
        #expect(open.json["syncToken"] == nil)
    }

    @Test("the public database shows what roles may read: all, their own, or nothing")
    func grants() async throws {
        let server = try await TestServer()
        try await server.changeUser(.carol) { $0.isAdministrator = true }
        try await make(["a"], server, scope: .public, as: .alice)
        try await make(["b"], server, scope: .public, as: .bob)
        let open = try await query(server, scope: .public, as: .anonymous)
        #expect(Set(try names(open)) == ["a", "b"])
        let closed = """
            DEFINE SCHEMA CREATE ROLE editor; RECORD TYPE Note ("___recordID" REFERENCE QUERYABLE,
                title STRING, n INT64 SORTABLE,
                GRANT WRITE TO "_creator", GRANT READ TO editor);
            """
        let imported = try await server.call(
            .schemaImport, .public, as: .carol, ["schema": .string(Text(closed))])
        try #require(imported.status == 200, "\(imported.text)")
        #expect(
            try await query(server, scope: .public, as: .anonymous).code
                == "AUTHENTICATION_REQUIRED")
        #expect(try names(try await query(server, scope: .public, as: .bob)) == ["b"])
        let user = try #require(TestServer.Person.bob.user)
        try await server.storage.write { transaction throws(ServerError) in
            try transaction.putRoles(
                ContainerKey(container: TestServer.container, environment: .development), of: user,
                ["editor"])
        }
        #expect(
            Set(try names(try await query(server, scope: .public, as: .bob))) == ["a", "b"])
        let nobodys = closed.replacing("GRANT WRITE TO \"_creator\", ", with: "")
        _ = try await server.call(
            .schemaImport, .public, as: .carol, ["schema": .string(Text(nobodys))])
        let denied = try await query(server, scope: .public, as: .alice)
        #expect(denied.code == "ACCESS_DENIED")
    }

    @Test("a query of nothing is empty: no zone yet, no record of the type")
    func nothing() async throws {
        let server = try await TestServer()
        #expect(try await query(server).code == "NOT_FOUND")
        try await make(["a"], server, zone: "Work")
        #expect(try names(try await query(server)) == [])
        #expect(try await query(server, more: [("zoneID", zone("None"))]).code == "ZONE_NOT_FOUND")
    }

    @Test("a query sees what was just written")
    func immediate() async throws {
        let server = try await TestServer()
        for name in ["a", "b", "c"] {
            try await make([name], server)
            #expect(try names(try await query(server)).contains(name))
        }
    }
}
