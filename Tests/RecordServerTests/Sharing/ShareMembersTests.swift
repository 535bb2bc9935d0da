import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

@Suite("What a share shows of its people") struct ShareMembersTests {
    /// Bob has accepted, Carol has not; with `opened`, Dave has joined by the URL.
    private func shared(opened: Bool = false) async throws -> SharingFixture {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(
                .testShare, of: .testRoot, .none, [.invite(fixture.bob), .invite(fixture.carol)]))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        if opened {
            try await fixture.update(.opened(.readOnly), as: fixture.alice)
            try await fixture.accept(share.shortGUID, as: fixture.dave)
        }
        return fixture
    }

    private func members(_ fixture: SharingFixture, for user: UserRow) async throws -> JSONValue {
        let share = try #require(try await fixture.share())
        return try await fixture.storage.read { reader throws(ServerError) in
            .object(try ShareRules.members(of: share, for: user.name, reader))
        }
    }

    private func text(_ value: JSONValue) -> String {
        String(decoding: value.serialized(), as: UTF8.self)
    }

    @Test("the owner comes first, as OWNER, ACCEPTED and READ_WRITE, and as owner")
    func owner() async throws {
        let fixture = try await shared()
        let members = try await members(fixture, for: fixture.alice)
        let first = members.at("participants.0")
        #expect(first.at("type") == "OWNER")
        #expect(first.at("acceptanceStatus") == "ACCEPTED")
        #expect(first.at("permission") == "READ_WRITE")
        #expect(first.at("userIdentity.lookupInfo.emailAddress") == "alice@example.org")
        #expect(members.at("owner") == first)
        #expect(members.at("currentUserParticipant") == first)
        #expect(members.at("publicPermission") == "NONE")
    }

    @Test("every participant has an id, an identity, a type, a permission and a status")
    func keys() async throws {
        let fixture = try await shared()
        let members = try await members(fixture, for: fixture.alice)
        let bob = members.at("participants.1")
        #expect(bob.at("participantId").string?.utf8.count == 32)
        #expect(bob.at("userIdentity.userRecordName").string?.utf8 == fixture.bob.name.bytes)
        #expect(bob.at("userIdentity.nameComponents.givenName") == "Bob")
        #expect(bob.at("type") == "USER")
        #expect(bob.at("permission") == "READ_WRITE")
        #expect(bob.at("acceptanceStatus") == "ACCEPTED")
        let carol = members.at("participants.2")
        #expect(carol.at("acceptanceStatus") == "INVITED")
        #expect(carol.at("userIdentity.lookupInfo.emailAddress") == "carol@example.org")
    }

    @Test("inviting an address does not tell whether somebody has it")
    func noOracle() async throws {
        let fixture = try await shared()
        let members = try await members(fixture, for: fixture.alice)
        let identity = members.at("participants.2.userIdentity")
        #expect(identity.object?.map(\.key) == ["lookupInfo"])
    }

    @Test("a participant sees the others and itself")
    func participant() async throws {
        let fixture = try await shared()
        let members = try await members(fixture, for: fixture.bob)
        #expect(members.at("participants").array?.count == 3)
        #expect(members.at("currentUserParticipant") == members.at("participants.1"))
        #expect(members.at("owner.type") == "OWNER")
    }

    @Test("whoever has not accepted sees the owner and itself only")
    func invited() async throws {
        let fixture = try await shared()
        let share = try #require(try await fixture.share())
        let preview = try await fixture.resolve(share.shortGUID, as: fixture.carol).at("share")
        #expect(!text(preview).contains("bob@"))
        #expect(!text(preview).contains("Bob"))
        #expect(preview.at("participants.0.type") == "OWNER")
    }

    @Test("addresses of public users are for the owner only, and nobody's for public users")
    func publicUsers() async throws {
        let fixture = try await shared(opened: true)
        let forOwner = text(try await members(fixture, for: fixture.alice))
        #expect(forOwner.contains("dave@") && forOwner.contains("bob@"))
        let forBob = try await members(fixture, for: fixture.bob)
        #expect(!text(forBob).contains("dave@"))
        #expect(text(forBob).contains("Dave"))
        #expect(text(forBob).contains("bob@"))
        let forDave = text(try await members(fixture, for: fixture.dave))
        #expect(!forDave.contains("bob@") && !forDave.contains("alice@"))
        #expect(forDave.contains("Bob") && forDave.contains("dave@"))
        #expect(forDave.contains("PUBLIC_USER"))
    }

    @Test("whoever is out is not listed")
    func removed() async throws {
        let fixture = try await shared()
        try await fixture.update(.list([]), as: fixture.alice)
        let members = try await members(fixture, for: fixture.alice)
        #expect(members.at("participants").array?.count == 1)
        #expect(!text(members).contains("bob@"))
    }

    @Test("what is kept of the removed does not grow without end")
    func removedLimit() async throws {
        let fixture = try await SharingFixture()
        var share = ShareRow(
            zone: fixture.zone, name: .testShare, root: .testRoot, shortGUID: "g",
            publicPermission: .readOnly, participants: [])
        func takeOut(_ user: UserName?, _ id: String) {
            share.participants.append(
                ParticipantRow(
                    participantID: Text(id), user: user,
                    lookup: UserLookup(emailAddress: Text("\(id)@example.org")),
                    type: user == nil ? .user : .publicUser, permission: .readOnly,
                    status: user == nil ? .invited : .accepted))
            share.remove(Text(id))
        }
        takeOut(fixture.dave.name, "dave")
        for index in 0..<ShareRow.removedLimit + 30 { takeOut(nil, "p\(index)") }
        #expect(share.participants.count == ShareRow.removedLimit)
        // People are remembered longer than addresses that nobody has claimed.
        #expect(share.participants.contains { $0.user == fixture.dave.name })
        #expect(share.present.isEmpty)
    }

    @Test("masked contacts show too little to be used")
    func masks() {
        #expect(MaskedContact.emailAddress("carol@mail.example.co.uk") == "c***@m***.uk")
        #expect(MaskedContact.emailAddress("x@localhost") == "x***@l***")
        #expect(MaskedContact.emailAddress("nonsense") == "***")
        #expect(MaskedContact.phoneNumber("+15550100") == "***00")
    }

    @Test("the address of a share is the page of its short GUID, with the title to look at")
    func address() async throws {
        let share = ShareRow(
            zone: try await SharingFixture().zone, name: .testShare, root: nil,
            shortGUID: "abc", publicPermission: .none, participants: [])
        let titles: [(Text?, Text)] = [
            (nil, "https://h/share/abc"),
            ("Ünterlagen <2026>!", "https://h/share/abc#nterlagen_2026"),
            ("!?", "https://h/share/abc"), ("A plan", "https://h/share/abc#A_plan"),
        ]
        for (title, address) in titles {
            #expect(ShareURL.text(share, title: title, baseURL: "https://h") == address)
        }
    }
}
