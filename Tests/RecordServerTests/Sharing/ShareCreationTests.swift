import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Creating shares") struct ShareCreationTests {
    @Test("a hierarchy share has its root, a short GUID of 128 bits, and the owner first")
    func hierarchy() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [.invite(fixture.bob)]))
        #expect(share.root == .testRoot)
        #expect(share.shortGUID.utf8.count == 22)
        #expect(URLSafeBase64.decode(share.shortGUID.utf8)?.count == 16)
        let owner = try #require(share.participants.first)
        #expect(owner.user == fixture.alice.name)
        #expect(owner.type == .owner)
        #expect(owner.status == .accepted)
        #expect(owner.permission == .readWrite)
        #expect(try await fixture.share() == share)
    }

    @Test("the short GUID that the root has already becomes that of the share")
    func keepsShortGUID() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot, shortGUID: "abcdefghijklmnopqrstuv")
        let share = try await fixture.create(.share())
        #expect(share.shortGUID == "abcdefghijklmnopqrstuv")
    }

    @Test("an invitation by address waits without a user, one by name has its user")
    func invitations() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .none,
                [.invite(fixture.bob), .invite(fixture.carol, byName: true)]))
        #expect(share.present.map(\.user) == [nil, fixture.carol.name])
        #expect(share.present.map(\.status) == [.invited, .invited])
        #expect(share.present.map(\.type) == [.user, .user])
    }

    @Test("a participant without a permission may read; UNKNOWN is NONE")
    func permissions() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .unknown,
                [.invite(fixture.bob, nil), .invite(fixture.carol, .unknown)]))
        #expect(share.publicPermission == .none)
        #expect(share.present.map(\.permission) == [.readOnly, .none])
    }

    @Test("acceptance in a request means nothing: whoever is invited is INVITED")
    func massAssignment() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        var invitation = ParticipantDictionary.invite(fixture.bob, byName: true)
        invitation.status = .accepted
        invitation.participantID = "chosen-by-the-client"
        let share = try await fixture.create(.share(.testShare, of: .testRoot, .none, [invitation]))
        #expect(share.present.map(\.status) == [.invited])
        #expect(share.present.first?.participantID != "chosen-by-the-client")
        #expect(try await fixture.view(of: fixture.bob) == nil)
    }

    @Test("the owner in the list of participants is no participant besides")
    func ownerInTheList() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        var owner = ParticipantDictionary(lookup: UserLookup(userName: .defaultOwner))
        owner.permission = .readOnly
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .none,
                [.invite(fixture.alice), .invite(fixture.alice, byName: true), owner]))
        #expect(share.participants.count == 1)
        #expect(share.participants.first?.permission == .readWrite)
    }

    @Test("one person twice is refused, with the place in the request")
    func twice() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        await expect(.badRequest, naming: "participants[1]") {
            try await fixture.create(
                .share(
                    .testShare, of: .testRoot, .none, [.invite(fixture.bob), .invite(fixture.bob)]))
        }
    }

    @Test("a participant who is nobody, a public user, or a second owner is refused")
    func refusedParticipants() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let refused: [ParticipantDictionary] = [
            ParticipantDictionary(lookup: UserLookup()),
            .invite(fixture.bob, .readOnly, .publicUser),
            .invite(fixture.bob, .readOnly, .owner),
        ]
        for participant in refused {
            await expect(.badRequest, naming: "participants[0]") {
                try await fixture.create(.share(.testShare, of: .testRoot, .none, [participant]))
            }
        }
    }

    @Test("people can be added only while the share is private")
    func publicTakesNobody() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        await expect(.badRequest, naming: "NONE") {
            try await fixture.create(
                .share(.testShare, of: .testRoot, .readOnly, [.invite(fixture.bob)]))
        }
    }

    @Test("more participants than the limit are TOO_MANY_PARTICIPANTS")
    func limit() async throws {
        var settings = ServiceSettings()
        settings.participantsPerShare = 2
        let fixture = try await SharingFixture(settings: settings)
        try await fixture.putRecord(.testRoot)
        let people = [fixture.bob, fixture.carol, fixture.dave]
        await expect(.tooManyParticipants, naming: "2") {
            try await fixture.create(
                .share(.testShare, of: .testRoot, .none, people.map { .invite($0) }))
        }
        try await fixture.create(
            .share(.testShare, of: .testRoot, .none, people.prefix(2).map { .invite($0) }))
    }

    @Test("a root that is missing, deleted, or itself a share is refused")
    func roots() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(RecordName("other-share"), type: .share)
        for name in ["nothing", "other-share"] {
            await expect(.badRequest, naming: "forRecord") {
                try await fixture.create(.share(.testShare, of: RecordName(name)))
            }
        }
    }

    @Test("a record in a share cannot be shared again, nor one of a shared zone")
    func alreadyShared() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        try await fixture.create(.share())
        await expect(.alreadyShared) {
            try await fixture.create(.share(RecordName("s2")))
        }
        await expect(.alreadyShared) {
            try await fixture.create(.share(.zoneShare, of: nil))
        }
        try await fixture.stop()
        try await fixture.create(.share(.zoneShare, of: nil))
        try await fixture.putRecord(RecordName("other"))
        await expect(.alreadyShared) {
            try await fixture.create(.share(RecordName("s3"), of: RecordName("other")))
        }
    }

    @Test("the share of a zone is named cloudkit.zoneshare and has no root")
    func zoneShare() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        await expect(.badRequest, naming: "forRecord") {
            try await fixture.create(.share(.testShare, of: nil))
        }
        await expect(.badRequest, naming: "forRecord") {
            try await fixture.create(.share(.zoneShare, of: .testRoot))
        }
        var unnamed = RecordDictionary.share(.zoneShare, of: nil)
        unnamed.name = nil
        #expect(try await fixture.create(unnamed).name == .zoneShare)
    }

    @Test("the share of a zone keeps its short GUID over stop and share again")
    func zoneShareAgain() async throws {
        let fixture = try await SharingFixture()
        let first = try await fixture.create(.share(.zoneShare, of: nil))
        try await fixture.stop(.zoneShare)
        let second = try await fixture.create(.share(.zoneShare, of: nil))
        #expect(first.shortGUID == second.shortGUID)
    }

    @Test("only the owner shares, and only out of a custom zone of the private database")
    func places() async throws {
        let fixture = try await SharingFixture()
        let settings = fixture.service.settings
        let share = try await fixture.create(.share(.zoneShare, of: nil, .readWrite))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        try await fixture.putRecord(.testRoot)
        let shared = ZoneIdentifier(zone: fixture.zone.zone, owner: fixture.alice.name)
        let cases: [(UserRow, DatabaseScope, ZoneIdentifier, ServerErrorCode)] = [
            (fixture.alice, .private, .defaultZone, .badRequest),
            (fixture.alice, .public, .defaultZone, .badRequest),
            (fixture.bob, .shared, shared, .accessDenied),
        ]
        for (user, scope, zone, code) in cases {
            let context = fixture.context(user, scope)
            await expect(code) {
                try await fixture.storage.write { transaction throws(ServerError) in
                    var ids = RandomIDs()
                    let access = try ZoneAccess.openForWriting(
                        zone, context, incarnation: 1, transaction)
                    let situation = ShareRules.Situation(
                        access: access, context: context, settings: settings, reader: transaction)
                    _ = try ShareRules.create(
                        .share(.zoneShare, of: nil), root: nil, situation, ids: &ids)
                }
            }
        }
    }

    @Test("the tag of the root must be its tag of now or of before the batch")
    func rootTag() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let tag = try #require(try await fixture.record(.testRoot)?.changeTag)
        var dictionary = RecordDictionary.share()
        dictionary.share?.rootChangeTag = "zz"
        await expect(.conflict, naming: "recordChangeTag") {
            try await fixture.create(dictionary)
        }
        dictionary.share?.rootChangeTag = tag
        try await fixture.create(dictionary)
    }
}

/// Expects an error of the service, and a word in its reason.
func expect(
    _ code: ServerErrorCode, naming word: String = "",
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> some Any
) async {
    do {
        _ = try await body()
        Issue.record("\(code) did not happen", sourceLocation: sourceLocation)
    } catch let error as ServerError {
        #expect(error.code == code, "\(error.reason)", sourceLocation: sourceLocation)
        #expect(
            word.isEmpty || error.reason.contains(word), "\(error.reason)",
            sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
