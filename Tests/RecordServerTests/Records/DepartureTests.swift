import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Where records have gone whose names have others", .everyTransport) struct DepartureTests {
    private static let moves: JSONValue = ["wantsMoves": true]

    private static func address(_ name: String) -> JSONValue {
        ["recordName": JSONValue(name), "recordType": "Note", "zoneID": ["zoneName": "Y"]]
    }

    private static func moving(
        _ operation: JSONValue, to name: String
    ) -> JSONValue {
        guard let members = operation.object else { return operation }
        return .object(
            members.map { member in
                guard member.key == "record", let record = member.value.object else {
                    return member
                }
                return JSONMember(
                    key: "record",
                    value: .object(record + [JSONMember(key: "movedTo", value: address(name))]))
            })
    }

    private static func lines(_ feed: Feed) -> [String] {
        zip(feed.names, feed.records).map { name, record in
            record["movedTo"]?["recordName"]?.string.map { "\(name) to \($0)" } ?? name
        }
    }

    @Test("are told before those, in the order in which it happened, page by page, to who asks")
    func order() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.makeZone("Y")
        try await server.modify("Y", create("x"), create("y"), create("z"), create("v"))
        try await server.modify("Z", create("a"), create("b"))
        let start = try await server.changes("Z").token
        try await server.modify("Z", Self.moving(delete("a"), to: "x"))
        try await server.modify("Z", create("c"))
        try await server.modify("Z", create("a"))
        try await server.modify("Z", Self.moving(delete("a"), to: "y"))
        try await server.modify("Z", create("a"))
        try await server.modify("Z", Self.moving(force("b"), to: "z"))
        try await server.modify("Z", Self.moving(force("a"), to: "v"), create("d"))
        let all = ["-a to x", "c", "-a to y", "-b to z", "b", "-a to v", "a", "d"]
        for limit: Int64 in [1, 2, 3, 100] {
            var feed = try await server.changes("Z", since: start, limit: limit, Self.moves)
            var found = Self.lines(feed)
            while feed.moreComing {
                feed = try await server.changes("Z", since: feed.token, limit: limit, Self.moves)
                found += Self.lines(feed)
            }
            #expect(found == all, "\(limit)")
            #expect(try await server.changes("Z", since: feed.token, Self.moves).names == [])
        }
        #expect(try await server.changes("Z", since: start).names == ["c", "b", "a", "d"])
        #expect(try await server.changes("Z", Self.moves).names == ["c", "b", "a", "d"])
        let tags = try await server.changes("Z", since: start, Self.moves).records.map {
            $0["recordChangeTag"]?.string.flatMap { Int64($0.string, radix: 36) }
        }
        // Each has the place in the feed at which it happened.
        #expect(tags.compactMap(\.self) == tags.compactMap(\.self).sorted())
        #expect(tags.count == all.count && tags.allSatisfy { $0 != nil })
    }

    @Test("is not taken from who says that a record has gone where there is none")
    func notThere() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.makeZone("Y")
        try await server.modify("Z", create("a"))
        try await server.modify("Y", create("x"))
        try await server.modify("Y", delete("x"))
        let answer = try await server.modify("Z", Self.moving(delete("a"), to: "x"))
        #expect(answer.results == ["CONFLICT"])
        #expect(try await server.changes("Z").names == ["a"])
    }

    @Test("are not told of names that nothing had")
    func nothing() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        let start = try await server.changes("Z").token
        try await server.modify("Z", Self.moving(create("a"), to: "x"))
        #expect(try await server.changes("Z", since: start, Self.moves).names == ["a"])
    }
}
