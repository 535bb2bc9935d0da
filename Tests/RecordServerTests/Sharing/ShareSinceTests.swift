import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Since when somebody has a share") struct ShareSinceTests {
    private static let now: JSONValue = .number(JSONNumber(1_770_000_000_000 as Int64))

    /// Bob has accepted, Carol has not; Dave is an administrator.
    private func shared(_ settings: ServiceSettings = ServiceSettings()) async throws
        -> (SharingFixture, Text)
    {
        let fixture = try await SharingFixture(settings: settings)
        let share = try await fixture.create(
            .share(
                .zoneShare, of: nil, .none,
                [
                    .invite(fixture.bob), .invite(fixture.carol),
                    .invite(fixture.dave, .readWrite, .administrator),
                ]))
        for user in [fixture.bob, fixture.dave] {
            try await fixture.accept(share.shortGUID, as: user)
        }
        return (fixture, share.shortGUID)
    }

    /// The participants that `user` is told of, by their address.
    private func participants(
        _ fixture: SharingFixture, _ guid: Text, for user: UserRow
    ) async throws -> [String: JSONValue] {
        let list = try await fixture.resolve(guid, as: user).at("share.participants").array ?? []
        return Dictionary(
            list.map { ($0.at("userIdentity.lookupInfo.emailAddress").string?.string ?? "", $0) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test("the owner and administrators know since when, of all; others of themselves")
    func audience() async throws {
        let (fixture, guid) = try await shared()
        for user in [fixture.alice, fixture.dave] {
            let people = try await participants(fixture, guid, for: user)
            let bob = try #require(people["bob@example.org"])
            #expect(bob["invitedAt"] == Self.now && bob["acceptedAt"] == Self.now)
            let carol = try #require(people["carol@example.org"])
            #expect(carol["invitedAt"] == Self.now && carol["acceptedAt"] == nil)
            #expect(people["alice@example.org"]?["invitedAt"] == nil)
        }
        let people = try await participants(fixture, guid, for: fixture.bob)
        #expect(people["bob@example.org"]?["acceptedAt"] == Self.now)
        #expect(people["dave@example.org"] != nil)
        for (name, person) in people where name != "bob@example.org" {
            #expect(person["invitedAt"] == nil && person["acceptedAt"] == nil, "\(name)")
        }
    }

    @Test("a strict server does not tell it, nor who asks for access")
    func strict() async throws {
        var settings = ServiceSettings()
        settings.isStrict = true
        let (fixture, guid) = try await shared(settings)
        let share = try await fixture.resolve(guid, as: fixture.alice).at("share")
        let text = String(decoding: share.serialized(), as: UTF8.self)
        for key in ["invitedAt", "acceptedAt", "requesters", "blocked", "oneTime", "denyAccess"] {
            #expect(!text.contains(key), "\(key)")
        }
    }

    @Test("who comes by the URL of a public share was not invited")
    func visitor() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(.share(.testShare, of: .testRoot, .readOnly))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        let row = try #require(try await fixture.share()?.present.first)
        #expect(row.invitedMilliseconds == nil)
        #expect(row.acceptedMilliseconds == 1_770_000_000_000)
    }
}
