import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// What another file under a record's name means for those who have the old one open.
@Suite("Files of records, from one replacement to the next")
struct FileVersionTests {
    /// A way in which another file takes the name n.json.
    enum Way: CaseIterable, Sendable {
        case rename, commandLine, remote

        func replace(_ fixture: TreeFixture, with value: Int) throws {
            let text = "{\"mine\":1,\"theirs\":\(value)}"
            switch self {
            case .rename:
                try fixture.put(text, as: ".n.tmp")
                try fixture.rename(".n.tmp", to: "n.json")
            case .commandLine:
                let type = try #require(try fixture.record("n")).type
                _ = try fixture.store.write(author: .commandLine) {
                    transaction throws(RecordError) in
                    try transaction.records.save(text: text.b, type: type, stem: Stem("n"))
                }
            case .remote:
                let fields = [
                    RecordField(name: FieldName("mine"), value: .int64(1)),
                    RecordField(name: FieldName("theirs"), value: .int64(Int64(value))),
                ]
                try fixture.receive(.upsert(fields, parent: nil), name: "n")
            }
        }
    }

    private func fixture(_ text: String = "{\"mine\":1,\"theirs\":1}") throws -> TreeFixture {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(text, as: "n.json")
        try fixture.send()
        return fixture
    }

    @Test(
        "a reader keeps its version, also when it reads for the first time after the replacement",
        arguments: Way.allCases)
    func reader(way: Way) throws {
        let fixture = try fixture()
        let old = try #require(try fixture.lookup("n.json"))
        let reader = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        try way.replace(fixture, with: 20)
        #expect(try fixture.read(reader.handle) == "{\"mine\":1,\"theirs\":1}")
        let (attributes, _) = try fixture.tree.attributes(of: old.node, handle: reader.handle)
        #expect(attributes.size == old.attributes.size && attributes.links == 0)
        let new = try #require(try fixture.lookup("n.json"))
        #expect(new.node != old.node)
        #expect(new.attributes.inode != old.attributes.inode)
        #expect(try fixture.text("n.json")?.contains("20") == true)
        fixture.tree.release(reader.handle)
    }

    @Test(
        "an open that was looked up before the replacement meets the old version, whole",
        arguments: Way.allCases)
    func lateOpen(way: Way) throws {
        let fixture = try fixture()
        let old = try #require(try fixture.lookup("n.json"))
        try way.replace(fixture, with: 20)
        let reader = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        #expect(try fixture.read(reader.handle) == "{\"mine\":1,\"theirs\":1}")
        let (attributes, _) = try fixture.tree.attributes(of: old.node, handle: nil)
        #expect(attributes.size == old.attributes.size)
        fixture.tree.release(reader.handle)
        // An answer that the kernel had no use for, not the one whose node it opens now.
        fixture.tree.forget(old.node, count: 1)
        let late = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        #expect(try fixture.read(late.handle) == "{\"mine\":1,\"theirs\":1}")
        fixture.tree.release(late.handle)
        fixture.clock.advance(.seconds(60))
        _ = try fixture.tree.maintain()
        #expect(throws: RecordError.self, "the kernel has long been told") {
            try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        }
    }

    @Test(
        "a writer keeps its text, and its save stands beside what came meanwhile",
        arguments: Way.allCases)
    func writer(way: Way) throws {
        let fixture = try fixture()
        let writer = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.write("2", to: writer, at: 8)
        try way.replace(fixture, with: 20)
        #expect(try fixture.read(writer) == "{\"mine\":2,\"theirs\":1}", "its own text, no mixture")
        try fixture.tree.flush(writer)
        let merged = try #require(try fixture.text("n.json"))
        #expect(merged.contains("\"mine\":2") && merged.contains("\"theirs\":20"), "\(merged)")
        #expect(try fixture.read(writer) == "{\"mine\":2,\"theirs\":1}")
        try fixture.write("3", to: writer, at: 8)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        let last = try #require(try fixture.text("n.json"))
        #expect(last.contains("\"mine\":3") && last.contains("\"theirs\":20"), "\(last)")
    }

    @Test(
        "of one field that both have changed the later save stays, the other one is in history",
        arguments: Way.allCases)
    func conflict(way: Way) throws {
        let fixture = try fixture()
        let writer = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.write("7", to: writer, at: 19)
        try way.replace(fixture, with: 20)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.text("n.json")?.contains("\"theirs\":7") == true)
        let texts = try fixture.history.map { String(decoding: $0.text, as: UTF8.self) }
        #expect(texts.contains { $0.contains("20") }, "\(texts)")
    }

    @Test(
        "an emptied file whose name another one takes leaves that one alone",
        arguments: Way.allCases)
    func emptied(way: Way) throws {
        let fixture = try fixture()
        let old = try #require(try fixture.lookup("n.json"))
        let writer = try fixture.openNew("n.json", flags: O_WRONLY | O_TRUNC)
        try way.replace(fixture, with: 20)
        fixture.tree.release(writer)
        #expect(try fixture.text("n.json")?.contains("20") == true)
        // truncate(2) of a path that was looked up a moment before.
        var empty = NodeChanges()
        empty.size = 0
        _ = try fixture.tree.setAttributes(of: old.node, empty, handle: nil)
        #expect(try fixture.text("n.json")?.contains("20") == true)
        #expect(try fixture.record("n")?.state == .saved)
    }

    @Test("who has a record open reads on when it goes away, comes back and is removed")
    func awayAndBack() throws {
        let fixture = try fixture()
        let reader = try fixture.openNew("n.json", flags: O_RDONLY)
        try fixture.rename("n.json", to: "n.json~")
        try fixture.rename("n.json~", to: "n.json")
        let node = try #require(try fixture.lookup("n.json")).node
        try fixture.remove("n.json")
        #expect(try fixture.read(reader) == "{\"mine\":1,\"theirs\":1}")
        let (attributes, _) = try fixture.tree.attributes(of: node, handle: nil)
        #expect(attributes.size == 21 && attributes.links == 0)
        fixture.tree.release(reader)
    }

    @Test("a record that is deleted on another machine while it is edited here comes back")
    func deletedElsewhere() throws {
        let fixture = try fixture()
        let writer = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.write("2", to: writer, at: 8)
        try fixture.receive(.delete, name: "n")
        #expect(try fixture.lookup("n.json") == nil)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.text("n.json") == "{\"mine\":2,\"theirs\":1}")
    }

    @Test("a record that is removed by hand while it is open goes on being read, and stays removed")
    func removedByHand() throws {
        let fixture = try fixture()
        let id = try #require(try fixture.record("n")).id
        let reader = try fixture.openNew("n.json", flags: O_RDONLY)
        let writer = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.store.write(author: .commandLine) { transaction throws(RecordError) in
            try transaction.records.beginDelete(id)
        }
        #expect(try fixture.read(reader) == "{\"mine\":1,\"theirs\":1}")
        try fixture.write("2", to: writer, at: 8)
        #expect(try fixture.read(reader) == "{\"mine\":2,\"theirs\":1}")
        try fixture.tree.flush(writer)
        #expect(try fixture.lookup("n.json") == nil)
        fixture.tree.release(reader)
        fixture.tree.release(writer)
    }

    @Test("the first save of a name that was taken meanwhile is merged with what took it")
    func firstSave() throws {
        let fixture = try fixture()
        let writer = try fixture.openNew("new.json")
        try fixture.write("{\"mine\":1}", to: writer)
        try fixture.put("{\"theirs\":2}", as: ".new.tmp")
        try fixture.rename(".new.tmp", to: "new.json")
        #expect(try fixture.text("new.json") == "{\"theirs\":2}")
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        let merged = try #require(try fixture.text("new.json"))
        #expect(merged.contains("\"mine\":1") && merged.contains("\"theirs\":2"), "\(merged)")
    }

    @Test("a refused replacement becomes a draft in a file of its own: readers keep their version")
    func refusedRename() throws {
        let fixture = try fixture()
        let old = try #require(try fixture.lookup("n.json"))
        let reader = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        try fixture.put("{\"mine\":", as: ".n.tmp")
        #expect(throws: RecordError.self) { try fixture.rename(".n.tmp", to: "n.json") }
        #expect(try fixture.read(reader.handle) == "{\"mine\":1,\"theirs\":1}")
        #expect(try fixture.text("n.json") == "{\"mine\":")
        fixture.tree.release(reader.handle)
        #expect(throws: RecordError.self, "the name is looked up again instead") {
            try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        }
    }

    @Test("writes through the mount into the file itself change it for its readers, as on ext4")
    func inPlace() throws {
        let fixture = try fixture()
        let old = try #require(try fixture.lookup("n.json"))
        let reader = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        try fixture.put("{\"mine\":5}", as: "n.json")
        #expect(try fixture.read(reader.handle) == "{\"mine\":5}")
        #expect(try fixture.lookup("n.json")?.node == old.node)
        fixture.tree.release(reader.handle)
    }

    @Test("open files follow their content when two records change places, and save there")
    func exchange() throws {
        let fixture = try fixture()
        try fixture.put("{\"mine\":8}", as: "o.json")
        let writer = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.rename("n.json", to: "o.json", flags: 2)
        #expect(try fixture.read(writer) == "{\"mine\":1,\"theirs\":1}")
        try fixture.write("4", to: writer, at: 8)
        try fixture.tree.flush(writer)
        fixture.tree.release(writer)
        #expect(try fixture.text("o.json") == "{\"mine\":4,\"theirs\":1}")
        #expect(try fixture.text("n.json") == "{\"mine\":8}")
    }

    @Test(
        "the inode number of a record is its own over remounts, until another file takes its name")
    func inodeNumbers() throws {
        let fixture = try fixture()
        let first = try #require(try fixture.lookup("n.json")).attributes.inode
        try Way.rename.replace(fixture, with: 20)
        let second = try #require(try fixture.lookup("n.json")).attributes.inode
        #expect(first != second)
        let again = Tree(store: fixture.store, options: .init(owner: 0, group: 0))
        let entry = try #require(
            try again.lookup(parent: fixture.notes, name: "n.json".b, caller: TreeFixture.user))
        #expect(entry.attributes.inode == second)
    }

    @Test("the memory of a large text that was replaced is given back when its time is over")
    func memory() throws {
        let fixture = try fixture()
        let large = "{\"t\": \"\(String(repeating: "x", count: 3 << 20))\"}"
        try fixture.put(large, as: "n.json")
        try Way.commandLine.replace(fixture, with: 2)
        while try fixture.store.upkeep.releaseMemory() {}
        _ = try fixture.tree.maintain()
        #expect(try !fixture.store.upkeep.releaseMemory(), "it can still be opened")
        fixture.clock.advance(.seconds(11))
        _ = try fixture.tree.maintain()
        #expect(try fixture.store.upkeep.releaseMemory())
    }
}
