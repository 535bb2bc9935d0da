import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import Testing

@Suite("Shared views") struct ShareViewTests {
    /// A private share with Bob as a participant who has accepted.
    private func shared(_ permission: SharePermission = .readWrite) async throws
        -> (SharingFixture, ShareRow)
    {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [.invite(fixture.bob, permission)]))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        return (fixture, try #require(try await fixture.share()))
    }

    @Test("before acceptance there is no view, after it there is one with the share")
    func acceptance() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [.invite(fixture.bob)]))
        #expect(try await fixture.view(of: fixture.bob) == nil)
        await expect(.zoneNotFound) { try await fixture.open(as: fixture.bob) }
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        #expect(try await fixture.view(of: fixture.bob)?.shares == [.testShare])
        let access = try await fixture.open(as: fixture.bob)
        #expect(access.visibleShares == [.testShare])
    }

    @Test("an acceptance appears in the zone's feed, as a change of the share record")
    func feed() async throws {
        let (fixture, _) = try await shared()
        let record = try #require(try await fixture.record(.testShare))
        #expect(record.modified.user == fixture.bob.name)
        #expect(record.tag == record.position)
        let key = fixture.zone
        let zone = try await fixture.storage.read { reader throws(ServerError) in
            try reader.zone(key)
        }
        #expect(zone?.position == record.position)
    }

    @Test("revoking takes the view away, with a tombstone for the viewer's feed")
    func revoking() async throws {
        let (fixture, _) = try await shared()
        try await fixture.update(.list([]), as: fixture.alice)
        #expect(try await fixture.view(of: fixture.bob) == nil)
        await expect(.zoneNotFound) { try await fixture.open(as: fixture.bob) }
        let (user, zone) = (fixture.bob, fixture.zone)
        let tombstones = try await fixture.storage.read { reader throws(ServerError) in
            try reader.sharedZoneTombstones(user.name, SharingFixture.container)
        }
        #expect(tombstones == [ZoneTombstone(key: zone, reason: .deleted)])
    }

    @Test("whoever is invited again gets another view and another participant")
    func again() async throws {
        let (fixture, share) = try await shared()
        let first = try #require(try await fixture.view(of: fixture.bob))
        try await fixture.update(.list([]), as: fixture.alice)
        let new = try await fixture.update(.list([.invite(fixture.bob)]), as: fixture.alice)
        #expect(try await fixture.view(of: fixture.bob) == nil)
        #expect(new.present.first?.participantID != share.present.first?.participantID)
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        let second = try #require(try await fixture.view(of: fixture.bob))
        #expect(second.incarnation != first.incarnation)
    }

    @Test("two shares of one zone are one view; losing one of them renews it")
    func twoShares() async throws {
        let (fixture, one) = try await shared()
        let first = try #require(try await fixture.view(of: fixture.bob))
        try await fixture.putRecord(RecordName("root2"))
        let other = try await fixture.create(
            .share(
                RecordName("s2"), of: RecordName("root2"), .none,
                [.invite(fixture.bob, .readOnly)]))
        try await fixture.accept(other.shortGUID, as: fixture.bob)
        let second = try #require(try await fixture.view(of: fixture.bob))
        #expect(second.shares == [.testShare, RecordName("s2")])
        #expect(second.incarnation != first.incarnation)
        let access = try await fixture.open(as: fixture.bob)
        #expect(access.permission(for: .testShare) == .readWrite)
        #expect(access.permission(for: RecordName("s2")) == .readOnly)
        #expect(access.permission(for: nil) == .none)
        try await fixture.stop(one.name)
        let third = try #require(try await fixture.view(of: fixture.bob))
        #expect(third.shares == [RecordName("s2")])
        #expect(third.incarnation != second.incarnation)
        #expect(try await fixture.open(as: fixture.bob).permission(for: .testShare) == .none)
    }

    @Test("accepting twice changes nothing")
    func twice() async throws {
        let (fixture, share) = try await shared()
        let view = try await fixture.view(of: fixture.bob)
        let record = try await fixture.record(.testShare)
        let result = try await fixture.accept(share.shortGUID, as: fixture.bob)
        #expect(result.at("participantStatus") == "ACCEPTED")
        #expect(try await fixture.view(of: fixture.bob) == view)
        #expect(try await fixture.record(.testShare) == record)
        #expect(try await fixture.share() == share)
    }

    @Test("stopping takes the view of everybody")
    func stopping() async throws {
        let (fixture, _) = try await shared()
        try await fixture.stop()
        #expect(try await fixture.share() == nil)
        #expect(try await fixture.view(of: fixture.bob) == nil)
    }

    @Test("leaving takes one's own view only")
    func leaving() async throws {
        let (fixture, share) = try await shared()
        let left = ShareRules.leave(share, fixture.bob.name)
        #expect(left.present.isEmpty)
        #expect(ShareRules.leave(share, fixture.carol.name) == share)
    }

    @Test("a zone that goes away leaves every shared database")
    func zoneDeletion() async throws {
        let (fixture, _) = try await shared()
        let key = fixture.zone
        try await fixture.storage.write { transaction throws(ServerError) in
            try ShareRules.endViews(of: key, reason: .purged, transaction)
        }
        #expect(try await fixture.view(of: fixture.bob) == nil)
    }

    @Test("a permission of NONE or UNKNOWN shows nothing, and given back shows all again")
    func none() async throws {
        for nothing in [SharePermission.none, .unknown] {
            let (fixture, share) = try await shared()
            let row = try #require(share.present.first)
            let first = try await fixture.view(of: fixture.bob)
            try await fixture.update(.list([.row(row, nothing)]), as: fixture.alice)
            #expect(try await fixture.view(of: fixture.bob) == nil)
            await expect(.zoneNotFound) { try await fixture.open(as: fixture.bob) }
            #expect(
                try await fixture.resolve(share.shortGUID, as: fixture.bob)
                    .at("serverErrorCode") == "NOT_FOUND")
            try await fixture.update(.list([.row(row, .readOnly)]), as: fixture.alice)
            let view = try #require(try await fixture.view(of: fixture.bob))
            #expect(view.incarnation != first?.incarnation)
        }
    }

    @Test("a change of permission alone keeps the view, and holds at once")
    func permissionChange() async throws {
        let (fixture, share) = try await shared(.readOnly)
        let row = try #require(share.present.first)
        let view = try await fixture.view(of: fixture.bob)
        #expect(try await fixture.open(as: fixture.bob).permission(for: .testShare) == .readOnly)
        try await fixture.update(.list([.row(row, .readWrite)]), as: fixture.alice)
        #expect(try await fixture.open(as: fixture.bob).permission(for: .testShare) == .readWrite)
        #expect(try await fixture.view(of: fixture.bob) == view)
    }

    @Test("a zone share shows every record, with one permission")
    func zoneShare() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(.share(.zoneShare, of: nil, .readOnly))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        let access = try await fixture.open(as: fixture.bob)
        #expect(access.visibleShares == nil)
        #expect(access.permission(for: nil) == .readOnly)
        let record = try #require(try await fixture.record(.testRoot))
        #expect(access.shows(record))
    }

    @Test("a hierarchy share shows its members and nothing else")
    func members() async throws {
        let (fixture, _) = try await shared()
        try await fixture.putRecord(RecordName("alone"))
        try await fixture.putRecord(RecordName("child"), share: .testShare)
        let access = try await fixture.open(as: fixture.bob)
        for (name, visible) in [("root", true), ("child", true), ("s", true), ("alone", false)] {
            var record = try #require(try await fixture.record(RecordName(name)))
            if name == "s" { record.share = .testShare }
            #expect(access.shows(record) == visible, "\(name)")
        }
    }
}
