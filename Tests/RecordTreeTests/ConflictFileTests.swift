import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// `.recordfs/conflicts` as programs use it (ControlDirectory, "Settling a conflict").
@Suite("Files of conflicts")
struct ConflictFileTests {
    private static let path = ".recordfs/conflicts/private/Box/Note/n"
    private let fixture: TreeFixture

    /// Both sides have changed the field n.
    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"n":1,"m":1}"#, as: "n.json")
        try fixture.send()
        try conflict(mine: 2, theirs: 3)
    }

    private func conflict(mine: Int, theirs: Int64) throws {
        try fixture.put(#"{"n":\#(mine),"m":1}"#, as: "n.json")
        try receive(theirs)
    }

    private func receive(_ theirs: Int64) throws {
        let fields = [("n", theirs), ("m", 1)].map {
            RecordField(name: FieldName($0.0), value: .int64($0.1))
        }
        try fixture.receive(.upsert(fields, parent: nil), name: "n")
    }

    private var files: [String] {
        get throws {
            guard let entry = try fixture.find(Self.path) else { return [] }
            return try fixture.names(in: entry.node)
        }
    }

    private func remove(_ name: String) throws {
        try fixture.tree.remove(
            parent: fixture.control("conflicts/private/Box/Note/n"), name: name.b,
            caller: TreeFixture.user)
    }

    /// Writes as `cat > merged.json` does.
    private func merge(_ text: String) throws {
        let flags = O_WRONLY | O_TRUNC
        let handle: HandleNumber
        if let entry = try fixture.find(Self.path + "/merged.json") {
            handle = try fixture.tree.open(entry.node, flags: flags, caller: TreeFixture.user)
                .handle
        } else {
            handle = try fixture.tree.create(
                parent: fixture.control("conflicts/private/Box/Note/n"), name: "merged.json".b,
                mode: 0o644, flags: flags, caller: TreeFixture.user
            ).1.handle
        }
        defer { fixture.tree.release(handle) }
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
    }

    @Test("show the base, both sides, the record as it is, and a report of both values")
    func shown() throws {
        #expect(
            try files == ["base.json", "merged.json", "mine.json", "report.txt", "theirs.json"])
        #expect(try fixture.content(Self.path + "/base.json") == #"{"n":1,"m":1}"#)
        #expect(try fixture.content(Self.path + "/mine.json") == #"{"n":2,"m":1}"#)
        #expect(try fixture.content(Self.path + "/theirs.json").contains("3"))
        #expect(
            try fixture.content(Self.path + "/merged.json") == fixture.text("n.json"))
        let report = try fixture.content(Self.path + "/report.txt")
        #expect(report.contains("2") && report.contains("3"), "\(report)")
    }

    @Test(
        "rm of any of them keeps the record and settles the conflict",
        arguments: ["base.json", "mine.json", "theirs.json", "merged.json", "report.txt"])
    func removed(name: String) throws {
        let text = try fixture.text("n.json")
        try remove(name)
        #expect(try files == [])
        #expect(try fixture.text("n.json") == text)
        let parent = try fixture.control("conflicts/private/Box/Note")
        #expect(try fixture.names(in: parent) == [])
        // `rm -r` goes on with what it has listed, and ends with the directories.
        for other in ["base.json", "theirs.json"] where other != name { try remove(other) }
        try fixture.tree.removeDirectory(parent: parent, name: "n".b)
        try fixture.tree.removeDirectory(
            parent: fixture.control("conflicts/private/Box"), name: "Note".b)
        try fixture.tree.removeDirectory(
            parent: fixture.control("conflicts/private"), name: "Box".b)
    }

    @Test("a directory with an open conflict is not removed, and no other of .recordfs ever")
    func directories() throws {
        let rows: [(String, String, RecordError.Code)] = [
            ("conflicts/private/Box/Note", "n", .notEmpty),
            ("conflicts/private/Box", "Note", .notEmpty), ("conflicts/private", "Box", .notEmpty),
            ("conflicts", "private", .notEmpty), ("", "conflicts", .notPermitted),
            ("history/private/Box", "Note", .notPermitted), ("", "ctl", .notDirectory),
            ("trash/private", "None", .notFound),
        ]
        for (parent, name, expected) in rows {
            let node = try fixture.control(parent)
            let got = try code {
                try fixture.tree.removeDirectory(parent: node, name: name.b)
            }
            #expect(got == expected, "\(parent)/\(name)")
        }
    }

    @Test("saving merged.json saves the record and settles the conflict")
    func merged() throws {
        try merge(#"{"n":4}"#)
        #expect(try fixture.text("n.json") == #"{"n":4}"#)
        #expect(try files == [])
    }

    @Test("a merge that is no record is refused and a draft, and a good one settles after all")
    func refused() throws {
        #expect(try code { try merge("{") } == .invalidJSON)
        #expect(try fixture.text("n.json") == "{")
        #expect(try !files.isEmpty)
        try merge(#"{"n":5}"#)
        #expect(try fixture.text("n.json") == #"{"n":5}"#)
        #expect(try files == [])
        #expect(try !fixture.names().contains(".error"))
    }

    @Test("merged.json can be removed and made again, as mv does, and settles with its content")
    func madeAgain() throws {
        try remove("merged.json")
        #expect(try fixture.find(Self.path + "/merged.json") == nil)
        try merge(#"{"n":6}"#)
        #expect(try fixture.text("n.json") == #"{"n":6}"#)
        #expect(try files == [])
    }

    @Test("a file is not moved onto merged.json, nor out of a conflict: mv copies")
    func moved() throws {
        try fixture.put("{}", as: "s")
        let conflict = try fixture.control("conflicts/private/Box/Note/n")
        func move(_ from: (NodeNumber, String), _ to: (NodeNumber, String), _ flags: UInt32 = 0)
            throws -> RecordError.Code?
        {
            try code {
                try fixture.tree.rename(
                    parent: from.0, name: from.1.b, newParent: to.0, newName: to.1.b, flags: flags)
            }
        }
        #expect(try move((fixture.notes, "s"), (conflict, "merged.json")) == .crossDevice)
        #expect(try move((fixture.notes, "s"), (conflict, "mine.json")) == .notPermitted)
        #expect(try move((conflict, "mine.json"), (fixture.notes, "x.json")) == .notPermitted)
        #expect(try move((conflict, "mine.json"), (fixture.notes, "s"), 2) == .invalidArgument)
        #expect(try move((conflict, "none"), (fixture.notes, "s")) == .notFound)
        #expect(try fixture.text("s") == "{}")
    }

    @Test("where the record was removed there is no merge, and writing one says why")
    func gone() throws {
        try fixture.remove("n.json")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(try files.contains("mine.json") && !files.contains("merged.json"))
        #expect(try code { try merge("{}") } == .notPermitted)
        #expect(try fixture.lookup("n.json") == nil)
    }

    @Test("the newest of several has the plain name, the others a number that leads to them")
    func several() throws {
        try fixture.send()
        try conflict(mine: 7, theirs: 8)
        let parent = try fixture.control("conflicts/private/Box/Note")
        let names = try fixture.names(in: parent)
        #expect(names.count == 2 && names[0] == "n" && names[1].hasPrefix("n@"))
        #expect(try fixture.content(Self.path + "/mine.json").contains("7"))
        let older = ".recordfs/conflicts/private/Box/Note/\(names[1])/mine.json"
        #expect(try fixture.content(older) == #"{"n":2,"m":1}"#)
        #expect(try fixture.find(".recordfs/conflicts/private/Box/Note/m@1") == nil)
    }
}
