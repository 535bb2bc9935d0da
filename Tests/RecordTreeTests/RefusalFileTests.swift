import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// `.error` of each kind of directory: it tells of a refusal until that is over, and of nothing else
/// (MountContract, "The file .error" and "Scratch").
@Suite("What .error tells, and how long")
struct RefusalFileTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    private func node(_ path: String) throws -> NodeNumber {
        try #require(try fixture.find(path)).node
    }

    private func makeDirectory(_ name: String, in path: String) throws {
        _ = try fixture.tree.makeDirectory(parent: node(path), name: name.b, mode: 0o755)
    }

    @Test(
        "a refused name is told of in its directory, until the next accepted one",
        arguments: [("private", "a%zz", "Good"), ("private/Box", "my-type", "Good")])
    func names(path: String, bad: String, good: String) throws {
        #expect(try code { try makeDirectory(bad, in: path) } == .invalidName)
        let reason = try fixture.content("\(path)/.error")
        #expect(reason.hasPrefix("a%25zz: ") || reason.hasPrefix("my-type: "), "\(reason)")
        #expect(reason.contains(path == "private" ? "%25" : "my_type"))
        // The next refusal takes its place.
        #expect(
            try code {
                _ = try fixture.tree.create(
                    parent: node(path), name: "x.json".b, mode: 0o644, flags: O_WRONLY,
                    caller: TreeFixture.user)
            } == .notPermitted)
        #expect(try fixture.content("\(path)/.error").hasPrefix("x.json: files belong"))
        try makeDirectory(good, in: path)
        #expect(try fixture.find("\(path)/.error") == nil)
    }

    @Test("a directory that is not removed keeps its reason, and a removed one leaves none")
    func removedZone() throws {
        try makeDirectory("Side", in: "private")
        try makeDirectory("Kept", in: "private/Side")
        #expect(try code { try makeDirectory("my-type", in: "private/Side") } == .invalidName)
        func remove() throws {
            try fixture.tree.removeDirectory(parent: node("private"), name: "Side".b)
        }
        #expect(try code(remove) == .notEmpty)
        #expect(try fixture.find("private/Side/.error") != nil)
        try fixture.tree.removeDirectory(parent: node("private/Side"), name: "Kept".b)
        try remove()
        #expect(try fixture.find("private/Side") == nil)
        try makeDirectory("Side", in: "private")
        #expect(try fixture.names(in: node("private/Side")) == [])
    }

    @Test(
        "a name under which no record can be is told of, until one can be made there",
        arguments: ["put", "rename"])
    func unmade(way: String) throws {
        // X:Note shows as X.json while Task has X.
        try fixture.save(["X"], type: "Task")
        try fixture.put(#"{"n":1}"#, as: "X.json")
        let refusal = try code { try fixture.put(#"{"n":2}"#, as: "X:Note.json") }
        #expect(refusal == .alreadyExists || refusal == .invalidName)
        #expect(try fixture.text(".error")?.hasPrefix("X:Note.json cannot be made") == true)
        #expect(try fixture.names() == [".error", "X.json"])
        // Another name's save says nothing about this one.
        try fixture.put(#"{"n":3}"#, as: "Y.json")
        #expect(try fixture.lookup(".error") != nil)
        try fixture.remove("X.json")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        _ = fixture.notices.take()
        if way == "put" {
            try fixture.put(#"{"n":4}"#, as: "X:Note.json")
        } else {
            try fixture.put(#"{"n":5}"#, as: "tmp")
            try fixture.rename("tmp", to: "X:Note.json")
        }
        #expect(try fixture.lookup(".error") == nil)
        #expect(try fixture.names() == ["X:Note.json", "Y.json"])
        #expect(fixture.notices.take().contains(.content(fixture.notes)))
    }

    @Test("a file of this machine leaves and enters no directory that may only be read")
    func readOnlyZone() throws {
        try makeDirectory("Side", in: "private")
        try makeDirectory("Note", in: "private/Side")
        let side = try node("private/Side/Note")
        try fixture.put(#"{"n":1}"#, as: "n.json")
        try fixture.put(#"{"n":2}"#, as: "s")
        let made = try fixture.tree.create(
            parent: side, name: "t".b, mode: 0o644, flags: O_WRONLY, caller: TreeFixture.user)
        try fixture.write(#"{"n":3}"#, to: made.1.handle)
        fixture.tree.release(made.1.handle)
        let zone = try fixture.box.id
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: zone)
        }
        let notes = fixture.notes
        let rows: [(NodeNumber, String, NodeNumber, String, UInt32)] = [
            (notes, "s", side, "u", 0), (notes, "s", notes, "u", 0), (side, "t", notes, "u", 0),
            (notes, "s", side, "x.json", 0), (notes, "s", side, "t", 2), (side, "t", notes, "s", 2),
            (notes, "n.json", side, "u", 0), (side, "t", notes, "n.json", 0),
            (notes, "n.json", side, "t", 2), (notes, "n.json", side, "n.json", 0),
        ]
        for (parent, name, newParent, newName, flags) in rows {
            let got = try code {
                try fixture.tree.rename(
                    parent: parent, name: name.b, newParent: newParent, newName: newName.b,
                    flags: flags, caller: TreeFixture.user)
            }
            #expect(got == .accessDenied, "\(name) to \(newName)")
        }
        #expect(try fixture.names() == ["n.json", "s"])
        #expect(try fixture.names(in: side) == ["t"])
        #expect(try fixture.text("s") == #"{"n":2}"#)
    }
}
