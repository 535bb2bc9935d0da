import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

/// The daemon's own calls, by which the kernel tells programs that watch a directory of changes from
/// elsewhere: they find what a watcher is to see, and change nothing (MountContract, "Caching and
/// notification").
@Suite("Touches")
struct TouchTests {
    private final class Seen: Sendable {
        private let list = Mutex<[Touch]>([])
        func add(_ touches: [Touch]) { list.withLock { $0 += touches } }
        func take() -> [Touch] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    private let fixture: TreeFixture
    private let seen = Seen()

    init() throws {
        fixture = try TreeFixture()
        let (tree, seen) = (fixture.tree, seen)
        fixture.store.observe { changes in seen.add(tree.storeChanged(changes)) }
    }

    private func receive(_ value: Int64?) throws -> Touch {
        let operation: RemoteChange.Operation =
            value.map {
                .upsert([RecordField(name: FieldName("n"), value: .int64($0))], parent: nil)
            } ?? .delete
        _ = seen.take()
        try fixture.receive(operation, name: "n")
        return try #require(seen.take().first)
    }

    private var found: NodeEntry? {
        get throws { try fixture.lookup("n.json", as: TreeFixture.daemon) }
    }

    @Test("an arrived record is absent for the daemon until it has made it, and for nobody else")
    func created() throws {
        let touch = try receive(1)
        #expect(touch.kind == .created && touch.name == "n.json".b)
        #expect(touch.directoryPath == "private/Box/Note".b)
        let text = try fixture.text("n.json")
        #expect(fixture.tree.prepare(touch))
        #expect(try found == nil)
        #expect(try fixture.lookup("n.json") != nil)
        let (entry, opened) = try fixture.tree.create(
            parent: fixture.notes, name: "n.json".b, mode: 0o644, flags: O_WRONLY | O_EXCL,
            caller: TreeFixture.daemon)
        fixture.tree.release(opened.handle)
        #expect(try entry.node == fixture.lookup("n.json")?.node)
        _ = fixture.notices.take()
        fixture.tree.finish(touch)
        #expect(fixture.notices.take().count == 2)
        #expect(try found != nil)
        #expect(try fixture.text("n.json") == text)
        #expect(try fixture.history.count == 1)
    }

    @Test("a record that is gone is there for the daemon until it has removed it")
    func deleted() throws {
        _ = try receive(1)
        let touch = try receive(nil)
        #expect(touch.kind == .deleted)
        #expect(fixture.tree.prepare(touch))
        #expect(try fixture.lookup("n.json") == nil)
        #expect(try found?.attributes.size == 0)
        try fixture.tree.remove(
            parent: fixture.notes, name: "n.json".b, caller: TreeFixture.daemon)
        fixture.tree.finish(touch)
        #expect(try found == nil)
        // Without the ghost the daemon's call is like any other.
        #expect(
            try code {
                try fixture.tree.remove(
                    parent: fixture.notes, name: "n.json".b, caller: TreeFixture.daemon)
            } == .notFound)
    }

    @Test("a change is opened and closed by the daemon without a save")
    func changed() throws {
        _ = try receive(1)
        let touch = try receive(2)
        #expect(touch.kind == .changed)
        #expect(fixture.tree.prepare(touch))
        let entry = try #require(try found)
        let handle = try fixture.tree.open(
            entry.node, flags: O_WRONLY | O_TRUNC, caller: TreeFixture.daemon
        ).handle
        fixture.tree.release(handle)
        #expect(try fixture.text("n.json")?.contains("2") == true)
    }

    @Test("a touch whose name has changed again is pointless")
    func pointless() throws {
        let created = try receive(1)
        let changed = try receive(2)
        let deleted = try receive(nil)
        #expect(!fixture.tree.prepare(created))
        #expect(!fixture.tree.prepare(changed))
        _ = try receive(3)
        #expect(!fixture.tree.prepare(deleted))
        #expect(fixture.tree.prepare(changed))
    }

    @Test("changes through the mount raise no touch, those of commands do")
    func own() throws {
        try fixture.put("{}", as: "m.json")
        try fixture.remove("m.json")
        #expect(seen.take() == [])
        let type = try fixture.note.id
        _ = try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
            try transaction.records.save(text: "{}".b, type: type, stem: Stem("m"))
        }
        #expect(seen.take().map(\.name) == ["m.json".b])
    }
}
