import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("The trash")
struct TrashTests {
    private let path = ".recordfs/trash/private/Box/Note"

    private func trash(_ fixture: TreeFixture, type: String = "Note") throws -> NodeNumber {
        try fixture.control("trash/private/Box/\(type)")
    }

    private func code(_ body: () throws -> Void) -> RecordError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RecordError)?.code
        }
    }

    /// rename(2) from the trash into a directory.
    private func restore(
        _ fixture: TreeFixture, _ name: String, as newName: String, in directory: NodeNumber,
        flags: UInt32 = 0
    ) throws {
        try fixture.tree.rename(
            parent: try trash(fixture), name: name.b, newParent: directory,
            newName: newName.b, flags: flags)
    }

    @Test("mv brings a deleted record back under any name of its type")
    func rename() throws {
        let fixture = try TreeFixture()
        try fixture.trash(["a", "b"])
        try restore(fixture, "a.json", as: "a.json", in: fixture.notes)
        try restore(fixture, "b.json", as: "c.json", in: fixture.notes)
        #expect(try fixture.names() == ["a.json", "c.json"])
        #expect(try fixture.text("c.json") == #"{"n":1}"#)
        #expect(try fixture.list(try trash(fixture)).isEmpty)
        #expect(
            code { try restore(fixture, "a.json", as: "a.json", in: fixture.notes) } == .notFound)
    }

    @Test("mv over a record makes it what the trash had, and mv -n leaves it")
    func overwrite() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.trash(["a"])
        try fixture.put(#"{"n":2}"#, as: "a.json")
        #expect(
            code { try restore(fixture, "a.json", as: "a.json", in: fixture.notes, flags: 1) }
                == .alreadyExists)
        #expect(try fixture.text("a.json") == #"{"n":2}"#)
        try restore(fixture, "a.json", as: "a.json", in: fixture.notes)
        #expect(try fixture.text("a.json") == #"{"n":1}"#)
        #expect(try fixture.history.map(\.kind) == [.created, .deleted, .created, .restored])
    }

    @Test("to another type, to scratch and to a directory it is a copy, and rm then deletes it")
    func otherPlaces() throws {
        let fixture = try TreeFixture()
        try fixture.trash(["a"])
        try fixture.save(["t"], type: "Task")
        let task = try #require(try fixture.find("private/Box/Task")).node
        let box = try #require(try fixture.find("private/Box")).node
        for (name, directory) in [
            ("a.json", task), ("a.txt", fixture.notes), (".a", box), ("a@f.txt", fixture.notes),
        ] {
            #expect(
                code { try restore(fixture, "a.json", as: name, in: directory) } == .crossDevice,
                "\(name)")
        }
        let zone = try fixture.control("trash/private/Box")
        #expect(
            code {
                try fixture.tree.rename(
                    parent: zone, name: "Note".b, newParent: box, newName: "Note2".b, flags: 0)
            } == .crossDevice)
        try fixture.tree.remove(
            parent: try trash(fixture), name: "a.json".b, caller: TreeFixture.user)
        try fixture.maintain()
        #expect(try fixture.store.past.trash(in: try fixture.box.id).isEmpty)
    }

    @Test("nothing is moved into .recordfs, and nothing but the trash out of it")
    func otherMoves() throws {
        let fixture = try TreeFixture()
        try fixture.save(["a"])
        try fixture.trash(["b"])
        let trash = try trash(fixture)
        #expect(
            code {
                try fixture.tree.rename(
                    parent: fixture.notes, name: "a.json".b, newParent: trash,
                    newName: "a.json".b, flags: 0)
            } == .notPermitted)
        #expect(
            code {
                try fixture.tree.rename(
                    parent: trash, name: "b.json".b, newParent: trash, newName: "c.json".b,
                    flags: 0)
            } == .notPermitted)
        let versions = try fixture.control("history/private/Box/Note/a")
        let version = try fixture.list(versions)[0]
        #expect(
            code {
                try fixture.tree.rename(
                    parent: versions, name: version.b, newParent: fixture.notes,
                    newName: "c.json".b, flags: 0)
            } == .notPermitted)
        #expect(
            code {
                try fixture.tree.rename(
                    parent: trash, name: "b.json".b, newParent: fixture.notes,
                    newName: "a.json".b, flags: 2)
            } == .invalidArgument)
        #expect(try fixture.names() == ["a.json"])
    }

    @Test("rm -r empties it, and nothing else below .recordfs can be removed")
    func removing() throws {
        let fixture = try TreeFixture()
        try fixture.save(["a"])
        try fixture.trash(["b", "b", "c"])
        let database = try fixture.control("trash/private")
        let zone = try fixture.control("trash/private/Box")
        #expect(
            code { try fixture.tree.removeDirectory(parent: zone, name: "Note".b) } == .notEmpty)
        let trash = try trash(fixture)
        for name in try fixture.list(trash) {
            try fixture.tree.remove(parent: trash, name: name.b, caller: TreeFixture.user)
        }
        try fixture.tree.removeDirectory(parent: zone, name: "Note".b)
        #expect(try fixture.list(zone).isEmpty)
        try fixture.tree.removeDirectory(parent: database, name: "Box".b)
        try fixture.tree.removeDirectory(
            parent: try fixture.control("trash"), name: "private".b)
        #expect(try fixture.list(try fixture.control("trash")).isEmpty)

        for path in [
            "status.json", "events", "ctl", "metrics", "schema/development.ckdb",
            "export/private/Box/Note.json", "meta/private/Box/Note/a.json",
            "query/private/Box/Note/n=1/a.json",
        ] {
            let (directory, name) = split(path)
            let parent = try fixture.control(directory)
            #expect(
                code {
                    try fixture.tree.remove(parent: parent, name: name.b, caller: TreeFixture.user)
                } == .notPermitted, "\(path)")
        }
        for path in [
            "trash", "errors", "history/private/Box/Note/a", "history/private/Box/Note",
            "meta/private", "query/private/Box/Note/n=1", "schema",
        ] {
            let (directory, name) = split(path)
            let parent = try fixture.control(directory)
            #expect(
                code { try fixture.tree.removeDirectory(parent: parent, name: name.b) }
                    == .notPermitted, "\(path)")
        }
        #expect(try fixture.names() == ["a.json"])
        // What comes into an emptied trash is listed again.
        try fixture.trash(["d"])
        #expect(try fixture.list(try self.trash(fixture)) == ["d.json"])
    }

    private func split(_ path: String) -> (String, String) {
        var parts = path.split(separator: "/").map(String.init)
        let name = parts.removeLast()
        return (parts.joined(separator: "/"), name)
    }

    @Test("the trash and history of a type and zone that are gone are found by their names")
    func gone() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.trash(["a"])
        let base = try #require(try fixture.find("private")).node
        let box = try #require(try fixture.find("private/Box")).node
        try fixture.tree.removeDirectory(parent: box, name: "Note".b)
        try fixture.tree.removeDirectory(parent: base, name: "Box".b)
        #expect(try fixture.names(in: base).isEmpty)
        #expect(try fixture.list(try fixture.control("trash/private")) == ["Box"])
        #expect(try fixture.list(try fixture.control("trash/private/Box")) == ["Note"])
        #expect(try fixture.list(try trash(fixture)) == ["a.json"])
        #expect(try fixture.content(path + "/a.json") == #"{"n":1}"#)
        #expect(try fixture.list(try fixture.control("history/private/Box")) == ["Note"])
        #expect(try fixture.list(try fixture.control("history/private/Box/Note/a")).count == 2)
        #expect(try fixture.find(".recordfs/trash/private/Box/Other") == nil)
        #expect(try fixture.find(".recordfs/trash/private/Other") == nil)

        // Made again by hand, they take it back.
        let zone = try fixture.tree.makeDirectory(parent: base, name: "Box".b, mode: 0o755).node
        let notes = try fixture.tree.makeDirectory(parent: zone, name: "Note".b, mode: 0o755).node
        try restore(fixture, "a.json", as: "a.json", in: notes)
        #expect(try fixture.names(in: notes) == ["a.json"])
    }

    @Test("a read-only mount removes and restores nothing")
    func readOnly() throws {
        let fixture = try TreeFixture()
        try fixture.trash(["a"])
        let tree = Tree(
            store: fixture.store,
            options: .init(owner: 1000, group: 1000, isReadOnly: true, clock: fixture.clock))
        var node = NodeNumber.root
        for name in [".recordfs", "trash", "private", "Box", "Note"] {
            node = try #require(
                try tree.lookup(parent: node, name: name.b, caller: TreeFixture.user)
            ).node
        }
        #expect(
            code { try tree.remove(parent: node, name: "a.json".b, caller: TreeFixture.user) }
                == .readOnly)
        #expect(
            code {
                try tree.rename(
                    parent: node, name: "a.json".b, newParent: fixture.notes,
                    newName: "a.json".b, flags: 0)
            } == .readOnly)
    }
}
