import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Short GUIDs") struct ShortGUIDTests {
    /// A share of a root with this public permission and these invitations.
    private func shared(
        _ permission: SharePermission = .none, _ invited: [KeyPath<SharingFixture, UserRow>] = []
    ) async throws -> (SharingFixture, Text) {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, permission,
                invited.map { .invite(fixture[keyPath: $0]) }))
        return (fixture, share.shortGUID)
    }

    @Test("an invited user learns what the share is, without joining")
    func resolve() async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        let result = try await fixture.resolve(guid, as: fixture.bob)
        #expect(result.at("shortGUID.value") == .string(guid))
        #expect(result.at("containerIdentifier") == "iCloud.org.example.app")
        #expect(result.at("environment") == "development")
        #expect(result.at("databaseScope") == "SHARED")
        #expect(result.at("zoneID.zoneName") == "Work")
        #expect(result.at("zoneID.ownerRecordName").string?.utf8 == fixture.alice.name.bytes)
        #expect(result.at("rootRecordName") == "root")
        #expect(result.at("rootRecord") == .null)
        #expect(result.at("share.recordName") == "s")
        #expect(result.at("share.recordType") == "cloudkit.share")
        #expect(result.at("share.shortGUID") == .string(guid))
        #expect(result.at("ownerIdentity.nameComponents.familyName") == "Ayers")
        #expect(result.at("participantType") == "USER")
        #expect(result.at("participantStatus") == "INVITED")
        #expect(result.at("participantPermission") == "READ_WRITE")
        #expect(try await fixture.view(of: fixture.bob) == nil)
        #expect(try await fixture.share()?.present.first?.status == .invited)
    }

    @Test("the root record comes along when it is asked for, with the keys asked for")
    func rootRecord() async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        let answer = try await fixture.answer(
            .recordsResolve, .public, as: fixture.bob,
            [
                "shortGUIDs": [
                    [
                        "value": .string(guid), "shouldFetchRootRecord": true,
                        "rootRecordDesiredKeys": ["name"],
                    ]
                ]
            ])
        let result = answer.at("results.0")
        #expect(result.at("rootRecord.recordName") == "root")
        #expect(result.at("shortGUID.shouldFetchRootRecord") == true)
        #expect(result.at("shortGUID.rootRecordDesiredKeys.0") == "name")
    }

    @Test("the owner finds its own share, in the private database")
    func owner() async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        for result in [
            try await fixture.resolve(guid, as: fixture.alice),
            try await fixture.accept(guid, as: fixture.alice),
        ] {
            #expect(result.at("databaseScope") == "PRIVATE")
            #expect(result.at("participantType") == "OWNER")
            #expect(result.at("participantStatus") == "ACCEPTED")
            #expect(result.at("participantPermission") == "READ_WRITE")
            #expect(result.at("share.participants").array?.count == 2)
        }
        #expect(try await fixture.view(of: fixture.alice) == nil)
    }

    @Test("wrong, revoked, stopped and never invited are one answer", arguments: [true, false])
    func sameAnswer(_ accepting: Bool) async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        func answer(_ guid: Text, _ user: UserRow) async throws -> JSONValue {
            accepting
                ? try await fixture.accept(guid, as: user)
                : try await fixture.resolve(guid, as: user)
        }
        func withoutGUID(_ value: JSONValue) -> [JSONMember] {
            (value.object ?? []).filter { $0.key != "shortGUID" }
        }
        try await fixture.accept(guid, as: fixture.bob)
        let wrong = try await answer("0000000000000000000000", fixture.bob)
        #expect(wrong.at("serverErrorCode") == "NOT_FOUND")
        #expect(wrong.at("shortGUID.value") == "0000000000000000000000")
        #expect(withoutGUID(try await answer(guid, fixture.dave)) == withoutGUID(wrong))
        try await fixture.update(.list([.invite(fixture.carol)]), as: fixture.alice)
        #expect(withoutGUID(try await answer(guid, fixture.bob)) == withoutGUID(wrong))
        try await fixture.stop()
        for user in [fixture.alice, fixture.bob, fixture.carol] {
            #expect(withoutGUID(try await answer(guid, user)) == withoutGUID(wrong))
        }
    }

    @Test("a short GUID is matched exactly: no prefix, no case, no pattern")
    func exact() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        let text = guid.string
        let wrong = [
            String(text.dropLast()), text + "A", text.uppercased(), text.lowercased(), "%", "_",
            String(repeating: "_", count: 22), text + "%00",
        ]
        for value in wrong where value != text {
            let result = try await fixture.resolve(Text(value), as: fixture.bob)
            #expect(result.at("serverErrorCode") == "NOT_FOUND", "\(value)")
        }
    }

    @Test("an invitation to an address nobody has waits for whoever gets it")
    func pendingAddress() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let nobody = ParticipantDictionary(
            lookup: UserLookup(emailAddress: "Erin@Example.org"), permission: .readOnly)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [nobody]))
        var erin = UserRow(
            name: UserName("_" + String(repeating: "e", count: 32)),
            emailAddress: "erin@example.org", passwordHash: "", createdMilliseconds: 0)
        erin.isDiscoverable = false
        let row = erin
        try await fixture.storage.write { transaction throws(ServerError) in
            try transaction.putUser(row)
        }
        let result = try await fixture.accept(share.shortGUID, as: erin)
        #expect(result.at("participantStatus") == "ACCEPTED")
        #expect(result.at("participantPermission") == "READ_ONLY")
        #expect(try await fixture.share()?.present.first?.user == erin.name)
    }

    @Test("an invitation to a telephone number is claimed by the account with that number")
    func phone() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        var bob = fixture.bob
        bob.phoneNumber = "+44 20 7946 0000"
        let row = bob
        try await fixture.storage.write { transaction throws(ServerError) in
            try transaction.putUser(row)
        }
        let invitation = ParticipantDictionary(
            lookup: UserLookup(phoneNumber: "+44-20-7946-0000"), permission: .readOnly)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [invitation]))
        #expect(
            try await fixture.accept(share.shortGUID, as: bob).at("participantStatus")
                == "ACCEPTED")
    }

    @Test("one person invited at two addresses becomes one participant")
    func twoAddresses() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .none,
                [.invite(fixture.bob, .readOnly), .invite(fixture.bob, byName: true)]))
        #expect(share.present.count == 2)
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        let row = try #require(try await fixture.share()?.present.first)
        #expect(try await fixture.share()?.present.count == 1)
        #expect(row.user == fixture.bob.name)
        #expect(row.permission == .readWrite)
    }

    @Test("an invitation by name is for that user only, whatever address came with it")
    func nameBeforeAddress() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let mixed = ParticipantDictionary(
            lookup: UserLookup(
                emailAddress: fixture.carol.emailAddress, userName: fixture.bob.name),
            permission: .readOnly)
        let share = try await fixture.create(.share(.testShare, of: .testRoot, .none, [mixed]))
        let carol = try await fixture.accept(share.shortGUID, as: fixture.carol)
        #expect(carol.at("serverErrorCode") == "NOT_FOUND")
        let bob = try await fixture.accept(share.shortGUID, as: fixture.bob)
        #expect(bob.at("participantStatus") == "ACCEPTED")
    }

    @Test("somebody at another address gets masked hints and cannot claim the invitation")
    func mismatch() async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        let result = try await fixture.resolve(guid, as: fixture.dave)
        #expect(result.at("serverErrorCode") == "NOT_FOUND")
        let match = result.at("potentialMatchList.0")
        #expect(match.at("contactInformation.emailAddress") == "b***@e***.org")
        #expect(match.at("participantId").string != nil)
        #expect(result.at("share") == .null)
        #expect(result.at("zoneID") == .null)
        #expect(result.at("ownerIdentity") == .null)
        let text = String(decoding: result.serialized(), as: UTF8.self)
        #expect(!text.contains("bob"))
        let refused = try await fixture.accept(guid, as: fixture.dave)
        #expect(refused.at("serverErrorCode") == "NOT_FOUND")
        #expect(refused.at("potentialMatchList") == .null)
        #expect(try await fixture.share()?.present.first?.status == .invited)
    }

    @Test("anyone with the URL of a public share joins as PUBLIC_USER, once")
    func publicShare() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        let preview = try await fixture.resolve(guid, as: fixture.dave)
        #expect(preview.at("participantType") == "PUBLIC_USER")
        #expect(preview.at("participantPermission") == "READ_ONLY")
        #expect(try await fixture.share()?.present.isEmpty == true)
        for _ in 1...2 {
            let result = try await fixture.accept(guid, as: fixture.dave)
            #expect(result.at("participantType") == "PUBLIC_USER")
            #expect(result.at("participantStatus") == "ACCEPTED")
            #expect(try await fixture.share()?.present.count == 1)
        }
        #expect(try await fixture.view(of: fixture.dave)?.shares == [.testShare])
    }

    @Test("whom the owner took out of a public share stays out until it is invited")
    func stayingOut() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        for _ in 1...2 {
            try await fixture.accept(guid, as: fixture.dave)
            #expect(try await fixture.view(of: fixture.dave) != nil)
            try await fixture.update(.list([]), as: fixture.alice)
            // Also when the share was closed in between.
            for permission in [SharePermission.readOnly, .none, .readWrite] {
                try await fixture.update(.opened(permission), as: fixture.alice)
                for result in [
                    try await fixture.resolve(guid, as: fixture.dave),
                    try await fixture.accept(guid, as: fixture.dave),
                ] {
                    #expect(result.at("serverErrorCode") == "NOT_FOUND")
                    #expect(result.at("share") == .null)
                }
                #expect(try await fixture.view(of: fixture.dave) == nil)
            }
            try await fixture.update(.opened(.none), as: fixture.alice)
            try await fixture.update(
                .list([.invite(fixture.dave, byName: true)]), as: fixture.alice)
        }
    }

    @Test("who left a public share, or was in it when it closed, may come back by its URL")
    func comingBack() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        try await fixture.accept(guid, as: fixture.dave)
        let first = try #require(try await fixture.view(of: fixture.dave))
        try await fixture.update(.list([]), as: fixture.dave)
        #expect(try await fixture.view(of: fixture.dave) == nil)
        try await fixture.accept(guid, as: fixture.dave)
        #expect(try await fixture.view(of: fixture.dave)?.incarnation != first.incarnation)
        #expect(try await fixture.share()?.participants.count == 2)
        try await fixture.update(.opened(.none), as: fixture.alice)
        #expect(try await fixture.view(of: fixture.dave) == nil)
        try await fixture.update(.opened(.readWrite), as: fixture.alice)
        try await fixture.accept(guid, as: fixture.dave)
        #expect(try await fixture.view(of: fixture.dave) != nil)
    }

    @Test("an invitation that ends when the share opens does not keep its person out")
    func invitedBefore() async throws {
        let (fixture, guid) = try await shared(.none, [\.bob])
        try await fixture.update(.opened(.readOnly), as: fixture.alice)
        let result = try await fixture.accept(guid, as: fixture.bob)
        #expect(result.at("participantType") == "PUBLIC_USER")
    }

    @Test("a public share that is full takes nobody, and a full shared database no zone")
    func limits() async throws {
        var settings = ServiceSettings()
        settings.participantsPerShare = 1
        let fixture = try await SharingFixture(settings: settings)
        try await fixture.putRecord(.testRoot)
        let guid = try await fixture.create(
            .share(.testShare, of: .testRoot, .readOnly)
        ).shortGUID
        try await fixture.accept(guid, as: fixture.bob)
        let full = try await fixture.accept(guid, as: fixture.carol)
        #expect(full.at("serverErrorCode") == "TOO_MANY_PARTICIPANTS")
        settings.zonesPerDatabase = 0
        let small = try await SharingFixture(settings: settings)
        try await small.putRecord(.testRoot)
        let other = try await small.create(.share(.testShare, of: .testRoot, .readOnly)).shortGUID
        let refused = try await small.accept(other, as: small.bob)
        #expect(refused.at("serverErrorCode") == "LIMIT_EXCEEDED")
        #expect(try await small.share()?.present.isEmpty == true)
    }

    @Test("each short GUID of a request has its own result, in order")
    func several() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        let answer = try await fixture.answer(
            .recordsAccept, .public, as: fixture.bob,
            ["shortGUIDs": [["value": "wrong"], ["value": .string(guid)], ["value": "worse"]]])
        #expect(answer.at("results").array?.count == 3)
        #expect(answer.at("results.0.serverErrorCode") == "NOT_FOUND")
        #expect(answer.at("results.0.reason").string != nil)
        #expect(answer.at("results.1.participantStatus") == "ACCEPTED")
        #expect(answer.at("results.2.shortGUID.value") == "worse")
    }

    @Test("nobody resolves or accepts without signing in")
    func anonymous() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        for endpoint in [Endpoint.recordsResolve, .recordsAccept] {
            await expect(.authenticationRequired) {
                try await fixture.answer(
                    endpoint, .public, as: nil, ["shortGUIDs": [["value": .string(guid)]]])
            }
        }
    }

    @Test("shortGUIDs must be a list of objects with a value")
    func badBodies() async throws {
        let (fixture, _) = try await shared()
        let bodies: [JSONValue] = [
            [:], ["shortGUIDs": "x"], ["shortGUIDs": [[:]]], ["shortGUIDs": ["x"]],
            ["shortGUIDs": [["value": 1]]],
            ["shortGUIDs": [["value": "x", "shouldFetchRootRecord": "yes"]]],
        ]
        for body in bodies {
            await expect(.badRequest, naming: "shortGUIDs") {
                try await fixture.answer(.recordsResolve, .public, as: fixture.bob, body)
            }
        }
    }

    @Test("a short GUID of the other environment opens nothing")
    func otherEnvironment() async throws {
        let (fixture, guid) = try await shared(.readOnly)
        let production = ContainerKey(
            container: SharingFixture.container.container, environment: .production)
        let found = try await fixture.storage.read { reader throws(ServerError) in
            try reader.share(production, shortGUID: guid)
        }
        #expect(found == nil)
    }
}
