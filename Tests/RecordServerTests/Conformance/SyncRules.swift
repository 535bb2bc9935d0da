import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// The rules of sync, as far as they can be seen from outside (Protocol, "Feeds and sync tokens").
/// Tags and parents are in `ServerContractTests`. Tombstones, membership and the bytes of assets
/// are in the suites of maintenance, shares and assets.
@Suite("Conformance: rules of sync", .everyTransport) struct SyncRules {
    private let server: TestServer
    private let zone: JSONValue = ["zoneName": "Rules"]

    init() async throws {
        server = try await TestServer()
        _ = try await server.call(
            .zonesModify, .private, as: .alice,
            [
                "operations": [
                    ["operationType": "create", "zone": ["zoneID": ["zoneName": "Rules"]]]
                ]
            ]
        )
    }

    private func save(
        _ type: String, _ name: String, tag: JSONValue = .null, _ fields: JSONValue = [:]
    ) -> JSONValue {
        [
            "operationType": JSONValue(type),
            "record": [
                "recordName": JSONValue(name), "recordType": "Note", "recordChangeTag": tag,
                "fields": fields,
            ],
        ]
    }

    private func modify(_ operations: JSONValue...) async throws -> [JSONValue] {
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            ["zoneID": zone, "operations": .array(operations)])
        return try #require(answer.json["records"]?.array, "\(answer.text)")
    }

    private func changes(_ token: JSONValue = .null) async throws -> JSONValue {
        let answer = try await server.call(
            .changesZone, .private, as: .alice,
            ["zones": [["zoneID": zone, "syncToken": token]]])
        return try #require(answer.json["zones"]?.array?.first, "\(answer.text)")
    }

    private func names(_ page: JSONValue) -> [String] {
        (page["records"]?.array ?? []).compactMap { $0["recordName"]?.string?.string }
    }

    @Test("a custom zone is atomic and says so; the default zone is not")
    func atomic() async throws {
        let zones = try await server.call(
            .zonesLookup, .private, as: .alice,
            ["zones": [["zoneName": "Rules"], ["zoneName": "_defaultZone"]]])
        #expect(zones.json["zones"]?.array?.map { $0["atomic"]?.bool } == [true, false])
        let failed = try await modify(
            save("create", "a"), save("update", "missing", tag: "1"))
        #expect(failed.first?["serverErrorCode"]?.string == "ATOMIC_ERROR")
        #expect(names(try await changes()) == [])
    }

    @Test("of two writers with one tag the second gets CONFLICT with the server's record")
    func conflict() async throws {
        let tag = try #require(try await modify(save("create", "a")).first?["recordChangeTag"])
        let first = try await modify(
            save("update", "a", tag: tag, ["n": ["value": 1, "type": "INT64"]]))
        #expect(first.first?["serverErrorCode"] == nil)
        let second = try await modify(
            save("update", "a", tag: tag, ["n": ["value": 2, "type": "INT64"]]))
        #expect(second.first?["serverErrorCode"]?.string == "CONFLICT")
        #expect(second.first?["serverRecord"]?["fields"]?["n"]?["value"]?.int64 == 1)
    }

    @Test("a record comes once at its latest state, a deletion as a tombstone")
    func feed() async throws {
        let made = try await modify(save("create", "a"), save("create", "b"))
        let token = try #require(try await changes()["syncToken"])
        let changed = try await modify(
            save("update", "a", tag: made[0]["recordChangeTag"] ?? .null))
        _ = try await modify(save("update", "a", tag: changed[0]["recordChangeTag"] ?? .null))
        _ = try await modify(save("forceDelete", "b"))
        let page = try await changes(token)
        #expect(names(page) == ["a", "b"])
        #expect(page["records"]?.array?.last?["deleted"]?.bool == true)
        #expect(made[0]["recordChangeTag"] != changed[0]["recordChangeTag"])
    }

    @Test("a deleted zone is told as deleted, refuses saves, and can be made again")
    func zoneRemoval() async throws {
        let before = try await server.call(.changesDatabase, .private, as: .alice)
        let change: (String) -> JSONValue = { type in
            [
                "operations": [
                    ["operationType": JSONValue(type), "zone": ["zoneID": ["zoneName": "Rules"]]]
                ]
            ]
        }
        _ = try await server.call(.zonesModify, .private, as: .alice, change("delete"))
        let after = try await server.call(
            .changesDatabase, .private, as: .alice,
            ["syncToken": before.json["syncToken"] ?? .null])
        #expect(after.json["zones"]?.array?.first?["deleted"]?.bool == true)
        let refused = try await server.call(
            .recordsModify, .private, as: .alice,
            ["zoneID": zone, "operations": [save("create", "a")]])
        #expect(refused.text.contains("ZONE_NOT_FOUND"))
        _ = try await server.call(.zonesModify, .private, as: .alice, change("create"))
        #expect(try await modify(save("create", "a")).first?["serverErrorCode"] == nil)
    }

    @Test("a token of another user or zone is expired")
    func foreignToken() async throws {
        let token = try #require(try await changes()["syncToken"])
        _ = try await server.call(
            .zonesModify, .private, as: .bob,
            [
                "operations": [
                    ["operationType": "create", "zone": ["zoneID": ["zoneName": "Rules"]]]
                ]
            ]
        )
        let answer = try await server.call(
            .changesZone, .private, as: .bob, ["zones": [["zoneID": zone, "syncToken": token]]])
        #expect(
            answer.json["zones"]?.array?.first?["serverErrorCode"]?.string
                == "CHANGE_TOKEN_EXPIRED")
    }

    @Test("an update by a client that knows fewer fields keeps the others")
    func unknownFields() async throws {
        let made = try await modify(
            save("create", "a", ["old": ["value": "x"], "new": ["value": "y"]]))
        let changed = try await modify(
            save("update", "a", tag: made[0]["recordChangeTag"] ?? .null, ["old": ["value": "z"]]))
        #expect(changed.first?["fields"]?["new"]?["value"]?.string == "y")
    }

    @Test("the public database is open to read and closed to write without a user")
    func publicDatabase() async throws {
        let body: JSONValue = ["operations": [save("create", "news")]]
        let made = try await server.call(.recordsModify, .public, as: .alice, body)
        #expect(made.json["records"]?.array?.first?["serverErrorCode"] == nil)
        let read = try await server.call(
            .recordsLookup, .public, as: .anonymous, ["records": [["recordName": "news"]]])
        #expect(read.json["records"]?.array?.first?["recordType"]?.string == "Note")
        #expect(
            try await server.call(.recordsModify, .public, as: .anonymous, body).status == 421)
    }

    @Test("an error names its request in the body and in the header")
    func requestID() async throws {
        let answer = try await server.call(.recordsQuery, .private, as: .alice, ["query": 1])
        let name = try #require(HTTPField.Name("x-apple-request-uuid"))
        #expect(answer.status == 400)
        #expect(answer.headers[name] == answer.json["uuid"]?.string?.string)
    }

    @Test("B.10: a limit is checked before work, and named")
    func limit() async throws {
        let operations = (0...200).map { save("create", "n\($0)") }
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            ["zoneID": zone, "operations": .array(operations)])
        #expect(answer.code == "LIMIT_EXCEEDED" && answer.text.contains("200"))
        #expect(names(try await changes()) == [])
    }

    @Test("a production schema that was never deployed still knows cloudkit.share")
    func shareInProduction() async throws {
        _ = try await server.call(
            .zonesModify, .private, as: .alice,
            [
                "operations": [
                    ["operationType": "create", "zone": ["zoneID": ["zoneName": "Rules"]]]
                ]
            ],
            environment: .production)
        let answer = try await server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": zone,
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "cloudkit.zoneshare", "recordType": "cloudkit.share",
                            "publicPermission": "NONE",
                        ],
                    ]
                ],
            ], environment: .production)
        #expect(answer.json["records"]?.array?.first?["shortGUID"] != nil, "\(answer.text)")
    }
}
