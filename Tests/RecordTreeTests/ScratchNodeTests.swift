import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

@Suite("Scratch files by their nodes")
struct ScratchNodeTests {
    @Test("a node whose name went to another file still opens its own one", arguments: 0..<4)
    func replaced(way: Int) throws {
        let fixture = try TreeFixture()
        try fixture.put("old", as: "x.txt")
        try fixture.put("new", as: "y.txt")
        let old = try #require(try fixture.lookup("x.txt"))
        switch way {
        case 0: try fixture.rename("y.txt", to: "x.txt")
        case 1: try fixture.remove("x.txt")
        case 2: try fixture.rename("y.txt", to: "x.txt", flags: 2)
        default:
            try fixture.put("{}", as: "r.json")
            try fixture.rename("r.json", to: "x.txt")
        }
        let handle = try fixture.tree.open(old.node, flags: O_RDONLY, caller: TreeFixture.user)
        defer { fixture.tree.release(handle.handle) }
        #expect(try fixture.read(handle.handle) == "old")
        let (attributes, _) = try fixture.tree.attributes(of: old.node, handle: nil)
        #expect(attributes.size == 3)
        #expect(attributes.links == (way == 2 ? 1 : 0))
    }

    @Test("a file without a name takes new modes, times, sizes and attributes")
    func unlinked() throws {
        let fixture = try TreeFixture()
        let handle = try fixture.openNew("x.txt", flags: O_RDWR)
        try fixture.write("content", to: handle)
        let node = try #require(try fixture.lookup("x.txt")).node
        try fixture.remove("x.txt")
        var changes = NodeChanges()
        changes.mode = 0o640
        changes.size = 4
        changes.modified = .at(Timestamp(seconds: 1_000_000_000))
        changes.owner = geteuid()
        let (shown, _) = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        #expect(shown.mode & 0o7777 == 0o640)
        #expect(shown.size == 4)
        #expect(shown.modified == Timestamp(seconds: 1_000_000_000))
        #expect(shown.links == 0)
        try fixture.tree.setAttribute("user.a".b, of: node, to: "1".b, flags: 0)
        #expect(try fixture.tree.attribute("user.a".b, of: node) == "1".b)
        try fixture.tree.removeAttribute("user.a".b, of: node)
        #expect(try fixture.read(handle) == "cont")
        fixture.tree.release(handle)
    }

    @Test("all names of a linked file are one node, which lives as long as one of them")
    func links() throws {
        let fixture = try TreeFixture()
        try fixture.put("text", as: "a.txt")
        let first = try #require(try fixture.lookup("a.txt"))
        let second = try fixture.tree.link(
            first.node, newParent: fixture.notes, newName: "b.txt".b)
        #expect(second.node == first.node)
        #expect(second.attributes.links == 2)
        try fixture.put("longer text", as: "b.txt")
        #expect(try fixture.text("a.txt") == "longer text")
        try fixture.remove("a.txt")
        #expect(try fixture.lookup("b.txt")?.node == first.node)
        #expect(try fixture.lookup("b.txt")?.attributes.links == 1)
        try fixture.rename("b.txt", to: "c.txt")
        #expect(try fixture.text("c.txt") == "longer text")
        #expect(try fixture.lookup("c.txt")?.node == first.node)
    }

    @Test("a link that was made before the mount is found as the same node")
    func foundLinks() throws {
        let fixture = try TreeFixture()
        try fixture.put("text", as: "a.txt")
        let first = try #require(try fixture.lookup("a.txt"))
        _ = try fixture.tree.link(first.node, newParent: fixture.notes, newName: "b.txt".b)
        fixture.tree.forget(first.node, count: 100)
        let again = try #require(try fixture.lookup("b.txt"))
        #expect(try fixture.lookup("a.txt")?.node == again.node)
        try fixture.remove("b.txt")
        #expect(try fixture.text("a.txt") == "text")
    }

    @Test("a linked file is there by each of its names, whichever directory the kernel forgets")
    func forgottenDirectory() throws {
        let fixture = try TreeFixture()
        func directory(_ name: String) throws -> NodeNumber {
            try fixture.tree.makeDirectory(parent: fixture.notes, name: name.b, mode: 0o755).node
        }
        let (one, two) = (try directory("one"), try directory("two"))
        let caller = Requester(threadID: 1)
        // In which order the names are kept is chance.
        for number in 0..<32 {
            let name = "f\(number)".b
            let (entry, made) = try fixture.tree.create(
                parent: one, name: name, mode: 0o644, flags: O_RDWR, caller: caller)
            fixture.tree.release(made.handle)
            _ = try fixture.tree.link(entry.node, newParent: two, newName: name)
        }
        fixture.tree.forget(one, count: 100)
        for number in 0..<32 {
            let found = try fixture.tree.lookup(
                parent: two, name: "f\(number)".b, caller: caller)
            let node = try #require(found).node
            #expect(try fixture.tree.attributes(of: node, handle: nil).0.links == 2)
        }
        // It is found anew, with what is in it.
        let again = try #require(try fixture.lookup("one")).node
        let entry = try fixture.tree.lookup(parent: again, name: "f7".b, caller: caller)
        let other = try fixture.tree.lookup(parent: two, name: "f7".b, caller: caller)
        #expect(entry != nil && entry?.node == other?.node)
    }

    @Test("records are not linked, neither from nor to")
    func recordLinks() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "r.json")
        try fixture.put("{}", as: "s.txt")
        for (name, newName) in [("r.json", "x.txt"), ("s.txt", "n.json"), ("r.json", "n.json")] {
            let node = try #require(try fixture.lookup(name)).node
            let error = #expect(throws: RecordError.self) {
                _ = try fixture.tree.link(node, newParent: fixture.notes, newName: newName.b)
            }
            #expect(error?.code == .notPermitted)
        }
        #expect(try fixture.names() == ["r.json", "s.txt"])
    }

    @Test("a file in a directory that has gone cannot be made, and the open one goes on")
    func removedDirectory() throws {
        let fixture = try TreeFixture()
        let directory = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: "d".b, mode: 0o755)
        try fixture.tree.removeDirectory(parent: fixture.notes, name: "d".b)
        let (attributes, _) = try fixture.tree.attributes(of: directory.node, handle: nil)
        #expect(attributes.links == 0)
        let error = #expect(throws: RecordError.self) {
            _ = try fixture.tree.create(
                parent: directory.node, name: "x".b, mode: 0o644, flags: O_WRONLY,
                caller: TreeFixture.user)
        }
        #expect(error?.systemErrno == ENOENT)
        #expect(try fixture.names(in: directory.node) == [])
    }

    @Test("records and assets move into scratch directories and out of them")
    func otherDirectories() throws {
        let fixture = try TreeFixture()
        let directory = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: "d".b, mode: 0o755)
        try fixture.put("{\"a\":1}", as: "r.json")
        let before = try fixture.record("r")?.id
        try fixture.tree.rename(
            parent: fixture.notes, name: "r.json".b, newParent: directory.node, newName: "r.json".b,
            flags: 0)
        #expect(try fixture.names(in: directory.node) == ["r.json"])
        #expect(try fixture.lookup("r.json") == nil)
        try fixture.tree.rename(
            parent: directory.node, name: "r.json".b, newParent: fixture.notes, newName: "r.json".b,
            flags: 0)
        #expect(try fixture.text("r.json") == "{\"a\":1}")
        #expect(try fixture.record("r")?.id == before)
        #expect(try fixture.names(in: directory.node) == [])
    }
}
