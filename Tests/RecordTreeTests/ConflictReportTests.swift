import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// The texts of a conflict's files when a side is missing, and the end of a conflict by the calls of
/// programs (ControlDirectory, "Settling a conflict").
@Suite("Sides of conflicts")
struct ConflictReportTests {
    private let fixture: TreeFixture
    private static let path = ".recordfs/conflicts/private/Box/Note/n"

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"n":1,"m":1}"#, as: "n.json")
        try fixture.send()
    }

    private func receive(_ n: Int64, _ m: Int64 = 1) throws {
        let fields = [("n", n), ("m", m)].map {
            RecordField(name: FieldName($0.0), value: .int64($0.1))
        }
        try fixture.receive(.upsert(fields, parent: nil), name: "n")
    }

    private func files() throws -> [String] {
        guard let entry = try fixture.find(Self.path) else { return [] }
        return try fixture.names(in: entry.node)
    }

    private func content(_ name: String) throws -> String {
        try fixture.content("\(Self.path)/\(name)")
    }

    private func open(_ name: String, _ flags: Int32) throws -> HandleNumber {
        let node = try #require(try fixture.find("\(Self.path)/\(name)")).node
        return try fixture.tree.open(node, flags: flags, caller: TreeFixture.user).handle
    }

    @Test("the report has each field of both sides, which one won, and the value now")
    func report() throws {
        try fixture.put(#"{"n":2,"m":5}"#, as: "n.json")
        try receive(3, 6)
        let report = try content("report.txt")
        for field in ["n", "m"] { #expect(report.contains("\n\(field): "), "\(report)") }
        for (side, field, value) in [
            ("base", "n", 1), ("mine", "n", 2), ("theirs", "n", 3), ("mine", "m", 5),
            ("theirs", "m", 6),
        ] {
            let line = try #require(
                report.split(separator: "\n").first {
                    $0.contains("  \(side) ") && $0.contains("\"\(field)\"")
                })
            #expect(line.contains(": \(value) "), "\(line)")
        }
        let now = try JSONParser.parse(fixture.text("n.json")?.b ?? [])
        for (field, mine) in [("n", Int64(2)), ("m", 5)] {
            let winner = now[field]?.int64 == mine ? "mine" : "theirs"
            #expect(report.contains("\n\(field): \(winner) wins\n"), "\(report)")
        }
        #expect(report.contains("save merged.json"))
    }

    @Test("a side that changed one field only is in the text of both, and no conflict")
    func oneField() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(1, 9)
        #expect(try files() == [])
        #expect(try fixture.text("n.json") == #"{"n":2,"m":9}"#)
    }

    @Test("a side that deleted the record has no file, and the report says who did")
    func deletedElsewhere() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try fixture.receive(.delete, name: "n")
        let listed = try files()
        guard !listed.isEmpty else {
            // An edit that was not sent wins; where that is no conflict, the record is as edited.
            #expect(try fixture.text("n.json") == #"{"n":2,"m":1}"#)
            return
        }
        #expect(!listed.contains("theirs.json") && listed.contains("mine.json"))
        #expect(try content("report.txt").contains("deleted"))
    }

    @Test("a merge that was read in parts, changed and written by one descriptor settles once")
    func oneDescriptor() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(3)
        let handle = try open("merged.json", O_RDWR)
        let before = try fixture.read(handle)
        #expect(before == (try fixture.text("n.json")))
        // A close without a write settles nothing.
        try fixture.tree.flush(handle)
        #expect(try !files().isEmpty)
        var changes = NodeChanges()
        changes.size = 0
        let node = try #require(try fixture.find("\(Self.path)/merged.json")).node
        _ = try fixture.tree.setAttributes(of: node, changes, handle: handle)
        #expect(try fixture.read(handle) == "")
        try fixture.write(#"{"n":8,"#, to: handle)
        try fixture.write(#""m":8}"#, to: handle, at: 7)
        #expect(try fixture.read(handle, offset: 5) == #"8,"m":8}"#)
        try fixture.tree.flush(handle)
        #expect(try fixture.text("n.json") == #"{"n":8,"m":8}"#)
        #expect(try files() == [])
        let history = try fixture.history.count
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.history.count == history)
    }

    @Test("a text that is being written has its own size, end and data, as in any file")
    func beingWritten() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(3)
        let node = try #require(try fixture.find("\(Self.path)/merged.json")).node
        let handle = try open("merged.json", O_WRONLY | O_TRUNC | O_APPEND)
        defer { fixture.tree.release(handle) }
        func size() throws -> Int64 {
            try fixture.tree.attributes(of: node, handle: handle).0.size
        }
        #expect(try size() == 0)
        try fixture.write(#"{"n":"#, to: handle)
        #expect(try size() == 5)
        // The kernel may know an older size when it places what is appended.
        try fixture.write(#"8} "#, to: handle, at: 400)
        #expect(try size() == 8 && fixture.read(handle) == #"{"n":8} "#)
        #expect(try fixture.tree.seek(handle, offset: 1, whence: 3) == 1)
        #expect(try fixture.tree.seek(handle, offset: 1, whence: 4) == 8)
        var changes = NodeChanges()
        changes.size = 7
        let (cut, _) = try fixture.tree.setAttributes(of: node, changes, handle: handle)
        #expect(cut.size == 7)
        // Who asks without the descriptor sees the record as it is.
        let other = try #require(try fixture.find("\(Self.path)/merged.json"))
        #expect(try other.attributes.size == Int64(content("merged.json").utf8.count))
        try fixture.tree.flush(handle)
        #expect(try fixture.text("n.json") == #"{"n":8}"#)
    }

    @Test(
        "what changes while the merge is edited stays, and the merge has the last word on its fields"
    )
    func changedMeanwhile() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(3)
        let handle = try open("merged.json", O_RDWR)
        let shown = try fixture.read(handle)
        try fixture.put(shown.replacing(#""m":1"#, with: #""m":7"#), as: "n.json")
        let merged = shown.replacing(/"n":\s?[0-9]/, with: #""n":9"#)
        var changes = NodeChanges()
        changes.size = 0
        let node = try #require(try fixture.find("\(Self.path)/merged.json")).node
        _ = try fixture.tree.setAttributes(of: node, changes, handle: handle)
        try fixture.write(merged, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        let now = try JSONParser.parse(fixture.text("n.json")?.b ?? [])
        #expect(now["n"]?.int64 == 9 && now["m"]?.int64 == 7)
        #expect(try files() == [])
    }

    @Test(
        "files of a conflict have the sizes and modes of what they are, and no other takes a text",
        arguments: ["base.json", "mine.json", "theirs.json", "merged.json", "report.txt"])
    func attributes(name: String) throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(3)
        let entry = try #require(try fixture.find("\(Self.path)/\(name)"))
        #expect(try entry.attributes.size == Int64(content(name).utf8.count))
        let takesText = name == "merged.json"
        #expect(entry.attributes.mode & 0o777 == (takesText ? 0o644 : 0o444))
        var changes = NodeChanges()
        changes.size = 0
        let cut = try code {
            _ = try fixture.tree.setAttributes(of: entry.node, changes, handle: nil)
        }
        #expect((cut == nil) == takesText)
        let opened = try code { fixture.tree.release(try open(name, O_WRONLY)) }
        #expect(opened == (takesText ? nil : .notPermitted))
        #expect(try files().count == 5, "nothing of this settles the conflict")
        let access = try code { try fixture.tree.checkAccess(entry.node, mask: W_OK) }
        #expect(access == (takesText ? nil : .accessDenied))
    }

    @Test("a settled conflict stays settled after a crash, and one with a removed merge does too")
    func crash() throws {
        try fixture.put(#"{"n":2,"m":1}"#, as: "n.json")
        try receive(3)
        let text = try fixture.text("n.json")
        let directory = try fixture.control("conflicts/private/Box/Note/n")
        try fixture.tree.remove(
            parent: directory, name: "merged.json".b, caller: TreeFixture.user)
        let copy = try TreeFixture(after: fixture)
        #expect(try copy.text("n.json") == text)
        let parent = try copy.control("conflicts")
        #expect(try copy.names(in: parent) == [])
        // Without the memory of the removal nobody makes the merge again.
        let made = try code {
            _ = try copy.tree.create(
                parent: copy.control("conflicts/private/Box/Note/n"), name: "merged.json".b,
                mode: 0o644, flags: O_WRONLY, caller: TreeFixture.user)
        }
        #expect(made == .notPermitted)
    }
}
