import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: shares, short GUIDs, subscriptions", .serialized)
struct ConformanceSection5Shares {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(shares, access, participants, guids, subscriptions)

    /// Shares `r` of the row's zone and gives the share record.
    private static func share(
        _ s: ConformanceScene, with people: [TestServer.Person: String] = [:],
        publicPermission: String = "NONE"
    ) async throws -> JSONValue {
        try await s.modify(create(s.name("r"), ["title": text("x"), "n": number(1)]))
        let made = try await s.modify(
            TestServer.shareOperation(
                s.name("r"), with: people, publicPermission: publicPermission),
            force(s.name("r")))
        #expect(made.results == ["saved", "saved"], "\(made.text)")
        return made.at("records.0")
    }

    /// The same, with somebody who is invited by address.
    private static func share(
        _ s: ConformanceScene, inviting address: String, as type: String = "USER"
    ) async throws -> JSONValue {
        let participant: JSONValue = [
            "type": JSONValue(type), "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
            "userIdentity": ["lookupInfo": ["emailAddress": JSONValue(address)]],
        ]
        try await s.modify(create(s.name("r")))
        let made = try await s.modify(
            operation(
                "create", s.name("s"), type: "cloudkit.share", [:],
                ["forRecord": ["recordName": s.json("r")], "participants": [participant]]),
            force(s.name("r")))
        return made.at("records.0")
    }

    private static func shares(_ rows: inout ConformanceRows) {
        rows.row("the keys that a share adds") { s in
            let share = try await share(s)
            #expect(share.at("recordType") == "cloudkit.share")
            for key in [
                "shortGUID", "share", "owner", "currentUserParticipant", "publicPermission",
                "participants", "forRecord", "url",
            ] {
                #expect(share[key] != nil, "\(key)")
            }
            #expect(share.at("forRecord.recordName") == s.json("r"))
        }
        rows.row("the share URL has the short GUID and stays when shared again") { s in
            let share = try await share(s)
            let guid = share.at("shortGUID").words
            #expect(share.at("url").words.contains("/share/\(guid)"))
            try await s.modify(delete(share.at("recordName").words))
            let again = try await s.modify(
                TestServer.shareOperation(s.name("r")), force(s.name("r")))
            #expect(again.at("records.0.shortGUID").words == guid, "\(again.text)")
        }
        for permission in ["NONE", "READ_ONLY", "READ_WRITE"] {
            rows.row("publicPermission \(permission)") { s in
                let share = try await share(s, publicPermission: permission)
                #expect(share.at("publicPermission") == JSONValue(permission))
            }
        }
        rows.row("publicPermission UNKNOWN: counts as NONE") { s in
            let share = try await share(s, publicPermission: "UNKNOWN")
            #expect(share.at("publicPermission") == "NONE")
        }
        rows.row("share, forRecord.recordChangeTag: a stale one is CONFLICT") { s in
            try await s.modify(create(s.name("r")))
            let stale = operation(
                "create", s.name("s"), type: "cloudkit.share", [:],
                [
                    "forRecord": ["recordName": s.json("r"), "recordChangeTag": "zz"]
                ])
            let answer = try await s.modify(atomic: false, stale, force(s.name("r")))
            #expect(answer.results.first == "CONFLICT", "\(answer.text)")
        }
        rows.row("share, fields: title, thumbnail, type, and those of the app") { s in
            let fields: JSONValue = [
                "cloudkit.title": text("Plans"),
                "cloudkit.thumbnailImageData": ["value": "AQID", "type": "BYTES"],
                "cloudkit.type": text("org.example.plan"), "color": text("red"),
            ]
            try await s.modify(create(s.name("r")))
            let answer = try await s.modify(
                operation(
                    "create", s.name("s"), type: "cloudkit.share", fields,
                    ["forRecord": ["recordName": s.json("r")]]), force(s.name("r")))
            #expect(answer.results == ["saved", "saved"], "\(answer.text)")
            let saved = try await s.record(s.name("s")).at("fields")
            #expect(saved.keys == fields.keys)
            #expect(saved["cloudkit.title"] == text("Plans"))
            #expect(saved["cloudkit.type"] == text("org.example.plan"))
            #expect(
                saved["cloudkit.thumbnailImageData"] == fields["cloudkit.thumbnailImageData"])
        }
        rows.row("share, zone-wide: cloudkit.zoneshare, without forRecord") { s in
            let answer = try await s.modify(TestServer.shareOperation(nil))
            #expect(answer.results == ["saved"], "\(answer.text)")
            #expect(answer.names == ["cloudkit.zoneshare"])
            #expect(answer.at("records.0.forRecord") == .null)
        }
    }

    /// What Apple does not document, in the shapes of clients of its service.
    private static func access(_ rows: inout ConformanceRows) {
        rows.row("share, requesters, blocked, denyAccessRequests, oneTimeStableUrlInfo") { s in
            let share = try await share(s)
            #expect(share.at("requesters") == [] && share.at("blocked") == [])
            #expect(share.at("denyAccessRequests") == false)
            #expect(share.at("oneTimeStableUrlInfo.oneTimeLinks") == [])
        }
        rows.row("a one-time link: a participant that is nobody yet, and its sharingLink") {
            s in
            let share = try await share(s)
            let id = share.at("recordName").words + "-slot"
            let changed = try await s.modify(
                operation(
                    "forceUpdate", share.at("recordName").words, type: "cloudkit.share", [:],
                    [
                        "participants": [["participantId": JSONValue(id), "userIdentity": [:]]],
                        "oneTimeStableUrlInfo": [
                            "oneTimeLinks": [["participantId": [JSONValue(id)]]]
                        ],
                    ]))
            let link = changed.at("records.0.oneTimeStableUrlInfo.oneTimeLinks.0")
            #expect(link.at("participantId.0") == JSONValue(id), "\(changed.text)")
            #expect(link.at("sharingLink").words.utf8.count == 22)
            #expect(changed.at("records.0.participants.1.participantId") == JSONValue(id))
        }
    }

    private static func participants(_ rows: inout ConformanceRows) {
        for permission in ["NONE", "READ_ONLY", "READ_WRITE"] {
            rows.row("participant permission \(permission)") { s in
                let share = try await share(s, with: [.bob: permission])
                #expect(share.at("participants.1.permission") == JSONValue(permission))
                #expect(share.at("participants.1.type") == "USER")
            }
        }
        rows.row("participant types OWNER and USER, status ACCEPTED and INVITED") { s in
            let share = try await share(s, with: [.bob: "READ_ONLY"])
            #expect(share.at("participants.0.type") == "OWNER")
            #expect(share.at("participants.0.acceptanceStatus") == "ACCEPTED")
            #expect(share.at("participants.1.acceptanceStatus") == "INVITED")
            #expect(share.at("participants.1.participantId").string != nil)
            #expect(
                share.at("participants.1.userIdentity.userRecordName")
                    == ConformanceScene.user(.bob))
            #expect(share.at("owner") == share.at("participants.0"))
            #expect(share.at("currentUserParticipant") == share.at("owner"))
        }
        rows.row("participant type PUBLIC_USER: who came by the URL") { s in
            let share = try await share(s, publicPermission: "READ_ONLY")
            let joined = try await s.server.accept(
                try #require(share.at("shortGUID").string), as: .bob)
            #expect(joined.at("results.0.participantType") == "PUBLIC_USER")
        }
        rows.row("participant type ADMINISTRATOR") { s in
            let share = try await share(s, inviting: "bob@example.org", as: "ADMINISTRATOR")
            #expect(share.at("participants.1.type") == "ADMINISTRATOR")
        }
    }

    private static func guids(_ rows: inout ConformanceRows) {
        rows.row("the keys of a short GUID's result, for the owner and for who is invited") { s in
            let share = try await share(s, with: [.bob: "READ_ONLY"])
            let body: JSONValue = ["shortGUIDs": [["value": share.at("shortGUID")]]]
            for (person, scope) in [(TestServer.Person.alice, "PRIVATE"), (.bob, "SHARED")] {
                let answer = try await s.call(.recordsResolve, .public, as: person, body)
                let result = answer.at("results.0")
                #expect(
                    result.keys == [
                        "containerIdentifier", "databaseScope", "environment", "ownerIdentity",
                        "participantPermission", "participantStatus", "participantType",
                        "rootRecordName", "share", "shortGUID", "zoneID",
                    ])
                #expect(result.at("databaseScope") == JSONValue(scope))
                #expect(result.at("environment") == "development")
                #expect(result.at("containerIdentifier") == .string(TestServer.container))
                #expect(result.at("rootRecordName") == s.json("r"))
            }
        }
        rows.row("short GUID, shouldFetchRootRecord and rootRecordDesiredKeys") { s in
            let share = try await share(s)
            let answer = try await s.call(
                .recordsResolve, .public,
                [
                    "shortGUIDs": [
                        [
                            "value": share.at("shortGUID"), "shouldFetchRootRecord": true,
                            "rootRecordDesiredKeys": ["n"],
                        ]
                    ]
                ])
            #expect(answer.at("results.0.rootRecord.recordName") == s.json("r"))
            #expect(answer.at("results.0.rootRecord.fields").keys == ["n"])
        }
        rows.row("short GUID, value: required") { s in
            let answer = try await s.call(.recordsResolve, .public, ["shortGUIDs": [[:]]])
            #expect(answer.code == "BAD_REQUEST")
        }
        rows.row("short GUID, potentialMatchList: invitations that wait at another address") { s in
            let share = try await share(s, inviting: "someone@example.net")
            let body: JSONValue = ["shortGUIDs": [["value": share.at("shortGUID")]]]
            let answer = try await s.call(.recordsResolve, .public, as: .carol, body)
            #expect(answer.at("results.0.serverErrorCode") == "NOT_FOUND", "\(answer.text)")
            #expect(answer.at("results.0.rootRecordName") == .null)
            let match = answer.at("results.0.potentialMatchList.0")
            #expect(match.keys == ["contactInformation", "participantId"])
            #expect(match.at("participantId") == share.at("participants.1.participantId"))
        }
    }

    private static func subscriptions(_ rows: inout ConformanceRows) {
        rows.row("subscription, zone: subscriptionID, subscriptionType, zoneID") { s in
            let made = try await ConformancePush.create(
                s, ["subscriptionID": s.json("z"), "subscriptionType": "zone", "zoneID": s.zoneID])
            #expect(made.at("subscriptionID") == s.json("z"))
            #expect(made.at("subscriptionType") == "zone")
            #expect(made.at("zoneID.zoneName") == JSONValue(s.zone))
        }
        rows.row("subscription, query: query, firesOn, firesOnce, zoneWide, notificationInfo") {
            s in
            try await s.modify(operation("create", s.name("a"), type: s.type, [:]))
            let info: JSONValue = [
                "alertBody": "b", "alertLocalizationKey": "k", "alertLocalizationArgs": ["a"],
                "alertActionLocalizationKey": "c", "alertLaunchImage": "i", "soundName": "s",
                "shouldBadge": true, "shouldSendContentAvailable": true,
            ]
            let made = try await ConformancePush.create(
                s,
                [
                    "subscriptionID": s.json("q"), "subscriptionType": "query",
                    "query": ["recordType": JSONValue(s.type)],
                    "firesOn": ["create", "update", "delete"], "firesOnce": true,
                    "zoneWide": true, "notificationInfo": info,
                ])
            #expect(made.at("query.recordType") == JSONValue(s.type), "\(made)")
            #expect(made.at("firesOn") == ["create", "update", "delete"])
            #expect(made.at("firesOnce") == true)
            #expect(made.at("notificationInfo") == info)
        }
        rows.row("subscription, database: an extension") { s in
            let server = try await s.own()
            let answer = try await server.call(
                .subscriptionsModify, .private,
                ConformancePush.body([
                    ("create", ["subscriptionID": "d", "subscriptionType": "database"])
                ]))
            #expect(answer.at("subscriptions.0.subscriptionType") == "database")
        }
        rows.row("subscription, subscriptionType: an unknown one is refused") { s in
            let made = try await s.call(
                .subscriptionsModify, .private,
                ConformancePush.body([
                    ("create", ["subscriptionID": s.json("x"), "subscriptionType": "record"])
                ]))
            #expect(made.code == "BAD_REQUEST")
        }
    }
}
