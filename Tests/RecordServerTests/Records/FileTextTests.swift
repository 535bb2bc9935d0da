import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// The text that a client has made of a record.
@Suite("fileText") struct FileTextTests {
    private static let text = "{ \"p\" : 1 }\n"

    private func written(
        _ type: String, _ name: String, _ text: String?, tag: String? = nil
    ) -> JSONValue {
        operation(
            type, name, ["p": number(1)], tag: tag,
            text.map { ["fileText": JSONValue($0)] } ?? [:])
    }

    private func lookup(
        _ server: TestServer, _ extra: JSONValue = ["wantsFileText": true]
    ) async throws -> JSONValue? {
        let body: JSONValue = [
            "zoneID": TestServer.zone("Z"), "records": [["recordName": "a"]],
        ]
        let answer = try await server.call(
            .recordsLookup, .private, .object((body.object ?? []) + (extra.object ?? [])))
        return answer.records.first?["fileText"]
    }

    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify("Z", written("create", "a", Self.text))
        return server
    }

    @Test("is told as it came to who asks, with all fields, in each answer that has records")
    func told() async throws {
        let server = try await server()
        let text = JSONValue(Self.text)
        #expect(try await lookup(server) == text)
        #expect(try await lookup(server, [:]) == nil)
        #expect(try await lookup(server, ["wantsFileText": false]) == nil)
        #expect(
            try await lookup(server, ["wantsFileText": true, "desiredKeys": ["p"]]) == nil)
        let feed = try await server.changes("Z", ["wantsFileText": true])
        #expect(feed.records.map { $0["fileText"] } == [text])
        #expect(try await server.changes("Z").records.map { $0["fileText"] } == [nil])
        let query = try await server.call(
            .recordsQuery, .private,
            [
                "zoneID": TestServer.zone("Z"), "query": ["recordType": "Note"],
                "wantsFileText": true,
            ])
        #expect(query.records.map { $0["fileText"] } == [text])
        let body: JSONValue = [
            "zoneID": TestServer.zone("Z"), "wantsFileText": true, "desiredKeys": [],
            "operations": [written("update", "a", nil, tag: "0")],
        ]
        let conflict = try await server.call(.recordsModify, .private, body)
        #expect(conflict.records.first?["serverRecord"]?["fileText"] == text)
    }

    @Test(
        "a save without takes it away, and one that says nothing else replaces it",
        arguments: ["forceUpdate", "forceReplace"])
    func saved(type: String) async throws {
        let server = try await server()
        let before = try await server.lookup("Z", "a").tag()
        let update = operation("forceUpdate", "a", nil, ["fileText": "{\"p\":1}"])
        #expect(try await server.modify("Z", update).results == ["saved"])
        #expect(try await lookup(server) == "{\"p\":1}")
        #expect(try await server.lookup("Z", "a").tag() != before)
        try await server.modify("Z", written(type, "a", nil))
        #expect(try await lookup(server) == nil)
    }

    @Test("has a size, and counts for the quota")
    func bounds() async throws {
        let server = try await server()
        let long = String(repeating: "x", count: RecordLimits.fileTextBytes)
        #expect(
            try await server.modify("Z", written("create", "b", long + "x")).results
                == ["BAD_REQUEST"])
        try await server.changeUser(.alice) { $0.quotaBytes = Int64(long.utf8.count) }
        #expect(
            try await server.modify("Z", written("create", "b", long)).results
                == ["QUOTA_EXCEEDED"])
        try await server.changeUser(.alice) { $0.quotaBytes = Int64(2 * long.utf8.count) }
        for _ in 0..<3 {
            #expect(
                try await server.modify("Z", written("forceUpdate", "b", long)).results
                    == ["saved"])
        }
        try await server.modify("Z", written("forceUpdate", "b", nil))
        #expect(try await server.modify("Z", written("create", "c", long)).results == ["saved"])
    }

    @Test("nothing is told of a deleted record's text, nor of one that is made anew")
    func deleted() async throws {
        let server = try await server()
        let token = try await server.changes("Z").token
        try await server.modify("Z", delete("a"))
        let feed = try await server.changes("Z", since: token, ["wantsFileText": true])
        #expect(feed.names == ["-a"])
        #expect(feed.records.allSatisfy { $0["fileText"] == nil })
        try await server.modify("Z", written("create", "a", nil))
        #expect(try await lookup(server) == nil)
    }
}
