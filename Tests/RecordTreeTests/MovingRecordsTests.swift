import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// `mv` of a record's file to another type or zone of its database.
@Suite("Records that are moved") struct MovingRecordsTests {
    private let fixture: TreeFixture
    private let tasks: NodeNumber
    private let others: NodeNumber

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        let box = try #require(try fixture.find("private/Box")).node
        tasks = try fixture.tree.makeDirectory(parent: box, name: "Task".b, mode: 0o755).node
        let base = try #require(try fixture.find("private")).node
        let side = try fixture.tree.makeDirectory(parent: base, name: "Side".b, mode: 0o755).node
        others = try fixture.tree.makeDirectory(parent: side, name: "Note".b, mode: 0o755).node
    }

    private func move(_ name: String, to directory: NodeNumber, as newName: String) throws {
        try fixture.tree.rename(
            parent: fixture.notes, name: name.b, newParent: directory, newName: newName.b,
            flags: 0, caller: TreeFixture.user)
    }

    private func text(_ name: String, in directory: NodeNumber) throws -> String? {
        guard let entry = try fixture.lookup(name, in: directory) else { return nil }
        let handle = try fixture.tree.open(
            entry.node, flags: O_RDONLY, caller: TreeFixture.user
        ).handle
        defer { fixture.tree.release(handle) }
        return try fixture.read(handle)
    }

    @Test("are there at once, under any name, and here no more")
    func moved() throws {
        try fixture.put(#"{"a":1}"#, as: "r.json")
        try move("r.json", to: tasks, as: "r.json")
        #expect(try fixture.names() == [])
        #expect(try text("r.json", in: tasks) == #"{"a":1}"#)
        try fixture.put(#"{"a":2}"#, as: "s.json")
        try move("s.json", to: others, as: "t.json")
        #expect(try fixture.names() == [])
        #expect(try text("t.json", in: others) == #"{"a":2}"#)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("take the place of what is there")
    func over() throws {
        try fixture.put(#"{"a":1}"#, as: "r.json")
        try move("r.json", to: others, as: "r.json")
        try fixture.put(#"{"a":2}"#, as: "r.json")
        try move("r.json", to: others, as: "r.json")
        #expect(try text("r.json", in: others) == #"{"a":2}"#)
        #expect(try fixture.names(in: others) == ["r.json"])
    }

    @Test("are saved where they are now by who has them open")
    func open() throws {
        try fixture.put(#"{"a":1}"#, as: "r.json")
        let handle = try fixture.openNew("r.json", flags: O_RDWR)
        try fixture.write(#"{"a":5}"#, to: handle)
        try move("r.json", to: tasks, as: "s.json")
        try fixture.write(#"{"a":7}"#, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try text("s.json", in: tasks) == #"{"a":7}"#)
        #expect(try fixture.names() == [])
    }

    @Test("are copied by who moves them where they cannot go as they are")
    func copied() throws {
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "d.json") }
        let draft = #expect(throws: RecordError.self) {
            try move("d.json", to: tasks, as: "d.json")
        }
        #expect(draft?.code == .crossDevice)
        let local = try #require(try fixture.find("local")).node
        let zone = try fixture.tree.makeDirectory(parent: local, name: "Z".b, mode: 0o755).node
        let type = try fixture.tree.makeDirectory(parent: zone, name: "Note".b, mode: 0o755).node
        try fixture.put(#"{"a":1}"#, as: "r.json")
        let other = #expect(throws: RecordError.self) {
            try move("r.json", to: type, as: "r.json")
        }
        #expect(other?.code == .crossDevice)
    }

    @Test("keep their name when the directory of their type has what is named so by another type")
    func taken() throws {
        try fixture.put(#"{"a":1}"#, as: "r.json")
        try move("r.json", to: tasks, as: "r.json")
        try fixture.put(#"{"a":2}"#, as: "r.json")
        try move("r.json", to: tasks, as: "s.json")
        #expect(try fixture.names(in: tasks) == ["r.json", "s.json"])
    }

    private func share(_ root: String?) throws {
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.sharing.noteShare(
                Share(
                    name: RecordName("share"), root: root.map { RecordName($0) },
                    permission: .readWrite, text: Array("{}".utf8)), of: zone)
        }
    }

    @Test(
        "a zone or type in which something is shared stays, and the directory's .error says why",
        arguments: [nil, "r"])
    func shared(root: String?) throws {
        try fixture.put("{}", as: "r.json")
        let base = try #require(try fixture.find("private")).node
        let box = try #require(try fixture.find("private/Box")).node
        func code(_ parent: NodeNumber, _ name: String) throws -> RecordError.Code? {
            do throws(RecordError) {
                try fixture.tree.rename(
                    parent: parent, name: name.b, newParent: parent, newName: "New".b, flags: 0,
                    caller: TreeFixture.user)
                return nil
            } catch {
                return error.code
            }
        }
        for (parent, name) in [(base, "Box"), (box, "Note"), (box, "Task")] {
            #expect(try code(parent, name) == .crossDevice)
            #expect(try text(".error", in: parent) == nil)
        }
        try share(root)
        #expect(try code(base, "Box") == .notPermitted)
        #expect(try code(box, "Task") == .crossDevice)
        #expect(try code(box, "Note") == (root == nil ? .crossDevice : .notPermitted))
        let reason = try #require(try text(".error", in: root == nil ? base : box))
        for words in [root == nil ? "Box" : "Note", "is shared", "recordfs share stop"] {
            #expect(reason.contains(words), "\(reason)")
        }
        #expect(try code(base, "Side") == .crossDevice)
        #expect(try text(".error", in: base) == nil, "the next that may go answers it")
    }
}
