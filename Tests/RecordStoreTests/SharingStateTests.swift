import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Quotas, invitations and what is left of ended shares, as the server last reported them.
@Suite struct SharingStateTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func quota(_ owner: String, _ free: Int64, of total: Int64? = nil) -> Quota {
        Quota(owner: OwnerName(owner), totalBytes: total, freeBytes: free)
    }

    private func set(_ quotas: [Quota], of database: Database) throws {
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.sharing.setQuotas(quotas, of: database)
        }
    }

    @Test("quotas are kept for each owner and database, and a new report replaces all of one's")
    func quotas() throws {
        let theirs = try fixture.sharedZone(owner: "_ann", address: "ann@h").zone.id
        #expect(try fixture.store.sharing.ownQuota() == nil)
        try set([Quota(owner: .me, totalBytes: 100, freeBytes: 7)], of: .private)
        try set([quota("_ann", 5), quota("_bo b", 0, of: 9)], of: .shared)
        try fixture.reopen()
        #expect(
            try fixture.store.sharing.ownQuota()
                == Quota(owner: .me, totalBytes: 100, freeBytes: 7))
        #expect(
            try fixture.store.sharing.quotas(of: .shared).sorted { $0.freeBytes < $1.freeBytes }
                == [quota("_bo b", 0, of: 9), quota("_ann", 5)])
        #expect(
            try fixture.store.sharing.quota(ofOwnerOf: theirs) == quota("_ann", 5),
            "by the name at the server, not by the address that shows")
        #expect(try fixture.store.sharing.quota(ofOwnerOf: fixture.zone.id) == nil)
        try set([], of: .shared)
        #expect(try fixture.store.sharing.quotas(of: .shared) == [])
        #expect(try fixture.store.sharing.quota(ofOwnerOf: theirs) == nil)
        #expect(try fixture.store.sharing.quotas(of: .private).count == 1)
    }

    private func invitation(_ id: String, _ title: String = "Box") -> Invitation {
        Invitation(
            id: Text(id),
            json: [
                "url": .string(Text("https://h/\(id)")), "title": .string(Text(title)),
                "owner": ["address": .string("ann@h")],
            ])
    }

    /// Sets the invitations and returns those that are news.
    private func invite(_ invitations: [Invitation]) throws -> [Text] {
        _ = fixture.changes()
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.sharing.setInvitations(invitations)
        }
        let news = fixture.changes().flatMap(\.shareNews)
        #expect(news.allSatisfy { $0.kind == .invited && $0.who == "ann@h" })
        return news.compactMap(\.invitation?.id)
    }

    @Test("invitations replace those before, and those above the first known one are news")
    func invitations() throws {
        let (a, b, c) = (invitation("a"), invitation("b"), invitation("c"))
        #expect(try invite([b, a]) == ["b", "a"])
        #expect(try invite([b, a]) == [])
        #expect(try invite([c, b, a]) == ["c"])
        #expect(
            try invite([b, invitation("old")]) == [], "it was not reported, for there were more")
        try fixture.reopen()
        #expect(try fixture.store.sharing.invitations() == [b, invitation("old")])
        #expect(b.link == "https://h/b" && b.title == "Box")
    }

    @Test("an invitation that is accepted or declined goes, and is then no news of anybody")
    func answered() throws {
        _ = try invite([invitation("b"), invitation("a")])
        _ = fixture.changes()
        try fixture.write(.sync) { transaction throws(RecordError) in
            for _ in 0..<2 { try transaction.sharing.removeInvitation("b") }
        }
        #expect(fixture.changes().map(\.shareNews) == [[]])
        #expect(try fixture.store.sharing.invitations().map(\.id) == ["a"])
    }

    @Test("an invitation that is withdrawn or changed leaves nothing on the disk")
    func withdrawn() throws {
        for change in [[], [invitation("a", "Pond")]] {
            _ = try invite([invitation("a", "Lake Geneva")])
            _ = try invite(change)
            #expect(try fixture.store.upkeep.scrub())
            for file in ["store.sqlite", "store.sqlite-wal"] {
                let data = try Data(contentsOf: URL(filePath: "\(fixture.directory)/\(file)"))
                #expect(data.range(of: Data("Lake Geneva".utf8)) == nil, "\(file)")
            }
        }
    }

    @Test("records that stay of a share whose root was deleted are told and listed for a time")
    func unshared() throws {
        func note(_ root: String, _ children: [String]) throws {
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.sharing.noteUnshared(
                    children.map { RecordName($0) }, of: RecordName(root), in: fixture.zone.id)
            }
        }
        _ = fixture.changes()
        let start = fixture.clock.now
        try note("a b", ["x", "é"])
        fixture.clock.advance(.seconds(10))
        try note("c", [])
        let news = fixture.changes().flatMap(\.shareNews)
        #expect(news.map(\.kind) == [.unshared, .unshared] && news.map(\.count) == [2, 0])
        #expect(news.map(\.root) == [RecordName("a b"), RecordName("c")])
        try fixture.reopen()
        func listed(since time: Timestamp) throws -> [String] {
            try fixture.store.sharing.unsharedRecords(since: time).map { "\($0.root): \($0.list)" }
        }
        #expect(try listed(since: start - .seconds(1)) == ["a b: x, é", "c: "])
        #expect(try listed(since: start) == ["c: "])
        #expect(try listed(since: fixture.clock.now) == [])
        fixture.clock.advance(.seconds(10))
        try note("a b", ["y"])
        #expect(try listed(since: start) == ["c: ", "a b: y"])
    }
}
