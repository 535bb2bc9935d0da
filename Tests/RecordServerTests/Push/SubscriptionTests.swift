import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Subscriptions") struct SubscriptionTests {
    private let fixture: PushFixture

    init() async throws { fixture = try await PushFixture() }

    private func list(_ scope: DatabaseScope = .private, as person: TestServer.Person = .alice)
        async throws -> [JSONValue]
    {
        let answer = try await fixture.server.call(.subscriptionsList, scope, as: person)
        return try #require(answer.json["subscriptions"]?.array, "\(answer.text)")
    }

    private func code(_ item: JSONValue?) -> Text? { item?["serverErrorCode"]?.string }

    @Test("a subscription is answered, listed and looked up as it was made")
    func made() async throws {
        let info: JSONValue = ["alertBody": "New", "shouldBadge": true]
        let subscription = PushFixture.querySubscription(
            "q", firesOn: ["create", "delete"],
            [("zoneID", PushFixture.work), ("firesOnce", true), ("notificationInfo", info)])
        let made = try #require(try await fixture.modify([("create", subscription)]).first)
        #expect(made["subscriptionID"]?.string == "q")
        #expect(made["subscriptionType"]?.string == "query")
        #expect(made["zoneID"]?["zoneName"]?.string == "Work")
        #expect(made["zoneID"]?["ownerRecordName"]?.string == Text("\(PushFixture.alice)"))
        #expect(made["query"]?["recordType"]?.string == "Note")
        #expect(made["firesOn"] == ["create", "delete"])
        #expect(made["firesOnce"]?.bool == true)
        #expect(made["notificationInfo"] == info)
        #expect(try await list() == [made])
        let answer = try await fixture.server.call(
            .subscriptionsLookup, .private, as: .alice,
            ["subscriptions": [["subscriptionID": "q"], ["subscriptionID": "none"]]])
        let items = try #require(answer.json["subscriptions"]?.array)
        #expect(items[0] == made)
        #expect(code(items[1]) == "NOT_FOUND")
        #expect(items[1]["subscriptionID"]?.string == "none")
    }

    @Test("a subscription without an identifier gets one")
    func minted() async throws {
        let subscription: JSONValue = ["subscriptionType": "zone", "zoneID": PushFixture.work]
        let made = try #require(try await fixture.modify([("create", subscription)]).first)
        #expect(made["subscriptionID"]?.string?.utf8.count == 36)
    }

    @Test("deleting is acknowledged by the identifier alone, once")
    func deleted() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        let operation = ("delete", ["subscriptionID": "z"] as JSONValue)
        #expect(try await fixture.modify([operation]) == [["subscriptionID": "z"]])
        #expect(try await list() == [])
        #expect(code(try await fixture.modify([operation]).first) == "NOT_FOUND")
    }

    @Test("an identifier twice, and a second one for the same changes, are EXISTS")
    func twice() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        try await fixture.subscribe(PushFixture.querySubscription("q", firesOn: ["create"]))
        try await fixture.subscribe(["subscriptionID": "d", "subscriptionType": "database"])
        let items = try await fixture.modify([
            ("create", PushFixture.zoneSubscription("z")),
            ("create", PushFixture.zoneSubscription("z2", PushFixture.sharedWork)),
            ("create", PushFixture.querySubscription("q2", firesOn: ["create"])),
            ("create", ["subscriptionID": "d2", "subscriptionType": "database"]),
            ("create", PushFixture.querySubscription("q3", firesOn: ["create", "update"])),
            ("update", PushFixture.querySubscription("q3", firesOn: ["create"])),
        ])
        #expect(
            items.map(code) == ["EXISTS", "EXISTS", "EXISTS", "EXISTS", nil, "EXISTS"])
        #expect(try await list().count == 4)
    }

    @Test("an update replaces, and needs something to replace")
    func updated() async throws {
        try await fixture.subscribe(PushFixture.querySubscription("q", firesOn: ["create"]))
        let items = try await fixture.modify([
            ("update", PushFixture.querySubscription("q", firesOn: ["delete"])),
            ("update", PushFixture.querySubscription("none", firesOn: ["update"])),
        ])
        #expect(items.map(code) == [nil, "NOT_FOUND"])
        #expect(try await list().first?["firesOn"] == ["delete"])
    }

    @Test("one that fails changes nothing and stops no other")
    func partly() async throws {
        let items = try await fixture.modify([
            ("create", PushFixture.zoneSubscription("a", ["zoneName": "None"])),
            (
                "create",
                [
                    "subscriptionID": "b", "subscriptionType": "query",
                    "query": ["recordType": "Nothing"], "firesOn": ["create"],
                ]
            ),
            ("create", PushFixture.zoneSubscription("c")),
        ])
        #expect(items.map(code) == ["ZONE_NOT_FOUND", "NOT_FOUND", nil])
        #expect(try await list().compactMap { $0["subscriptionID"]?.string } == ["c"])
    }

    @Test("the public database has query subscriptions only")
    func publicDatabase() async throws {
        let items = try await fixture.modify(
            [
                ("create", PushFixture.zoneSubscription("z", ["zoneName": "_defaultZone"])),
                ("create", ["subscriptionID": "d", "subscriptionType": "database"]),
            ], .public)
        #expect(items.map(code) == ["BAD_REQUEST", "BAD_REQUEST"])
        try await fixture.change("create", "p", title: "x", .public, zone: .null)
        try await fixture.subscribe(PushFixture.querySubscription("q"), .public)
        let anonymous = try await fixture.server.call(.subscriptionsList, .public, as: .anonymous)
        #expect(anonymous.status == 421)
    }

    @Test("users, databases and environments know nothing of each other's subscriptions")
    func apart() async throws {
        try await fixture.subscribe(PushFixture.zoneSubscription("z"))
        #expect(try await list(as: .bob) == [])
        #expect(try await list(.shared) == [])
        #expect(try await list(.public) == [])
        let production = try await fixture.server.call(
            .subscriptionsList, .private, as: .alice, environment: .production)
        #expect(production.json["subscriptions"]?.array == [])
        let stolen = try await fixture.modify(
            [("delete", ["subscriptionID": "z"])], as: .bob)
        #expect(code(stolen.first) == "NOT_FOUND")
        #expect(try await list().count == 1)
    }

    @Test("a zone that is not there and one of somebody else give the same answer")
    func zones() async throws {
        let foreign = try await fixture.modify(
            [("create", PushFixture.zoneSubscription("z", PushFixture.sharedWork))], .shared,
            as: .bob)
        let none = try await fixture.modify(
            [
                (
                    "create",
                    PushFixture.zoneSubscription(
                        "z",
                        [
                            "zoneName": "None",
                            "ownerRecordName": .string(Text("\(PushFixture.alice)")),
                        ])
                )
            ], .shared, as: .bob)
        #expect(code(foreign.first) == "ZONE_NOT_FOUND")
        #expect(foreign.first?["reason"] == none.first?["reason"])
    }

    @Test(
        "what is no subscription is refused with the place",
        arguments: [
            [:], ["subscriptionID": "x"], ["subscriptionID": "x", "subscriptionType": "magic"],
            ["subscriptionID": 1, "subscriptionType": "database"],
            ["subscriptionID": "", "subscriptionType": "database"],
            ["subscriptionID": "x", "subscriptionType": "query", "firesOn": ["create"]],
            ["subscriptionID": "x", "subscriptionType": "query", "query": ["recordType": "Note"]],
            [
                "subscriptionID": "x", "subscriptionType": "query",
                "query": ["recordType": "Note"], "firesOn": ["explode"],
            ],
            [
                "subscriptionID": "x", "subscriptionType": "database",
                "notificationInfo": ["alertBody": 3],
            ],
        ] as [JSONValue])
    func malformed(_ subscription: JSONValue) async throws {
        let answer = try await fixture.server.call(
            .subscriptionsModify, .private, as: .alice,
            ["operations": [["operationType": "create", "subscription": subscription]]])
        #expect(answer.status == 400)
        #expect(answer.code == "BAD_REQUEST")
        #expect(
            answer.json["reason"]?.string?.string.contains("operations[0].subscription") == true)
        #expect(try await list() == [])
    }

    @Test("a query that could not be asked cannot be subscribed to")
    func query() async throws {
        try await fixture.change("create", "n", title: "x")
        let subscription = PushFixture.querySubscription("q")
        var members = try #require(subscription.object)
        members[2] = JSONMember(
            key: "query",
            value: [
                "recordType": "Note",
                "filterBy": [
                    [
                        "comparator": "EQUALS", "fieldName": "nothing",
                        "fieldValue": ["value": "x"],
                    ]
                ],
            ])
        let items = try await fixture.modify([("create", .object(members))])
        #expect(code(items.first) == "BAD_REQUEST")
    }

    @Test("a user has a limited number of them, and a request too")
    func limits() async throws {
        let fixture = try await PushFixture { $0.subscriptionsPerUser = 2 }
        for name in ["A", "B", "C"] { try await fixture.makeZone(name) }
        let items = try await fixture.modify(
            ["A", "B", "C"].map { name in
                (
                    "create",
                    PushFixture.zoneSubscription(JSONValue(name), ["zoneName": JSONValue(name)])
                )
            })
        #expect(items.map(code) == [nil, nil, "LIMIT_EXCEEDED"])
        let many = (0..<201).map { number in
            ("delete", ["subscriptionID": JSONValue("\(number)")] as JSONValue)
        }
        #expect(code(try await fixture.modify(many).first) == "LIMIT_EXCEEDED")
    }
}
