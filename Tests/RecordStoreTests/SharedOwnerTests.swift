import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Under which name somebody shows who shares zones.
@Suite struct SharedOwnerTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// The name under which the zone shows.
    private func share(
        _ zone: String, _ user: String, _ address: String?
    ) throws -> String {
        try fixture.write { transaction throws(RecordError) in
            try transaction.feed.makeSharedZone(
                of: OwnerName(user), address: address.map { OwnerName($0) }, ZoneName(zone)
            ).owner.description
        }
    }

    @Test("an owner shows under his address, and is found by his name at the server")
    func address() throws {
        #expect(try share("Box", "_a", "amy@h") == "amy@h")
        let zone = try #require(
            try fixture.store.syncState.sharedZone(of: OwnerName("_a"), ZoneName("Box")))
        #expect(zone.owner.description == "amy@h")
        let synced = try #require(try fixture.store.syncState.syncedZone(zone.id))
        #expect(synced.owner.description == "_a")
        #expect(try share("Box", "_a", "amy@h") == "amy@h")
        #expect(try fixture.store.zones(in: .shared).count == 1)
    }

    @Test("without an address, or with one that is no name, he shows as the server names him")
    func nameless() throws {
        #expect(try share("Box", "_a", nil) == "_a")
        #expect(try share("Box", "_b", "") == "_b")
        #expect(try share("Box", "_c", String(repeating: "x", count: 300)) == "_c")
        #expect(try share("Box", "_d", "x\u{1}@h") == "_d")
    }

    @Test("two owners never show under one name, and all zones of one show under one")
    func collisions() throws {
        #expect(try share("Box", "_a", "amy@h") == "amy@h")
        #expect(try share("Box", "_b", "amy@h") == "_b")
        #expect(try share("Cup", "_b", "bea@h") == "_b")
        #expect(try share("Cup", "_a", "new@h") == "amy@h")
        let owners = try fixture.store.zones(in: .shared).map { "\($0.owner)/\($0.name)" }
        #expect(owners == ["_b/Box", "_b/Cup", "amy@h/Box", "amy@h/Cup"])
    }
}
