import RecordModel
import RecordStore
import Testing

@testable import RecordTree

@Suite("Node numbers")
struct NodeNumberTests {
    @Test("a zone that comes back is another node, and its old number is nothing any more")
    func zones() throws {
        let fixture = try TreeFixture(database: "local")
        fixture.observe()
        let base = try #require(
            try fixture.tree.lookup(
                parent: .root, name: "local".b, caller: TreeFixture.user))
        var seen: Set<NodeNumber> = []
        for _ in 1...5 {
            let zone = try fixture.tree.makeDirectory(parent: base.node, name: "Z".b, mode: 0o755)
            #expect(seen.insert(zone.node).inserted)
            #expect(zone.attributes.inode == zone.node.rawValue)
            _ = try fixture.tree.makeDirectory(parent: zone.node, name: "T".b, mode: 0o755)
            #expect(try fixture.names(in: zone.node) == ["T"])
            try fixture.tree.removeDirectory(parent: zone.node, name: "T".b)
            try fixture.tree.removeDirectory(parent: base.node, name: "Z".b)
            #expect(try fixture.names(in: zone.node) == [])
            #expect(try fixture.tree.attributes(of: zone.node, handle: nil).0.links == 0)
            #expect(throws: RecordError.self) { try fixture.lookup("T", in: zone.node) }
        }
        let zone = try fixture.tree.makeDirectory(parent: base.node, name: "Z".b, mode: 0o755)
        #expect(!seen.contains(zone.node))
        let next = Tree(
            store: fixture.store,
            options: Tree.Options(owner: 1000, group: 1000, clock: fixture.clock))
        try next.start()
        let found = try next.lookup(parent: base.node, name: "Z".b, caller: TreeFixture.user)
        #expect(found?.node == zone.node, "the number is the same after a remount")
    }

    @Test("kind, epoch and row of a number are told apart up to their ends")
    func layout() {
        for row in [0, 1, 1 << 33, 1 << 34 - 1] as [Int64] {
            for epoch in [0, 1, 1 << 16, NodeNumber.epochs - 1] {
                let file = RecordFile(record: RecordID(row), incarnation: epoch)
                let number = NodeNumber(file)
                #expect(number.arithmeticNode == .record(file))
                #expect(number.inode == number.rawValue)
            }
        }
        let version = NodeNumber(kind: .version, row: 1 << 50)
        #expect(version.arithmeticNode == .control(.version(1 << 50)))
        #expect(version.epoch == 0)
        #expect(NodeNumber(AssetID(7), epoch: 3).inode == NodeNumber(AssetID(7), epoch: 0).rawValue)
    }
}
