import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("records/lookup") struct LookupTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify(
            "Z", create("a", ["x": number(1), "y": number(2)]), create("b", ["x": number(3)]))
        return server
    }

    @Test("an item for each name, in order, also for the same name twice")
    func order() async throws {
        let server = try await server()
        let answer = try await server.lookup("Z", "b", "nobody", "a", "b")
        #expect(answer.results == ["saved", "NOT_FOUND", "saved", "saved"])
        #expect(answer.records.map { $0["recordName"] } == ["b", "nobody", "a", "b"])
        #expect(answer.records.dropFirst().first?["uuid"]?.string != nil)
    }

    @Test("an item's desiredKeys win over those of the request; no keys mean no fields")
    func desiredKeys() async throws {
        let server = try await server()
        let items: JSONValue = [
            ["recordName": "a"], ["recordName": "a", "desiredKeys": ["y", "y", "z"]],
            ["recordName": "a", "desiredKeys": []],
        ]
        let answer = try await server.call(
            .recordsLookup, .private,
            ["zoneID": TestServer.zone("Z"), "records": items, "desiredKeys": ["x"]])
        #expect(
            answer.records.map { $0["fields"] } == [["x": number(1)], ["y": number(2)], [:]])
    }

    @Test("numbersAsStrings puts integers in quotes")
    func numbersAsStrings() async throws {
        let server = try await server()
        let items: JSONValue = [["recordName": "b"]]
        let answer = try await server.call(
            .recordsLookup, .private,
            ["zoneID": TestServer.zone("Z"), "records": items, "numbersAsStrings": true])
        #expect(answer.records.first?["fields"]?["x"] == ["value": "3", "type": "INT64"])
    }

    @Test("more names than are read at once come whole and in order")
    func many() async throws {
        let server = try await server()
        let names = (0..<120).map { "n-\($0)" }
        _ = try await server.call(
            .recordsModify, .private,
            ["zoneID": TestServer.zone("Z"), "operations": .array(names.map { create($0) })])
        let items = names.reversed().map { name -> JSONValue in ["recordName": JSONValue(name)] }
        let answer = try await server.call(
            .recordsLookup, .private,
            ["zoneID": TestServer.zone("Z"), "records": .array(items)])
        #expect(
            answer.records.compactMap { $0["recordName"]?.string?.string } == names.reversed())
        #expect(Set(answer.results) == ["saved"])
    }

    @Test("the shapes that iCloud's hosts answer with have no key more")
    func dialect() async throws {
        let server = try await server()
        let target = try await server.target(.recordsLookup) + "&remapEnums=True"
        let body: JSONValue = [
            "zoneID": TestServer.zone("Z"), "records": [["recordName": "nobody"]],
        ]
        let answer = try await server.request(.post, target, body: body.serialized())
        let keys = Set((answer.records.first?.object ?? []).map(\.key.string))
        #expect(keys == ["recordName", "serverErrorCode", "reason"])
    }
}
