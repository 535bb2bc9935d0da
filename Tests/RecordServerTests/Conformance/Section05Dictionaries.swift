import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: dictionaries", .serialized) struct ConformanceSection5 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(
        zoneID, zone, record, recordNames, references, asset, location, identity)

    private static func zoneID(_ rows: inout ConformanceRows) {
        rows.row("zoneID, zoneName: _defaultZone by default") { s in
            let answer = try await s.call(.zonesLookup, .private, ["zones": [[:]]])
            #expect(answer.at("zones.0.zoneID.zoneName") == "_defaultZone")
        }
        rows.row("zoneID, ownerRecordName: the caller by default, and in the answer") { s in
            let answer = try await s.call(.zonesLookup, .private, ["zones": [s.zoneID]])
            #expect(
                answer.at("zones.0.zoneID.ownerRecordName") == ConformanceScene.user(.alice))
            #expect(ConformanceScene.user(.alice).words.count == 33)
        }
        for (key, owner) in [
            ("ownerRecordName", nil), ("ownerName", nil), ("ownerRecordName", "__defaultOwner__"),
        ] as [(String, String?)] {
            rows.row("zoneID, \(key): \(owner ?? "a user record name") is the caller") { s in
                let name = owner.map { JSONValue($0) } ?? ConformanceScene.user(.alice)
                let answer = try await s.call(
                    .zonesLookup, .private, ["zones": [s.zoneID.with(key, name)]])
                #expect(
                    answer.at("zones.0.zoneID.ownerRecordName") == ConformanceScene.user(.alice))
            }
        }
        rows.row("zoneID, ownerRecordName: somebody else's zone is not there") { s in
            let answer = try await s.call(
                .zonesLookup, .private, as: .bob,
                ["zones": [TestServer.zone(s.zone, of: .alice)]])
            #expect(answer.at("zones.0.serverErrorCode") == "ZONE_NOT_FOUND")
        }
        rows.row("zoneID, zoneType: REGULAR_CUSTOM_ZONE and that of the default zone") { s in
            let answer = try await s.call(
                .zonesLookup, .private,
                ["zones": [s.zoneID.with("zoneType", "REGULAR_CUSTOM_ZONE"), [:]]])
            #expect(answer.at("zones.0.zoneID.zoneType") == "REGULAR_CUSTOM_ZONE")
            #expect(answer.at("zones.1.zoneID.zoneType") == "DEFAULT_ZONE")
        }
    }

    private static func zone(_ rows: inout ConformanceRows) {
        rows.row("zone, zoneID, syncToken, atomic: custom zones are atomic, the default is not") {
            s in
            let answer = try await s.call(.zonesLookup, .private, ["zones": [s.zoneID, [:]]])
            #expect(answer.at("zones.0").keys == ["atomic", "syncToken", "zoneID"])
            #expect(answer.at("zones.0.atomic") == true)
            #expect(answer.at("zones.1.atomic") == false)
        }
        rows.row("zone, deleted: on change feeds") { s in
            let start = try await s.call(.changesDatabase).at("syncToken")
            try await s.server.deleteZone(s.zone)
            let answer = try await s.call(.changesDatabase, .private, ["syncToken": start])
            #expect(answer.at("zones.0.deleted") == true)
        }
    }

    private static func record(_ rows: inout ConformanceRows) {
        rows.row("record, recordChangeTag: steps in base 36 with each change") { s in
            let made = try await s.modify(create(s.name("a")))
            let next = try await s.modify(force(s.name("a"), ["title": text("x")]))
            let tags = [made.tag(), next.tag()].map { Int($0, radix: 36) ?? -1 }
            #expect(tags[0] > 0)
            #expect(tags[1] == tags[0] + 1)
        }
        rows.row("record, fields: empty by default") { s async throws in
            #expect(try await s.modify(create(s.name("a"))).at("records.0.fields") == [:])
        }
        rows.row("record, created and modified: timestamp, userRecordName, deviceID") { s in
            let path = try await s.path(.recordsModify, .private, "&clientId=phone")
            let body: JSONValue = ["zoneID": s.zoneID, "operations": [create(s.name("a"))]]
            let made = try await s.server.request(.post, path, body: body.serialized())
            for key in ["created", "modified"] {
                let stamp = made.at("records.0.\(key)")
                #expect(stamp.keys == ["deviceID", "timestamp", "userRecordName"])
                #expect(stamp.at("timestamp").int64 == 1_800_000_000_000)
                #expect(stamp.at("userRecordName") == ConformanceScene.user(.alice))
                #expect(stamp.at("deviceID") == "phone")
            }
        }
        rows.row("record, deleted: false on records; tombstones have no type and no fields") { s in
            let made = try await s.modify(create(s.name("a")))
            #expect(made.at("records.0.deleted") == false)
            let token = try await s.server.changes(s.zone).token
            try await s.modify(delete(s.name("a")))
            let feed = try await s.server.changes(s.zone, since: token)
            #expect(feed.records.first?.keys == ["deleted", "recordName"])
        }
        rows.row("record, zoneID and pluginFields: in answers") { s in
            let made = try await s.modify(create(s.name("a"))).at("records.0")
            #expect(made.at("zoneID.zoneName") == JSONValue(s.zone))
            #expect(made.at("pluginFields") == [:])
        }
        rows.row("record, createShortGUID and shortGUID") { s in
            let plain = try await s.modify(create(s.name("a")))
            #expect(plain.at("records.0.shortGUID") == .null)
            let made = try await s.modify(
                operation("create", s.name("b"), [:], ["createShortGUID": true]))
            #expect(made.at("records.0.shortGUID").string != nil)
            let found = try await s.record(s.name("b"))
            #expect(found.at("shortGUID") == made.at("records.0.shortGUID"))
        }
        rows.row("record, parent: recordName, both ways, null takes it away") { s in
            let made = try await s.modify(
                create(s.name("a")), create(s.name("b"), parent: s.name("a")))
            #expect(made.at("records.1.parent") == ["recordName": s.json("a")])
            let cleared = try await s.modify(
                operation("forceUpdate", s.name("b"), nil, ["parent": .null]))
            #expect(cleared.at("records.0.parent") == .null)
        }
        rows.row("record, share and shortGUID: on a root and on its share, the same") { s in
            try await s.modify(create(s.name("r")))
            try await s.server.share(s.zone, s.name("r"))
            let root = try await s.record(s.name("r"))
            let share = try await s.record("share-" + s.name("r"))
            #expect(root.at("share.recordName") == share.at("recordName"))
            #expect(share.at("share.recordName") == share.at("recordName"))
            #expect(root.at("share.zoneID.zoneName") == JSONValue(s.zone))
            #expect(root.at("shortGUID").string != nil)
            #expect(root.at("shortGUID") == share.at("shortGUID"))
        }
        rows.row("record keys that only answers have: read over in a request") { s in
            let made = try await s.modify(create(s.name("a"))).at("records.0")
            let echoed = ["operationType": "update", "record": made] as JSONValue
            #expect(try await s.modify(echoed).results == ["saved"])
        }
    }

    private static func recordNames(_ rows: inout ConformanceRows) {
        rows.row("record, recordName: unique in its zone, minted where absent") { s in
            try await s.server.makeZone(s.name("Y"))
            #expect(try await s.modify(create(s.name("a"))).results == ["saved"])
            let other = try await s.server.modify(s.name("Y"), create(s.name("a")))
            #expect(other.results == ["saved"])
            let minted = try await s.modify(create(nil), create(nil))
            #expect(Set(minted.names).count == 2)
            #expect(minted.names.allSatisfy { $0.utf8.count == 36 })
        }
        let names: [(String, String, String)] = [
            ("255 characters", String(repeating: "a", count: 255), "saved"),
            ("256 characters", String(repeating: "a", count: 256), "BAD_REQUEST"),
            ("empty", "", "BAD_REQUEST"), ("not ASCII", "é", "saved"),
            ("a control", "a\u{7}", "BAD_REQUEST"), ("a leading _", "_a", "BAD_REQUEST"),
            ("punctuation", "a/b c:d{}", "saved"),
        ]
        for (what, name, result) in names {
            rows.row("record, recordName: \(what) is \(result)") { s async throws in
                #expect(try await s.modify(create(name)).results == [result])
            }
        }
        rows.row("record, recordType: needed where the record may not exist") { s in
            for type in ["create", "forceUpdate", "forceReplace"] {
                let answer = try await s.modify(operation(type, s.name("a"), type: nil))
                #expect(answer.results == ["BAD_REQUEST"])
            }
        }
    }

    private static func references(_ rows: inout ConformanceRows) {
        rows.row("reference, NONE: nothing happens when the target goes") { s in
            try await s.modify(
                create(s.name("t")), create(s.name("a"), ["r": reference(s.name("t"), "NONE")]))
            #expect(try await s.modify(delete(s.name("t"))).results == ["deleted"])
            let field = try await s.record(s.name("a")).at("fields.r.value")
            #expect(field.at("recordName") == s.json("t"))
            #expect(field.at("action") == "NONE")
        }
        rows.row("reference, DELETE_SELF: the source goes with the target") { s in
            try await s.modify(
                create(s.name("t")),
                create(s.name("a"), ["r": reference(s.name("t"), "DELETE_SELF")]))
            try await s.modify(delete(s.name("t")))
            #expect(try await s.record(s.name("a")).at("serverErrorCode") == "NOT_FOUND")
        }
        rows.row("reference, VALIDATE: the target must exist, and stays while there are sources") {
            s in
            let source = create(s.name("a"), ["r": reference(s.name("t"), "VALIDATE")])
            #expect(try await s.modify(source).results == ["VALIDATING_REFERENCE_ERROR"])
            let both = try await s.modify(create(s.name("t")), source)
            #expect(both.results == ["saved", "saved"])
            let kept = try await s.modify(delete(s.name("t")))
            #expect(kept.results == ["VALIDATING_REFERENCE_ERROR"])
            let together = try await s.modify(delete(s.name("a")), delete(s.name("t")))
            #expect(together.results == ["deleted", "deleted"])
        }
        for (action, result) in [
            ("NONE", "saved"), ("DELETE_SELF", "BAD_REQUEST"), ("VALIDATE", "BAD_REQUEST"),
        ] {
            rows.row("reference, zoneID: \(action) across zones is \(result)") { s in
                try await s.server.makeZone(s.name("Y"))
                let far = reference(s.name("t"), action, zone: TestServer.zone(s.name("Y")))
                #expect(try await s.modify(create(s.name("a"), ["r": far])).results == [result])
            }
        }
        rows.row("reference, action: may be omitted in a query") { s in
            try await s.modify(
                operation(
                    "create", s.name("a"), type: s.type, ["r": reference(s.name("t"), "NONE")]))
            let found = try await s.query([
                "comparator": "EQUALS", "fieldName": "r",
                "fieldValue": ["value": ["recordName": s.json("t")], "type": "REFERENCE"],
            ])
            #expect(found.names == [s.name("a")])
        }
    }

    private static func asset(_ rows: inout ConformanceRows) {
        rows.row("the five keys of an upload, two and downloadURL of a record") { s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            #expect(
                asset.keys == [
                    "fileChecksum", "receipt", "referenceChecksum", "size", "wrappingKey",
                ])
            let made = try await s.modify(
                create(s.name("a"), type: s.type, ["photo": ConformanceAsset.field(asset)]))
            #expect(made.results == ["saved"], "\(made.text)")
            let value = try await s.record(s.name("a")).at("fields.photo.value")
            #expect(value.keys == ["downloadURL", "fileChecksum", "size"])
        }
        rows.row("asset, fileChecksum: 21 bytes in base64, the first is 1") { s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            let checksum = Base64.decode(asset.at("fileChecksum").string?.utf8 ?? []) ?? []
            #expect(checksum.count == 21)
            #expect(checksum.first == 1)
        }
        rows.row("asset, a fetched value cannot be saved to another record") { s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            try await s.modify(
                create(s.name("a"), type: s.type, ["photo": ConformanceAsset.field(asset)]))
            let value = try await s.record(s.name("a")).at("fields.photo")
            let copied = try await s.modify(create(s.name("b"), type: s.type, ["photo": value]))
            #expect(copied.results == ["BAD_REQUEST"])
        }
        rows.row("asset, downloadURL: ${f} is for a file name") { s in
            let asset = try await ConformanceAsset.upload(s, s.name("a"), [1, 2, 3])
            try await s.modify(
                create(s.name("a"), type: s.type, ["photo": ConformanceAsset.field(asset)]))
            let url = try await s.record(s.name("a")).at("fields.photo.value.downloadURL").words
            #expect(url.contains("${f}"))
            let path = try AssetFixture.path(Text(url)).replacing("${f}", with: "photo.jpg")
            #expect(try await s.server.request(.get, path).body == [1, 2, 3])
        }
    }

    private static func location(_ rows: inout ConformanceRows) {
        rows.row("location, latitude and longitude: required, within the globe") { s in
            let all: [JSONValue] = [
                ["latitude": 1], ["longitude": 1], ["latitude": 91, "longitude": 0],
                ["latitude": 0, "longitude": 181], ["latitude": "x", "longitude": 0],
            ]
            for place in all {
                let field: JSONValue = ["value": place, "type": "LOCATION"]
                let answer = try await s.modify(
                    create(s.name("a"), type: s.type, ["place": field]))
                #expect(answer.results == ["BAD_REQUEST"], "\(place)")
            }
        }
        let optional = [
            "horizontalAccuracy", "verticalAccuracy", "altitude", "speed", "course", "timestamp",
        ]
        for key in optional {
            rows.row("location, \(key): optional, kept") { s in
                let place: JSONValue = ["latitude": 1, "longitude": 2]
                let field: JSONValue = ["value": place.with(key, 5), "type": "LOCATION"]
                let answer = try await s.modify(
                    create(s.name("a"), type: s.type, ["place": field]))
                let saved = answer.at("records.0.fields.place.value")
                #expect(saved.keys == ["latitude", "longitude", key].sorted())
                #expect(saved[key]?.double == 5)
            }
        }
    }

    private static func identity(_ rows: inout ConformanceRows) {
        rows.row("identity: userRecordName, nameComponents, lookupInfo") { s in
            let answer = try await s.call(
                .usersDiscover, .public,
                ["lookupInfos": [["emailAddress": "bob@example.org"]]])
            let user = answer.at("users.0")
            #expect(user.keys == ["lookupInfo", "nameComponents", "userRecordName"])
            #expect(user.at("userRecordName") == ConformanceScene.user(.bob))
            #expect(user.at("nameComponents.givenName") == "bob")
            #expect(user.at("nameComponents.familyName") == "Example")
            #expect(user.at("lookupInfo") == ["emailAddress": "bob@example.org"])
        }
        rows.row("legacy user: userRecordName, firstName, lastName, emailAddress") { s in
            let answer = try await s.call(
                .usersLookupEmail, .public, ["users": [["emailAddress": "bob@example.org"]]])
            #expect(
                answer.at("users.0").keys
                    == ["emailAddress", "firstName", "lastName", "userRecordName"])
        }
    }
}
