import FoundationEssentials
import RecordModel
import RecordStoreSync
import Testing

@testable import RecordStore

/// Zones of this user as the exchange sees them: what is to be made, sent and removed there, and
/// what becomes of a zone that the server no longer has.
@Suite struct SyncedZoneTests {
    private let fixture: StoreFixture
    private let zone: ZoneID

    init() throws {
        fixture = try StoreFixture()
        zone = fixture.zone.id
    }

    private func isWork(_ only: ZoneID? = nil) throws -> Bool {
        try fixture.store.syncState.zonesWithWork(in: .private, only).map(\.id).contains(zone)
    }

    private func removeHere() throws {
        try fixture.write { transaction throws(RecordError) in
            for type in [fixture.note, fixture.task] { try transaction.removeType(type) }
            try transaction.removeZone(zone)
        }
    }

    private func removeThere() throws {
        try fixture.feed { (feed) throws(RecordError) in try feed.removeZoneOfServer(zone) }
    }

    private func isHere() throws -> Bool {
        try fixture.store.zones(in: .private).map(\.id).contains(zone)
    }

    @Test("a zone has work until it is made, while something waits, and until its removal is told")
    func work() throws {
        #expect(try isWork(), "to be made")
        try fixture.apply(fixture.page([], token: "one"))
        #expect(try !isWork())
        #expect(try fixture.store.syncState.zonesOfServer(in: .private).map(\.id) == [zone])
        let id = try fixture.save("a", "{}").id
        #expect(try isWork() && isWork(zone) && !isWork(ZoneID(zone.rawValue + 1)))
        let claim = try #require(try fixture.claim().first)
        #expect(try isWork(), "what was taken may be left")
        try fixture.fail(claim, error: "refused")
        #expect(try !isWork() && fixture.store.syncState.hasOutgoing(zone))
        #expect(try !fixture.store.syncState.hasReady(zone))
        try fixture.write { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox(id)
        }
        #expect(try isWork() && fixture.store.syncState.hasReady(zone))
        try fixture.sendAll()
        try fixture.delete(id)
        try fixture.sendAll()
        try removeHere()
        #expect(try isWork(), "to be removed")
        #expect(try fixture.store.syncState.syncedZone(zone)?.isRemoved == true)
        try removeThere()
        #expect(try !isWork())
        #expect(try fixture.store.syncState.zonesOfServer(in: .private).isEmpty)
    }

    @Test("a removed zone that the server was asked to make is removed there too, others are not")
    func making() throws {
        let synced = try #require(try fixture.store.syncState.syncedZone(zone))
        let asked = try fixture.feed { (feed) throws(RecordError) in
            try feed.noteMaking(of: [synced])
        }
        #expect(asked == [synced])
        #expect(try fixture.store.syncState.isMaking(zone))
        #expect(try fixture.store.syncState.mayBeOnServer(zone))
        try removeHere()
        #expect(try isWork())
        try fixture.feed { (feed) throws(RecordError) in try feed.endMaking(of: zone) }
        #expect(try !isWork() && !fixture.store.syncState.mayBeOnServer(zone))
    }

    @Test("zones are not asked for that were removed meanwhile or that the server has")
    func notAsked() throws {
        let other = try fixture.write { transaction throws(RecordError) in
            try transaction.makeZone(.private, .me, ZoneName("Other"))
        }
        let both = try [zone, other.id].map {
            try #require(try fixture.store.syncState.syncedZone($0))
        }
        func asked(_ zones: [SyncedZone]) throws -> [ZoneID] {
            try fixture.feed { (feed) throws(RecordError) in
                try feed.noteMaking(of: zones).map(\.id)
            }
        }
        #expect(try asked(both) == [zone, other.id])
        try fixture.apply(fixture.page([], token: "one"))
        #expect(try !fixture.store.syncState.isMaking(zone), "its page shows that it is there")
        #expect(try asked(both) == [], "the first is left out")
        #expect(try asked(both.reversed()) == [other.id])
        try removeHere()
        #expect(try asked([both[0]]) == [])
    }

    @Test("news of a zone are noted until everything is downloaded")
    func news() throws {
        #expect(try fixture.store.syncState.zonesOfNews() == [])
        try fixture.feed { (feed) throws(RecordError) in
            for _ in 0..<2 { try feed.noteNews(of: zone) }
            try feed.noteNews(of: ZoneID(77))
        }
        try fixture.reopen()
        #expect(try fixture.store.syncState.zonesOfNews() == [zone, ZoneID(77)])
        try fixture.feed { (feed) throws(RecordError) in try feed.forgetNews() }
        #expect(try fixture.store.syncState.zonesOfNews() == [])
    }

    @Test("a page with a record brings a removed zone back, with its number")
    func revived() throws {
        try removeHere()
        #expect(try !isHere())
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], token: "one"))
        #expect(try isHere())
        let type = try #require(try fixture.store.type(zone, RecordTypeName("Note")))
        #expect(try fixture.names(type.id) == ["a"])
        try fixture.expectSound()
    }

    @Test("a zone that the server lost takes its records to the trash; with an edit it stays")
    func removedThere() throws {
        for isEdited in [false, true] {
            let fixture = try StoreFixture()
            let zone = fixture.zone.id
            try fixture.apply(
                fixture.page(["a", "b"].map { StoreFixture.told($0, n: 1) }, token: "one"))
            try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
            try fixture.delete(try #require(try fixture.record("b")).id)
            if isEdited { try fixture.save("a", #"{"n":2}"#) }
            try fixture.feed { (feed) throws(RecordError) in try feed.removeZoneOfServer(zone) }
            #expect(try fixture.token() == nil)
            #expect(try !fixture.store.syncState.hasFeedPass(zone))
            #expect(try fixture.pending() == (isEdited ? ["a create"] : []))
            #expect(try fixture.store.zones(in: .private).map(\.id) == (isEdited ? [zone] : []))
            #expect(
                try fixture.store.past.trash(in: zone, type: RecordTypeName("Note"))
                    .map(\.stem.description) == (isEdited ? ["b"] : ["a", "b"]))
            try fixture.expectSound()
        }
    }

    @Test(
        "local files keep an empty zone of one's own, and its token, so that it is not made again")
    func scratch() throws {
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], token: "one"))
        let files = fixture.store.places.scratch + "/" + StoreDirectory.LocalFiles.zone(zone).name
        try FileManager.default.createDirectory(
            atPath: files, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: files + "/git", contents: nil))
        try removeThere()
        #expect(try isHere() && fixture.names().isEmpty)
        #expect(try fixture.token() == "one")
        #expect(try !isWork())
    }

    enum Own: CaseIterable { case nothing, edit, draft, waiting, request, scratch }

    @Test("a zone is left only when this machine alone has nothing in it", arguments: Own.allCases)
    func leave(_ own: Own) throws {
        try fixture.apply(fixture.page([StoreFixture.told("a", n: 1)], token: "one"))
        switch own {
        case .nothing: break
        case .edit: try fixture.save("a", #"{"n":2}"#)
        case .draft: _ = try fixture.draft("a", "{")
        case .waiting: try fixture.beginDelete(try #require(try fixture.record("a")).id)
        case .request:
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.keepRequest([1], batch: 1, in: zone)
            }
        case .scratch:
            let files =
                fixture.store.places.scratch + "/"
                + StoreDirectory.LocalFiles.type(fixture.note).name
            try FileManager.default.createDirectory(
                atPath: files, withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: files + "/file", contents: nil))
        }
        let isLeft = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.leaveZone(zone)
        }
        #expect(isLeft == (own == .nothing))
        #expect(try isHere() == (own != .nothing))
        #expect(try fixture.token() == (own == .nothing ? nil : "one"))
        #expect(try fixture.outbox().allSatisfy { $0.operation != .delete }, "the server keeps it")
    }

    @Test("the policy of zones is new only when it changes, and a pause outlives a restart")
    func settings() throws {
        func note(_ text: String) throws -> Bool {
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.notePolicy(text)
            }
        }
        #expect(
            try [note("all"), note("all"), note("Box"), note("Box")] == [false, false, true, false])
        for isPaused in [true, true, false, false] {
            try fixture.write { transaction throws(RecordError) in
                try transaction.outbox.setPaused(isPaused)
            }
            try fixture.reopen()
            #expect(try fixture.store.syncState.isPaused() == isPaused)
        }
    }
}
