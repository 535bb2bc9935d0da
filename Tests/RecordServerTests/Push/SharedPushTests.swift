import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Push to participants") struct SharedPushTests {
    private let fixture: PushFixture

    /// Alice shares the hierarchy of `root` with bob, who has accepted.
    init() async throws {
        fixture = try await PushFixture()
        let made = try await fixture.server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": PushFixture.work,
                "operations": [
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "root", "recordType": "Note", "createShortGUID": true,
                        ],
                    ],
                    [
                        "operationType": "create",
                        "record": [
                            "recordName": "share", "recordType": "cloudkit.share",
                            "forRecord": ["recordName": "root"], "publicPermission": "NONE",
                            "participants": [
                                [
                                    "type": "USER", "permission": "READ_WRITE",
                                    "acceptanceStatus": "INVITED",
                                    "userIdentity": [
                                        "lookupInfo": ["emailAddress": "bob@example.org"]
                                    ],
                                ]
                            ],
                        ],
                    ],
                ],
            ])
        let records = try #require(made.json["records"]?.array)
        let guids = records.compactMap { $0["shortGUID"]?.string }
        let guid = try #require(guids.first, "\(made.text)")
        let accepted = try await fixture.server.call(
            .recordsAccept, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]])
        #expect(
            accepted.json["results"]?.array?.first?["serverErrorCode"] == nil
                && accepted.status == 200, "\(accepted.text)")
        await fixture.push.waitUntilDelivered()
    }

    private func subscribeAll() async throws -> String {
        try await fixture.subscribe(
            PushFixture.zoneSubscription("z", PushFixture.sharedWork), .shared, as: .bob)
        try await fixture.subscribe(
            ["subscriptionID": "d", "subscriptionType": "database"], .shared, as: .bob)
        try await fixture.subscribe(PushFixture.querySubscription("q"), .shared, as: .bob)
        return try await fixture.device(as: .bob)
    }

    private var aliceText: JSONValue { .string(Text("\(PushFixture.alice)")) }

    @Test("a participant is told of shared records, with the owner's name")
    func told() async throws {
        let device = try await subscribeAll()
        try await fixture.change("forceUpdate", "root", title: "b")
        let frames = try await fixture.frames(device).compactMap { $0["ck"] }
        #expect(frames.count == 3)
        #expect(
            frames.contains {
                $0["qry"] == [
                    "sid": "q", "rid": "root", "fo": 2, "zid": "Work", "zoid": aliceText,
                    "dbs": 3,
                ]
            })
        #expect(
            frames.contains {
                $0["fet"] == ["sid": "z", "zid": "Work", "zoid": aliceText, "dbs": 3]
            })
        #expect(frames.contains { $0["met"] == ["sid": "d", "dbs": 3] })
        #expect(
            frames.allSatisfy { $0["ckuserid"]?.string == Text("\(TestServer.userName("b0b"))") })
    }

    @Test("a participant is not told the names of records that are not shared")
    func hidden() async throws {
        let device = try await subscribeAll()
        try await fixture.change("create", "secret", title: "b")
        let frames = try await fixture.frames(device).compactMap { $0["ck"] }
        #expect(!frames.contains { $0["qry"] != nil })
        #expect(!frames.contains { $0.serialized().contains(Array("secret".utf8)) })
    }

    @Test("the end of a share is told once, and nothing after it")
    func revoked() async throws {
        let device = try await subscribeAll()
        try await fixture.change("forceDelete", "share", type: "cloudkit.share")
        let frames = try await fixture.frames(device).compactMap { $0["ck"] }
        #expect(frames.contains { $0["met"] != nil })
        #expect(!frames.contains { $0["qry"] != nil })
        try await fixture.change("forceUpdate", "root", title: "c")
        try await fixture.change("create", "later", title: "c")
        #expect(try await fixture.frames(device) == [])
    }

    @Test("the owner is told that somebody asks for access, and nobody who")
    func accessRequest() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z", PushFixture.work))
        let device = try await fixture.device()
        let share = try await fixture.server.call(
            .recordsLookup, .private, as: .alice,
            ["zoneID": PushFixture.work, "records": [["recordName": "share"]]])
        let guid = try #require(share.json.at("records.0.shortGUID").string, "\(share.text)")
        let asked = try await fixture.server.call(
            .recordsRequestAccess, .public, as: .carol,
            ["shortGUIDs": [["value": .string(guid)]]])
        #expect(asked.status == 200)
        await fixture.server.waitUntilDelivered()
        let frames = try await fixture.frames(device).compactMap { $0["ck"] }
        #expect(frames.contains { $0["fet"]?["sid"] == "z" }, "\(frames)")
        let carol = Array(ShareScene.name(.carol).utf8)
        #expect(!frames.contains { $0.serialized().contains(carol) })
    }

    @Test(
        "who is invited, and then no longer, is told that there is something new, and nothing else")
    func invitation() async throws {
        try await fixture.subscribe(
            ["subscriptionID": "d", "subscriptionType": "database"], .shared, as: .carol)
        try await fixture.subscribe(PushFixture.querySubscription("q"), .shared, as: .carol)
        try await fixture.subscribe(
            ["subscriptionID": "z", "subscriptionType": "zone", "zoneWide": true], .shared,
            as: .carol)
        let device = try await fixture.device(as: .carol)
        func change(
            _ operation: String, _ participants: JSONValue, title: JSONValue = "Plans"
        ) async throws {
            let answer = try await fixture.server.call(
                .recordsModify, .private, as: .alice,
                [
                    "zoneID": PushFixture.work,
                    "operations": [
                        [
                            "operationType": JSONValue(operation),
                            "record": [
                                "recordName": "share", "recordType": "cloudkit.share",
                                "participants": participants,
                                "fields": ["cloudkit.title": ["value": title, "type": "STRING"]],
                            ],
                        ]
                    ],
                ])
            #expect(answer.json.at("records.0.serverErrorCode") == nil, "\(answer.text)")
            await fixture.server.waitUntilDelivered()
        }
        let carol: JSONValue = [
            "type": "USER", "permission": "READ_ONLY", "acceptanceStatus": "INVITED",
            "userIdentity": ["lookupInfo": ["emailAddress": "carol@example.org"]],
        ]
        try await change("forceUpdate", [carol])
        let frame: JSONValue = ["met": ["sid": "d", "dbs": 3]]
        func told() async throws -> [JSONValue?] {
            try await fixture.frames(device).map { $0["ck"]?["met"] }
        }
        #expect(try await told() == [frame["met"]])
        // The same again, and what happens in the zone, is not hers yet.
        try await change("forceUpdate", [carol])
        try await fixture.change("forceUpdate", "root", title: "c")
        #expect(try await told() == [])
        try await change("forceUpdate", [carol], title: "Other plans")
        #expect(try await told() == [frame["met"]])
        try await change("forceUpdate", [])
        #expect(try await told() == [frame["met"]])
        try await change("forceUpdate", [carol])
        #expect(try await told() == [frame["met"]])
        _ = try await fixture.server.call(
            .zonesModify, .private, as: .alice,
            ["operations": [["operationType": "delete", "zone": ["zoneID": PushFixture.work]]]])
        await fixture.server.waitUntilDelivered()
        #expect(try await told() == [frame["met"]])
    }

    @Test("what a participant writes is told to the owner")
    func owner() async throws {
        try await fixture.subscribe(PushFixture.querySubscription("mine"))
        let device = try await fixture.device()
        try await fixture.change(
            "forceUpdate", "root", title: "by bob", .shared, as: .bob,
            zone: PushFixture.sharedWork)
        let frames = try await fixture.frames(device).compactMap { $0["ck"]?["qry"] }
        #expect(frames.count == 1)
        #expect(frames.first?["dbs"]?.int64 == 2)
    }
}
