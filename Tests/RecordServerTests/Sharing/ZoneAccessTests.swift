import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import Testing

@Suite("Opening zones") struct ZoneAccessTests {
    private func open(
        _ fixture: SharingFixture, _ user: UserRow?, _ scope: DatabaseScope, _ zone: String,
        owner: UserName? = nil
    ) async throws -> ZoneAccess {
        let context = fixture.context(user, scope)
        return try await fixture.storage.read { reader throws(ServerError) in
            try ZoneAccess.open(
                ZoneIdentifier(zone: ZoneName(zone), owner: owner), context, reader)
        }
    }

    @Test("one's own zone opens by every name of its owner")
    func ownZone() async throws {
        let fixture = try await SharingFixture()
        for owner in [nil, UserName.defaultOwner, fixture.alice.name] {
            let access = try await open(fixture, fixture.alice, .private, "Work", owner: owner)
            #expect(access.view == .owner)
            #expect(access.permission(for: nil) == .readWrite)
        }
    }

    @Test("somebody else's zone in the private database is as one that does not exist")
    func foreignZone() async throws {
        let fixture = try await SharingFixture()
        let foreign = await error {
            try await open(fixture, fixture.bob, .private, "Work", owner: fixture.alice.name)
        }
        let missing = await error {
            try await open(fixture, fixture.bob, .private, "Nothing")
        }
        let foreignDefault = await error {
            try await open(
                fixture, fixture.bob, .private, "_defaultZone", owner: fixture.alice.name)
        }
        #expect(foreign == missing)
        #expect(foreignDefault == missing)
        #expect(missing?.code == .zoneNotFound)
    }

    @Test("a zone that is not shared with the caller is as one that does not exist")
    func notShared() async throws {
        let fixture = try await SharingFixture()
        let forbidden = await error {
            try await open(fixture, fixture.bob, .shared, "Work", owner: fixture.alice.name)
        }
        let missing = await error {
            try await open(fixture, fixture.bob, .shared, "Nothing", owner: fixture.alice.name)
        }
        let nobody = await error {
            try await open(fixture, fixture.bob, .shared, "Work", owner: UserName("_nobody"))
        }
        #expect(forbidden == missing)
        #expect(forbidden == nobody)
        #expect(missing?.code == .zoneNotFound)
    }

    @Test("the shared database needs an owner, and never shows one's own zones")
    func sharedOwner() async throws {
        let fixture = try await SharingFixture()
        await expect(.badRequest, naming: "ownerRecordName") {
            try await open(fixture, fixture.alice, .shared, "Work")
        }
        for owner in [UserName.defaultOwner, fixture.alice.name, .everyone] {
            await expect(.zoneNotFound) {
                try await open(fixture, fixture.alice, .shared, "Work", owner: owner)
            }
        }
    }

    @Test("the private and shared databases need a user")
    func anonymous() async throws {
        let fixture = try await SharingFixture()
        for scope in [DatabaseScope.private, .shared] {
            await expect(.authenticationRequired) {
                try await open(fixture, nil, scope, "Work", owner: fixture.alice.name)
            }
        }
        #expect(
            try await open(fixture, nil, .public, "_defaultZone").view == .publicDatabase)
    }

    @Test("the public database has the default zone and no other")
    func publicDatabase() async throws {
        let fixture = try await SharingFixture()
        for owner in [nil, UserName.defaultOwner, fixture.bob.name, .everyone] {
            let access = try await open(
                fixture, fixture.bob, .public, "_defaultZone", owner: owner)
            #expect(access.view == .publicDatabase)
        }
        await expect(.zoneNotFound) {
            try await open(fixture, fixture.bob, .public, "Work")
        }
        await expect(.zoneNotFound) {
            try await open(
                fixture, fixture.bob, .public, "_defaultZone", owner: fixture.alice.name)
        }
    }

    @Test("the default zone is there before its first write, which makes it")
    func defaultZone() async throws {
        let fixture = try await SharingFixture()
        let before = try await open(fixture, fixture.bob, .private, "_defaultZone")
        #expect(!before.exists)
        #expect(before.zone.position == 0)
        let context = fixture.context(fixture.bob, .private)
        let written = try await fixture.storage.write { transaction throws(ServerError) in
            try ZoneAccess.openForWriting(.defaultZone, context, incarnation: 9, transaction)
        }
        #expect(written.exists)
        #expect(written.zone.incarnation == 9)
        let after = try await open(fixture, fixture.bob, .private, "_defaultZone")
        #expect(after.zone == written.zone)
    }

    @Test("a custom zone is not made by writing to it")
    func customZone() async throws {
        let fixture = try await SharingFixture()
        let context = fixture.context(fixture.bob, .private)
        await expect(.zoneNotFound) {
            try await fixture.storage.write { transaction throws(ServerError) in
                try ZoneAccess.openForWriting(
                    ZoneIdentifier(zone: ZoneName("New")), context, incarnation: 9, transaction)
            }
        }
    }

    @Test("writing needs READ_WRITE, and a shared parent")
    func writing() async throws {
        let fixture = try await SharingFixture()
        try await fixture.putRecord(.testRoot)
        let share = try await fixture.create(
            .share(.testShare, of: .testRoot, .none, [.invite(fixture.bob, .readOnly)]))
        try await fixture.accept(share.shortGUID, as: fixture.bob)
        let access = try await fixture.open(as: fixture.bob)
        await expect(.accessDenied, naming: "read-only") {
            try access.requireWrite(for: .testShare)
        }
        await expect(.accessDenied, naming: "parent") { try access.requireWrite(for: nil) }
        let own = try await fixture.open(as: fixture.alice, .private)
        try own.requireWrite(for: nil)
    }

    @Test("a view whose share says otherwise gives nothing")
    func failsClosed() async throws {
        let fixture = try await SharingFixture()
        let (user, key) = (fixture.bob, fixture.zone)
        try await fixture.storage.write { transaction throws(ServerError) in
            try transaction.putSharedZone(
                SharedZoneRow(viewer: user.name, zone: key, incarnation: 5, shares: [.testShare]))
        }
        await expect(.zoneNotFound) { try await fixture.open(as: fixture.bob) }
    }

    private func error(_ body: () async throws -> some Any) async -> ServerError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? ServerError
        }
    }
}
