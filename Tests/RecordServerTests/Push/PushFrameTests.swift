import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Push frames") struct PushFrameTests {
    private let fixture: PushFixture

    init() async throws { fixture = try await PushFixture() }

    private func ck(_ frame: JSONValue?) -> JSONValue { frame?["ck"] ?? .null }

    @Test("a query subscription gives a frame for each record, with event and place")
    func query() async throws {
        try await fixture.subscribe(PushFixture.querySubscription("q"))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1", title: "a")
        try await fixture.change("forceUpdate", "n-1", title: "b")
        try await fixture.change("create", "other", type: "Topic", title: "c")
        try await fixture.change("forceDelete", "n-1")
        let frames = try await fixture.frames(device)
        #expect(frames.count == 3)
        for (number, frame) in frames.enumerated() {
            #expect(frame["aps"] == nil)
            let ck = try #require(frame["ck"])
            #expect(ck["ce"]?.int64 == 2)
            #expect(ck["cid"]?.string == TestServer.container)
            #expect(ck["nid"]?.string?.utf8.count == 36)
            #expect(ck["ckuserid"]?.string == Text("\(PushFixture.alice)"))
            #expect(ck["aux"] == [:])
            #expect(
                ck["qry"] == [
                    "sid": "q", "rid": "n-1", "fo": JSONValue(Int64(number + 1)), "zid": "Work",
                    "zoid": .string(Text("\(PushFixture.alice)")), "dbs": 2,
                ])
        }
        #expect(Set(frames.compactMap { ck($0)["nid"]?.string }).count == 3)
    }

    @Test("zone and database subscriptions tell that something changed")
    func zone() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        try await fixture.subscribe(["subscriptionID": "d", "subscriptionType": "database"])
        try await fixture.makeZone("Else")
        try await fixture.subscribe(PushFixture.zoneSubscription("e", ["zoneName": "Else"]))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1")
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.count == 2)
        #expect(
            frames.contains {
                $0["fet"] == [
                    "sid": "z", "zid": "Work", "zoid": .string(Text("\(PushFixture.alice)")),
                    "dbs": 2,
                ]
            })
        #expect(frames.contains { $0["met"] == ["sid": "d", "dbs": 2] })
    }

    @Test("one change that several subscriptions match gives frames with one nid")
    func severalSubscriptions() async throws {
        try await fixture.subscribe(PushFixture.querySubscription("q1"))
        try await fixture.subscribe(PushFixture.querySubscription("q2", firesOn: ["create"]))
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1")
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.count == 3)
        #expect(Set(frames.compactMap { $0["nid"]?.string }).count == 1)
        #expect(Set(frames.compactMap { $0["qry"]?["sid"]?.string }) == ["q1", "q2"])
    }

    @Test("firesOn and firesOnce are kept")
    func fires() async throws {
        try await fixture.subscribe(
            PushFixture.querySubscription("once", firesOn: ["update"], [("firesOnce", true)]))
        try await fixture.subscribe(PushFixture.querySubscription("gone", firesOn: ["delete"]))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1")
        #expect(try await fixture.frames(device) == [])
        try await fixture.change("forceUpdate", "n-1", title: "b")
        try await fixture.change("forceUpdate", "n-1", title: "c")
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.compactMap { $0["qry"]?["sid"]?.string } == ["once"])
        let left = try await fixture.server.call(.subscriptionsList)
        #expect(
            left.json["subscriptions"]?.array?.compactMap { $0["subscriptionID"]?.string }
                == ["gone"])
    }

    @Test("a filter decides which records are told of")
    func filter() async throws {
        try await fixture.change("create", "n-0", title: "x")
        let filter: JSONValue = [
            "comparator": "EQUALS", "fieldName": "title", "fieldValue": ["value": "wanted"],
        ]
        var members = try #require(PushFixture.querySubscription("q").object)
        members[2] = JSONMember(
            key: "query", value: ["recordType": "Note", "filterBy": [filter]])
        try await fixture.subscribe(.object(members))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1", title: "other")
        try await fixture.change("create", "n-2", title: "wanted")
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.compactMap { $0["qry"]?["rid"]?.string } == ["n-2"])
    }

    @Test("without zoneWide a query subscription is about the default zone")
    func defaultZone() async throws {
        try await fixture.subscribe(
            PushFixture.querySubscription("q", firesOn: ["create"], [("zoneWide", false)]))
        let device = try await fixture.device()
        try await fixture.change("create", "n-1")
        try await fixture.change("create", "n-2", zone: ["zoneName": "_defaultZone"])
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.compactMap { $0["qry"]?["rid"]?.string } == ["n-2"])
    }

    @Test("notificationInfo becomes the aps of the frame")
    func alert() async throws {
        let infos: [(JSONValue, JSONValue)] = [
            (
                ["alertBody": "New", "shouldBadge": true, "soundName": "s"],
                ["alert": "New", "badge": 1, "sound": "s"]
            ),
            (["shouldSendContentAvailable": true], ["content-available": 1]),
            (
                [
                    "alertLocalizationKey": "K", "alertLocalizationArgs": ["a"],
                    "alertLaunchImage": "i",
                ],
                ["alert": ["loc-key": "K", "loc-args": ["a"], "launch-image": "i"]]
            ),
        ]
        let device = try await fixture.device()
        for (number, (info, aps)) in infos.enumerated() {
            try await fixture.subscribe([
                "subscriptionID": "z", "subscriptionType": "zone", "zoneID": PushFixture.work,
                "notificationInfo": info,
            ])
            try await fixture.change("create", "n-\(number)")
            #expect(try await fixture.frames(device).first?["aps"] == aps)
            _ = try await fixture.modify([("delete", ["subscriptionID": "z"])])
        }
    }

    @Test("every device of the subscriber is told, and nobody else's")
    func devices() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let mine = [try await fixture.device(), try await fixture.device()]
        let other = try await fixture.device(as: .bob)
        try await fixture.change("create", "n-1")
        for device in mine { #expect(try await fixture.frames(device).count == 1) }
        #expect(try await fixture.frames(other) == [])
    }

    @Test("subscribers of the public database are told of what they may read")
    func publicDatabase() async throws {
        try await fixture.change("create", "p-1", title: "a", .public, zone: .null)
        try await fixture.subscribe(PushFixture.querySubscription("q"), .public, as: .bob)
        let device = try await fixture.device(as: .bob)
        try await fixture.change("forceUpdate", "p-1", title: "b", .public, zone: .null)
        let frames = try await fixture.frames(device).map(ck)
        #expect(frames.count == 1)
        #expect(frames.first?["qry"]?["dbs"]?.int64 == 1)
        #expect(frames.first?["qry"]?["fo"]?.int64 == 2)
        #expect(frames.first?["qry"]?["rid"]?.string == "p-1")
    }

    @Test("a user who was disabled gets no more frames")
    func disabled() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let device = try await fixture.device()
        try await fixture.server.changeUser(.alice) { $0.isDisabled = true }
        fixture.push.publish(
            ChangeNotice(
                zone: ZoneKey(
                    database: DatabaseKey(
                        container: ContainerKey(
                            container: TestServer.container, environment: .development),
                        owner: PushFixture.alice), zone: ZoneName("Work")), changes: [],
                viewers: []))
        await fixture.push.waitUntilDelivered()
        #expect(fixture.push.statistics.frames == 0)
        #expect(try await fixture.server.request(.get, device).status == 404)
    }
}
