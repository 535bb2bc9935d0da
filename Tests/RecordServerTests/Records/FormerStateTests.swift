import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// The states that records have had.
@Suite("records/history") struct FormerStateTests {
    private func server(
        _ set: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        let server = try await TestServer(configure: set)
        try await server.makeZone("Z")
        return server
    }

    private func save(
        _ server: TestServer, _ name: String, _ value: Int64, _ gesture: String? = nil
    ) async throws {
        let keys: JSONValue = gesture.map { ["gesture": JSONValue($0)] } ?? [:]
        try await server.modify(
            "Z", operation("forceUpdate", name, ["p": number(value)], keys))
    }

    private func history(
        _ server: TestServer, _ name: String? = nil, _ keys: JSONValue = [:], zone: String = "Z"
    ) async throws -> JSONValue {
        let body: [JSONMember] =
            [JSONMember(key: "zoneID", value: TestServer.zone(zone))]
            + (name.map { [JSONMember(key: "recordName", value: JSONValue($0))] } ?? [])
        return try await server.call(
            .recordsHistory, .private, .object(body + (keys.object ?? []))
        ).json
    }

    /// The name and the value of each state, and whether it ended with a deletion.
    private func states(_ answer: JSONValue) -> [String] {
        (answer["versions"]?.array ?? []).map { version in
            let record = version["record"]
            let value = record?["fields"]?["p"]?["value"]?.serialized() ?? []
            return (version["deleted"]?.bool == true ? "-" : "")
                + (record?["recordName"]?.string?.string ?? "")
                + String(decoding: value, as: UTF8.self)
        }
    }

    @Test("what saves and deletions have replaced is told, the last first")
    func replaced() async throws {
        let server = try await server()
        for value: Int64 in 1...3 { try await save(server, "a", value, "g\(value)") }
        try await save(server, "b", 7)
        #expect(states(try await history(server)) == ["a2", "a1"])
        try await server.modify(
            "Z", operation("forceDelete", "a", nil, ["gesture": "gone"]), delete("b"))
        let answer = try await history(server)
        #expect(states(answer) == ["-b7", "-a3", "a2", "a1"])
        let last = answer["versions"]?.array?[1]
        #expect(last?["gesture"]?.string == "gone")
        #expect(last?["record"]?["gesture"]?.string == "g3")
        #expect(last?["replaced"]?["timestamp"] != nil)
        #expect(states(try await history(server, "b")) == ["-b7"])
        #expect(states(try await history(server, "none")) == [])
    }

    @Test("pages end where they should, and continue without a gap")
    func pages() async throws {
        let server = try await server { $0.service.maximumResults = 3 }
        for value: Int64 in 1...8 { try await save(server, value % 2 == 0 ? "a" : "b", value) }
        var found: [String] = []
        var answer = try await history(server)
        while let marker = answer["continuationMarker"] {
            found += states(answer)
            answer = try await history(server, nil, ["continuationMarker": marker])
        }
        #expect(found == ["a6", "b5", "a4", "b3", "a2", "b1"])
        let refused = try await history(server, nil, ["continuationMarker": "!"])
        #expect(refused["serverErrorCode"]?.string == "BAD_REQUEST")
    }

    @Test("so many states of a record are kept, for so long")
    func bounds() async throws {
        let server = try await server {
            $0.service.versionsPerRecord = 2
            $0.service.historySeconds = 1_000
        }
        for value: Int64 in 1...5 { try await save(server, "a", value) }
        try await save(server, "b", 1)
        try await save(server, "b", 2)
        #expect(states(try await history(server)) == ["b1", "a4", "a3"])
        server.clock.advance(.seconds(900))
        try await save(server, "a", 6)
        server.clock.advance(.seconds(200))
        await Maintenance(server.application).round()
        #expect(states(try await history(server)) == ["a5"])
    }

    @Test("an operator can keep none")
    func none() async throws {
        let server = try await server { $0.service.versionsPerRecord = 0 }
        for value: Int64 in 1...3 { try await save(server, "a", value) }
        #expect(states(try await history(server)) == [])
    }

    @Test("a zone that is deleted and made again has none of the states of the former one")
    func newZone() async throws {
        let server = try await server()
        for value: Int64 in 1...3 { try await save(server, "a", value) }
        _ = try await server.call(
            .zonesModify, .private,
            [
                "operations": [
                    ["operationType": "delete", "zone": ["zoneID": TestServer.zone("Z")]]
                ]
            ])
        try await server.makeZone("Z")
        #expect(states(try await history(server)) == [])
        await Maintenance(server.application).round()
        #expect(states(try await history(server)) == [])
    }

    @Test("assets of a former state come without an address")
    func assets() async throws {
        let fixture = try await AssetFixture()
        try await fixture.put([try await fixture.upload(Array("photo".utf8))])
        try await fixture.server.modify(
            "Work", operation("forceUpdate", "n-1", ["p": number(1)]))
        let answer = try await history(fixture.server, zone: "Work")
        let value = answer["versions"]?.array?.first?["record"]?["fields"]?["photo"]?["value"]
        #expect(value?["fileChecksum"] != nil)
        #expect(value?["downloadURL"] == nil)
    }
}
