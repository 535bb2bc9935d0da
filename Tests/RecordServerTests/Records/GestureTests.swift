import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// The origin of a change, as its client tells it.
@Suite("gesture") struct GestureTests {
    private static let wanted: JSONValue = ["wantsGestures": true]

    private func written(
        _ type: String, _ name: String, _ gesture: String?, tag: String? = nil
    ) -> JSONValue {
        operation(
            type, name, ["p": number(1)], tag: tag,
            gesture.map { ["gesture": JSONValue($0)] } ?? [:])
    }

    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify("Z", written("create", "a", "one"), written("create", "b", nil))
        return server
    }

    private func gestures(
        _ server: TestServer, since token: Text? = nil, _ keys: JSONValue = wanted
    ) async throws -> [String: String?] {
        let page = try await server.changes("Z", since: token, keys)
        return Dictionary(
            page.records.map { record in
                (record["recordName"]?.string?.string ?? "", record["gesture"]?.string?.string)
            }, uniquingKeysWith: { $1 })
    }

    @Test("is told as it came, to a client that asks")
    func told() async throws {
        let server = try await server()
        #expect(try await gestures(server) == ["a": "one", "b": nil])
        #expect(try await gestures(server, [:]) == ["a": nil, "b": nil])
        var brief = Self.wanted.object ?? []
        brief.append(JSONMember(key: "brief", value: true))
        #expect(try await gestures(server, .object(brief)) == ["a": "one", "b": nil])
    }

    @Test("belongs to the last save, and a save without one removes it")
    func last() async throws {
        let server = try await server()
        try await server.modify("Z", written("forceUpdate", "a", "two"))
        #expect(try await gestures(server)["a"] == "two")
        try await server.modify("Z", written("forceUpdate", "a", nil))
        #expect(try await gestures(server)["a"] == .some(nil))
    }

    @Test("is told with a deletion")
    func deletion() async throws {
        let server = try await server()
        let token = try await server.changes("Z").token
        try await server.modify(
            "Z", written("forceDelete", "a", "gone"), written("forceDelete", "b", nil))
        #expect(try await gestures(server, since: token) == ["a": "gone", "b": nil])
        #expect(try await gestures(server, since: token, [:]) == ["a": nil, "b": nil])
    }

    @Test("is refused when it is too long, or no text")
    func refused() async throws {
        let server = try await server()
        let long = String(repeating: "x", count: GestureOrigin.maximumBytes)
        try await server.modify("Z", written("forceUpdate", "a", long))
        #expect(try await gestures(server)["a"] == long)
        for value: JSONValue in [JSONValue(long + "x"), 1, [:]] {
            let update = operation("forceUpdate", "a", ["p": number(1)], ["gesture": value])
            #expect(try await server.modify("Z", update).results == ["BAD_REQUEST"])
        }
        #expect(try await gestures(server)["a"] == long)
    }
}
