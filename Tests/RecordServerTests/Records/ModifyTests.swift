import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("records/modify", .everyTransport) struct ModifyTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        return server
    }

    @Test("create makes a record with the fields, stamps and zone that it answers with")
    func creates() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", create("n-1", ["title": text("Plans"), "done": number(0)]))
        #expect(answer.status == 200)
        let record = try #require(answer.records.first)
        #expect(record["recordName"] == "n-1")
        #expect(record["recordType"] == "Note")
        #expect(record["recordChangeTag"] == "1")
        #expect(record["fields"]?["title"] == text("Plans"))
        #expect(record["fields"]?["done"] == number(0))
        #expect(record["deleted"] == false)
        #expect(record["pluginFields"] == [:])
        #expect(record["zoneID"]?["zoneName"] == "Z")
        let alice = TestServer.Person.alice.user.map { JSONValue.string(Text(utf8: $0.bytes)) }
        #expect(record["zoneID"]?["ownerRecordName"] == alice)
        #expect(record["created"]?["userRecordName"] == alice)
        #expect(record["modified"]?["timestamp"] == 1_800_000_000_000)
        let stored = try await server.lookup("Z", "n-1")
        #expect(stored.records == answer.records)
    }

    @Test("create without a name gets a name that nobody can guess")
    func namesRecords() async throws {
        let server = try await server()
        let answer = try await server.modify("Z", create(nil), create(nil))
        let names = answer.records.compactMap { $0["recordName"]?.string }
        #expect(Set(names).count == 2)
        #expect(names.allSatisfy { $0.utf8.count == 36 })
    }

    @Test("create of a taken name is refused with CONFLICT, and nothing changes")
    func exists() async throws {
        let server = try await server()
        try await server.modify("Z", create("n-1", ["title": text("old")]))
        let answer = try await server.modify("Z", create("n-1", ["title": text("new")]))
        #expect(answer.results == ["CONFLICT"])
        #expect(
            try await server.lookup("Z", "n-1").records.first?["fields"]?["title"] == text("old"))
    }

    @Test("create of a deleted name makes a new record")
    func createsAgain() async throws {
        let server = try await server()
        try await server.modify("Z", create("n-1", ["title": text("old")]))
        try await server.modify("Z", delete("n-1"))
        let answer = try await server.modify("Z", create("n-1", type: "Other"))
        #expect(answer.results == ["saved"])
        #expect(answer.records.first?["fields"] == [:])
        #expect(answer.records.first?["recordType"] == "Other")
    }

    @Test("update sets the given fields only, clears nulls, and gives a new tag")
    func updates() async throws {
        let server = try await server()
        let made = try await server.modify(
            "Z", create("n-1", ["a": text("1"), "b": text("2"), "c": text("3")]))
        let answer = try await server.modify(
            "Z",
            update(
                "n-1", ["a": text("x"), "b": ["value": .null, "type": "STRING"]],
                tag: made.tag()))
        #expect(answer.results == ["saved"])
        #expect(answer.records.first?["fields"] == ["a": text("x"), "c": text("3")])
        #expect(answer.tag() != made.tag())
    }

    @Test("an update without any field still gives a new tag")
    func touches() async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("n-1", ["a": text("1")]))
        let answer = try await server.modify("Z", update("n-1", tag: made.tag()))
        #expect(answer.results == ["saved"])
        #expect(answer.tag() != made.tag())
        #expect(answer.records.first?["fields"] == ["a": text("1")])
    }

    @Test("replace clears the fields that it does not have")
    func replaces() async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("n-1", ["a": text("1"), "b": text("2")]))
        let answer = try await server.modify(
            "Z", operation("replace", "n-1", ["b": text("x")], tag: made.tag()))
        #expect(answer.records.first?["fields"] == ["b": text("x")])
        let forced = try await server.modify("Z", operation("forceReplace", "n-1", [:]))
        #expect(forced.records.first?["fields"] == [:])
    }

    @Test(
        "a stale tag is refused with CONFLICT and the server's record",
        arguments: ["update", "replace", "delete"])
    func conflicts(type: String) async throws {
        let server = try await server()
        try await server.modify("Z", create("n-1", ["a": text("1")]))
        let now = try await server.modify("Z", force("n-1", ["a": text("2")]))
        let answer = try await server.modify(
            "Z", operation(type, "n-1", ["a": text("3")], tag: "1"))
        #expect(answer.status == 200)
        #expect(answer.results == ["CONFLICT"])
        #expect(answer.records.first?["serverRecord"] == now.records.first)
        #expect(try await server.lookup("Z", "n-1").records == now.records)
    }

    @Test(
        "an update without a tag of a record that is there is refused with CONFLICT",
        arguments: ["update", "replace"])
    func needsTag(type: String) async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("n-1", ["a": text("1")]))
        let answer = try await server.modify("Z", operation(type, "n-1", ["a": text("2")]))
        #expect(answer.results == ["CONFLICT"])
        #expect(answer.records.first?["serverRecord"] == made.records.first)
        #expect(
            try await server.modify("Z", operation(type, "n-2", [:])).results == ["NOT_FOUND"])
    }

    @Test(
        "operations that need a tag are bad requests without one in strict mode",
        arguments: ["update", "replace", "delete"])
    func strict(type: String) async throws {
        let server = try await TestServer { $0.service.isStrict = true }
        try await server.makeZone("Z")
        try await server.modify("Z", create("n-1"))
        #expect(
            try await server.modify("Z", operation(type, "n-1")).results == ["BAD_REQUEST"])
    }

    @Test(
        "a tag of a record that is not there is refused with NOT_FOUND",
        arguments: ["update", "replace", "delete"])
    func tagOfNothing(type: String) async throws {
        let server = try await server()
        #expect(
            try await server.modify("Z", operation(type, "n-1", tag: "1")).results
                == ["NOT_FOUND"])
        try await server.modify("Z", create("n-1"))
        try await server.modify("Z", delete("n-1"))
        #expect(
            try await server.modify("Z", operation(type, "n-1", tag: "1")).results
                == ["NOT_FOUND"])
    }

    @Test("forceUpdate and forceReplace create what is absent and change what is there")
    func forces() async throws {
        let server = try await server()
        for type in ["forceUpdate", "forceReplace"] {
            let made = try await server.modify("Z", operation(type, type, ["a": text("1")]))
            #expect(made.results == ["saved"])
            let again = try await server.modify(
                "Z", operation(type, type, ["b": text("2")], tag: "stale"))
            #expect(again.results == ["saved"])
            let kept: JSONValue =
                type == "forceUpdate" ? ["a": text("1"), "b": text("2")] : ["b": text("2")]
            #expect(again.records.first?["fields"] == kept)
        }
    }

    @Test("delete with the right tag, or with none, leaves nothing to look up")
    func deletes() async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("a"), create("b"), create("c"))
        let answer = try await server.modify(
            "Z", operation("delete", "a", type: nil, tag: made.tag(0)),
            operation("delete", "b", type: nil), delete("c"))
        #expect(answer.results == ["deleted", "deleted", "deleted"])
        #expect(answer.records.first == ["recordName": "a", "deleted": true])
        #expect(
            try await server.lookup("Z", "a", "b", "c").results
                == ["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"])
    }

    @Test("deleting what is not there succeeds by force and without a tag")
    func deletesNothing() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", delete("a"), operation("delete", "b", type: nil))
        #expect(answer.results == ["deleted", "deleted"])
        #expect(try await server.changes("Z").names.isEmpty)
    }

    @Test("a second operation on one record fails, and only that")
    func onceForEach() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", atomic: false, create("a"), force("a", ["x": text("1")]), create("b"))
        #expect(answer.results == ["saved", "BAD_REQUEST", "saved"])
        #expect(answer.reasons.first?.contains("operations[1]") == true)
    }

    @Test("a malformed operation fails alone where the batch is not atomic")
    func malformed() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", atomic: false, create("a"), ["operationType": "explode", "record": [:]],
            create("b", ["x": ["value": "no number", "type": "INT64"]]), create("c"))
        #expect(answer.results == ["saved", "BAD_REQUEST", "BAD_REQUEST", "saved"])
        #expect(
            try await server.modify("Z", create("d"), [:]).results
                == ["ATOMIC_ERROR", "BAD_REQUEST"])
    }

    @Test("a record keeps its type")
    func keepsType() async throws {
        let server = try await server()
        let made = try await server.modify("Z", create("a"))
        let answer = try await server.modify(
            "Z", operation("update", "a", type: "Other", tag: made.tag()))
        #expect(answer.results == ["BAD_REQUEST"])
        #expect(answer.reasons.first?.contains("recordType") == true)
    }

    @Test("names with a leading _ and the name of zone shares are not for records")
    func reservedNames() async throws {
        let server = try await server()
        for name in ["_a", "__defaultOwner__", "cloudkit.zoneshare"] {
            #expect(try await server.modify("Z", create(name)).results == ["BAD_REQUEST"])
        }
    }

    @Test("what only the server says is read over: created, modified, share, deleted")
    func noMassAssignment() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z",
            operation(
                "create", "a", [:], tag: "zz",
                [
                    "created": ["timestamp": 1, "userRecordName": "_x", "deviceID": "2"],
                    "modified": ["timestamp": 1], "share": ["recordName": "s"], "deleted": true,
                    "shortGUID": "mine", "owner": "_x",
                ]))
        let record = try #require(answer.records.first)
        #expect(record["created"]?["timestamp"] == 1_800_000_000_000)
        #expect(record["share"] == nil)
        #expect(record["shortGUID"] == nil)
        #expect(record["recordChangeTag"] == "1")
        #expect(record["deleted"] == false)
    }

    @Test("createShortGUID gives a short GUID that stays")
    func shortGUID() async throws {
        let server = try await server()
        let made = try await server.modify(
            "Z", operation("create", "a", [:], ["createShortGUID": true]))
        let guid = try #require(made.records.first?["shortGUID"]?.string)
        #expect(guid.utf8.count == 22)
        let again = try await server.modify(
            "Z", operation("forceUpdate", "a", [:], ["createShortGUID": true]))
        #expect(again.records.first?["shortGUID"]?.string == guid)
    }

    @Test("desiredKeys limits the fields of the answer, not of the record")
    func desiredKeys() async throws {
        let server = try await server()
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Z"], "desiredKeys": ["b"], "numbersAsStrings": true,
                "operations": [create("a", ["a": number(1), "b": number(2)])],
            ])
        #expect(
            answer.records.first?["fields"] == ["b": ["value": "2", "type": "INT64"]])
        let stored = try await server.lookup("Z", "a")
        #expect(stored.records.first?["fields"] == ["a": number(1), "b": number(2)])
    }

    @Test("a zone that is not there, or is somebody else's, is ZONE_NOT_FOUND for every verb")
    func unknownZones() async throws {
        let server = try await server()
        try await server.makeZone("Bobs", as: .bob)
        for zone in ["Nowhere", "Bobs"] {
            let answers = [
                try await server.modify(zone, create("a")),
                try await server.modify(zone, of: .bob, create("a")),
                try await server.modify(zone, of: .bob, scope: .private, create("a")),
                try await server.lookup(zone, "a"),
                try await server.lookup(zone, of: .bob, "a"),
            ]
            #expect(answers.map(\.status) == [404, 404, 404, 404, 404])
            #expect(Set(answers.map(\.code)) == ["ZONE_NOT_FOUND"])
            #expect(Set(answers.map { $0.json["reason"] }).count == 1)
        }
    }
}
