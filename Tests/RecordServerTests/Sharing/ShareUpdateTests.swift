import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Changing shares") struct ShareUpdateTests {
    /// A share with Bob, who has accepted, and Carol, who has not.
    private func shared(
        _ type: ParticipantType? = nil, _ permission: SharePermission = .readWrite,
        settings: ServiceSettings = ServiceSettings()
    ) async throws -> (SharingFixture, ShareRow) {
        let fixture = try await SharingFixture(settings: settings)
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .none,
                [.invite(fixture.bob, permission, type), .invite(fixture.carol, .readOnly)]))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        return (fixture, try #require(try await fixture.share()))
    }

    private func row(_ user: UserRow, _ share: ShareRow) throws -> ParticipantRow {
        try #require(
            share.present.first {
                $0.user == user.name || $0.lookup.emailAddress == user.emailAddress
            })
    }

    @Test("whoever is missing from the list is out, whoever is new in it is invited")
    func wholeList() async throws {
        let (fixture, share) = try await shared()
        let bob = try row(fixture.bob, share)
        let new = try await fixture.update(
            .list([.row(bob), .invite(fixture.dave)]), as: fixture.alice)
        #expect(new.present.count == 2)
        #expect(new.present.first == bob)
        #expect(new.present.last?.lookup.emailAddress == fixture.dave.emailAddress)
        #expect(new.present.last?.status == .invited)
    }

    @Test("a request without participants leaves them, and without a permission leaves that")
    func unsaid() async throws {
        let (fixture, share) = try await shared()
        #expect(try await fixture.update(ShareDictionary(), as: fixture.alice) == share)
        let bob = try row(fixture.bob, share)
        let carol = try row(fixture.carol, share)
        let bare = [bob, carol].map {
            ParticipantDictionary(participantID: $0.participantID, lookup: UserLookup())
        }
        #expect(try await fixture.update(.list(bare), as: fixture.alice) == share)
    }

    @Test("participants are matched by id, user, address in any case, and telephone number")
    func matching() async throws {
        let (fixture, share) = try await shared()
        let bob = try row(fixture.bob, share)
        let carol = try row(fixture.carol, share)
        let spellings = [
            ParticipantDictionary(participantID: bob.participantID, lookup: UserLookup()),
            ParticipantDictionary(lookup: UserLookup(userName: fixture.bob.name)),
            ParticipantDictionary(lookup: UserLookup(emailAddress: "BOB@example.ORG")),
        ]
        for spelling in spellings {
            let new = try await fixture.update(.list([spelling, .row(carol)]), as: fixture.alice)
            #expect(new.present == share.present)
        }
        let phone = ParticipantDictionary(lookup: UserLookup(phoneNumber: "+1 (555) 010-0"))
        let one = try await fixture.update(
            .list([.row(bob), .row(carol), phone]), as: fixture.alice)
        let same = ParticipantDictionary(lookup: UserLookup(phoneNumber: "+15550100"))
        let two = try await fixture.update(
            .list([.row(bob), .row(carol), same]), as: fixture.alice)
        #expect(one.present.count == 3)
        #expect(two == one)
    }

    @Test("REMOVED in the list takes a participant out")
    func removed() async throws {
        let (fixture, share) = try await shared()
        var bob = ParticipantDictionary.row(try row(fixture.bob, share))
        bob.status = .removed
        let carol = try row(fixture.carol, share)
        let new = try await fixture.update(.list([bob, .row(carol)]), as: fixture.alice)
        #expect(new.present == [carol])
        #expect(try await fixture.view(of: fixture.bob) == nil)
    }

    @Test("a share that becomes public drops invitations and keeps who has accepted")
    func opening() async throws {
        let (fixture, share) = try await shared()
        let bob = try row(fixture.bob, share)
        let new = try await fixture.update(.opened(.readOnly), as: fixture.alice)
        #expect(new.present == [bob])
        #expect(try await fixture.open(as: fixture.bob).permission(for: .testShare) == .readWrite)
    }

    @Test("listing everybody while opening the share keeps no invitation and is no error")
    func openingWithList() async throws {
        let (fixture, share) = try await shared()
        var dictionary = ShareDictionary.list(share.present.map { .row($0) })
        dictionary.publicPermission = .readWrite
        let new = try await fixture.update(dictionary, as: fixture.alice)
        #expect(new.present == [try row(fixture.bob, share)])
    }

    @Test("a share that becomes private again starts with nobody")
    func closing() async throws {
        let (fixture, share) = try await shared()
        try await fixture.update(.opened(.readOnly), as: fixture.alice)
        try await fixture.accept(share.shortGUID, as: fixture.dave)
        var dictionary = ShareDictionary.list(
            try await fixture.share()?.present.map { .row($0) } ?? [])
        dictionary.publicPermission = SharePermission.none
        dictionary.participants?.append(.invite(fixture.carol))
        let new = try await fixture.update(dictionary, as: fixture.alice)
        #expect(new.present.map(\.lookup.emailAddress) == [fixture.carol.emailAddress])
        for user in [fixture.bob, fixture.dave] {
            #expect(try await fixture.view(of: user) == nil)
        }
    }

    @Test("UNKNOWN closes a public share as NONE does")
    func unknown() async throws {
        let (fixture, share) = try await shared()
        try await fixture.update(.opened(.readOnly), as: fixture.alice)
        try await fixture.accept(share.shortGUID, as: fixture.dave)
        let new = try await fixture.update(.opened(.unknown), as: fixture.alice)
        #expect(new.publicPermission == .none)
        #expect(new.present.isEmpty)
    }

    @Test("nobody can be added while the share is public")
    func addingToPublic() async throws {
        let (fixture, _) = try await shared()
        try await fixture.update(.opened(.readOnly), as: fixture.alice)
        let bob = try row(fixture.bob, try #require(try await fixture.share()))
        await expect(.badRequest, naming: "participants[1]") {
            try await fixture.update(.list([.row(bob), .invite(fixture.dave)]), as: fixture.alice)
        }
    }

    @Test("a share keeps its root")
    func root() async throws {
        let (fixture, _) = try await shared()
        var dictionary = ShareDictionary()
        dictionary.root = RecordName("another")
        await expect(.badRequest, naming: "forRecord") {
            try await fixture.update(dictionary, as: fixture.alice)
        }
    }

    @Test("the owner cannot be listed away or lowered")
    func owner() async throws {
        let (fixture, share) = try await shared()
        let owner = try #require(share.participants.first)
        var entry = ParticipantDictionary.row(owner, .readOnly)
        entry.status = .removed
        let new = try await fixture.update(.list([entry]), as: fixture.alice)
        #expect(new.participants.first == owner)
        #expect(try await fixture.update(.list([]), as: fixture.alice).participants.first == owner)
    }

    @Test("an administrator invites, removes and lowers others")
    func administrator() async throws {
        let (fixture, share) = try await shared(.administrator)
        let bob = try row(fixture.bob, share)
        let carol = try row(fixture.carol, share)
        var new = try await fixture.update(
            .list([.row(bob), .row(carol), .invite(fixture.dave)]), as: fixture.bob)
        #expect(new.present.count == 3)
        let dave = try row(fixture.dave, new)
        new = try await fixture.update(
            .list([.row(bob), .row(dave, .readOnly)]), as: fixture.bob)
        #expect(new.present.map(\.permission) == [.readWrite, .readOnly])
    }

    @Test("an administrator gives no more than it has, to nobody")
    func beyondOwn() async throws {
        let (fixture, share) = try await shared(.administrator, .readOnly)
        let bob = try row(fixture.bob, share)
        let carol = try row(fixture.carol, share)
        let refused: [[ParticipantDictionary]] = [
            [.row(bob), .row(carol, .readWrite)],
            [.row(bob, .readWrite), .row(carol)],
            [.row(bob), .row(carol), .invite(fixture.dave, .readWrite)],
            [.row(bob), .row(carol), .invite(fixture.dave, .readOnly, .administrator)],
        ]
        for list in refused {
            await expect(.accessDenied, naming: "participants[") {
                try await fixture.update(.list(list), as: fixture.bob)
            }
        }
        #expect(try await fixture.share() == share)
    }

    @Test("an administrator does not switch the public permission, nor remove the owner")
    func administratorLimits() async throws {
        let (fixture, share) = try await shared(.administrator)
        await expect(.accessDenied, naming: "publicPermission") {
            try await fixture.update(.opened(.readWrite), as: fixture.bob)
        }
        let new = try await fixture.update(
            .list([.row(try row(fixture.bob, share))]), as: fixture.bob)
        #expect(new.participants.first == share.participants.first)
    }

    @Test(
        "a participant may only take itself out", arguments: [SharePermission.readOnly, .readWrite])
    func user(_ permission: SharePermission) async throws {
        let (fixture, share) = try await shared(.user, permission)
        let bob = try row(fixture.bob, share)
        let carol = try row(fixture.carol, share)
        let refused: [[ParticipantDictionary]] = [
            [.row(bob)], [.row(bob), .row(carol, .readWrite)], [.row(bob), .row(carol)],
            [.row(bob), .row(carol), .invite(fixture.dave)], [],
        ]
        for list in refused {
            await expect(.accessDenied) {
                try await fixture.update(.list(list), as: fixture.bob)
            }
        }
        await expect(.accessDenied) {
            try await fixture.update(ShareDictionary(), as: fixture.bob)
        }
        #expect(try await fixture.share() == share)
        let new = try await fixture.update(.list([.row(carol)]), as: fixture.bob)
        #expect(new.present == [carol])
        #expect(try await fixture.view(of: fixture.bob) == nil)
    }

    @Test("somebody without the share cannot even find its zone")
    func stranger() async throws {
        let (fixture, _) = try await shared()
        for user in [fixture.carol, fixture.dave] {
            await expect(.zoneNotFound) {
                try await fixture.update(.list([]), as: user)
            }
        }
    }

    @Test("the permission of a public user is everybody's, whatever a request says")
    func publicUser() async throws {
        let (fixture, share) = try await shared()
        try await fixture.update(.opened(.readOnly), as: fixture.alice)
        try await fixture.accept(share.shortGUID, as: fixture.dave)
        let public1 = try #require(try await fixture.share())
        let list = public1.present.map { ParticipantDictionary.row($0, .readWrite) }
        try await fixture.update(.list(list), as: fixture.alice)
        #expect(try await fixture.open(as: fixture.dave).permission(for: .testShare) == .readOnly)
        try await fixture.update(.opened(.readWrite), as: fixture.alice)
        #expect(try await fixture.open(as: fixture.dave).permission(for: .testShare) == .readWrite)
    }

    @Test("only the owner and administrators who may write change the fields of a share")
    func fields() async throws {
        for (type, permission, allowed) in [
            (ParticipantType.user, SharePermission.readWrite, false),
            (.administrator, .readOnly, false), (.administrator, .readWrite, true),
        ] {
            let (fixture, share) = try await shared(type, permission)
            let access = try await fixture.open(as: fixture.bob)
            let context = fixture.context(fixture.bob, .shared)
            let settings = fixture.service.settings
            let isAllowed = try await fixture.storage.read { reader throws(ServerError) in
                let situation = ShareRules.Situation(
                    access: access, context: context, settings: settings, reader: reader)
                do throws(ServerError) {
                    try ShareRules.requireFieldRights(share, situation)
                    return true
                } catch {
                    guard error.code == .accessDenied else { throw error }
                    return false
                }
            }
            #expect(isAllowed == allowed)
        }
    }
}
