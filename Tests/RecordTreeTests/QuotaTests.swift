import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// What statfs shows where the server has told how much room there is.
@Suite("The figures of statfs") struct QuotaTests {
    private func told(_ total: Int64?, _ free: Int64, _ fixture: TreeFixture) throws {
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.sharing.setQuotas(
                [Quota(owner: .me, totalBytes: total, freeBytes: free)], of: .private)
        }
    }

    @Test("below private it is the quota, elsewhere the disk, and so before anything is told")
    func places() throws {
        let fixture = try TreeFixture()
        let tree = fixture.tree
        try fixture.put("{}", as: "a.json")
        try fixture.put("x", as: "a@photo.jpg")
        try fixture.put("x", as: ".swap")
        let disk = try tree.figures(of: .root)
        #expect(try tree.figures(of: fixture.notes).blocks == disk.blocks)
        try told(1 << 20, 1 << 19, fixture)
        let base = try #require(
            try tree.lookup(parent: .root, name: "private".b, caller: TreeFixture.user)
        ).node
        let zone = try #require(try fixture.lookup("Box", in: base)).node
        var inside = [base, zone, fixture.notes]
        for name in ["a.json", "a@photo.jpg"] {
            inside.append(try #require(try fixture.lookup(name)).node)
        }
        for node in inside {
            let figures = try tree.figures(of: node)
            #expect(figures.blocks * figures.blockSize == 1 << 20)
            #expect(figures.blocksFree * figures.blockSize == 1 << 19)
            #expect(figures.blocksAvailable <= figures.blocksFree)
            #expect(figures.nameLengthMax == 255 && figures.files == disk.files)
        }
        var outside = [NodeNumber.root, try #require(try fixture.lookup(".swap")).node]
        for name in ["shared", "public", "local", "README.md"] {
            let node = try tree.lookup(parent: .root, name: name.b, caller: TreeFixture.user)?.node
            outside.append(try #require(node))
        }
        for node in outside { #expect(try tree.figures(of: node).blocks == disk.blocks) }
    }

    @Test("more used than there is, more free than the disk has, and no size all make sense")
    func extremes() throws {
        let fixture = try TreeFixture()
        let disk = try fixture.tree.figures(of: .root)
        try told(1 << 20, 0, fixture)
        var figures = try fixture.tree.figures(of: fixture.notes)
        #expect(figures.blocks > 0 && figures.blocksFree == 0 && figures.blocksAvailable == 0)
        try told(.max - 1, .max - 1, fixture)
        figures = try fixture.tree.figures(of: fixture.notes)
        #expect(figures.blocks == figures.blocksFree)
        #expect(figures.blocksAvailable < disk.blocks)
        try told(nil, 1 << 30, fixture)
        figures = try fixture.tree.figures(of: fixture.notes)
        #expect(figures.blocks * figures.blockSize == 1 << 30)
        #expect(figures.blocksFree == figures.blocks)
        // Of a server that says nonsense.
        try told(10, 1 << 30, fixture)
        figures = try fixture.tree.figures(of: fixture.notes)
        #expect(figures.blocksFree <= figures.blocks)
    }

    @Test("a file that is gone while it is open has the figures of the disk")
    func gone() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "a.json")
        let node = try #require(try fixture.lookup("a.json")).node
        try told(1 << 20, 0, fixture)
        let disk = try fixture.tree.figures(of: .root)
        try fixture.tree.remove(parent: fixture.notes, name: "a.json".b, caller: TreeFixture.user)
        fixture.clock.advance(.seconds(60))
        _ = try fixture.tree.maintain()
        #expect(try fixture.tree.figures(of: node).blocks == disk.blocks)
    }
}
