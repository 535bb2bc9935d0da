import RecordModel
import RecordStore
import RecordTree
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// The things that may be made where, call by call: the errno of each name in each directory (MountContract,
/// "Layout", "Scratch" and "What calls answer").
@Suite("Names that are made")
struct NameTableTests {
    enum Call: CaseIterable, Sendable {
        case file, directory, symlink, pipe, link, rename
    }

    struct Row: Sendable, CustomStringConvertible {
        let directory: String
        let name: String
        /// The errno of each call of `Call.allCases`; 0 where it makes the name.
        let answers: [Int32]

        init(_ directory: String, _ name: String, _ answers: Int32...) {
            (self.directory, self.name) = (directory, name)
            self.answers = answers
        }
        var description: String { "\(directory)/\(name)" }
    }

    private static let note = "private/Box/Note"
    /// In the order file, directory, symlink, pipe, link, rename.
    private static let rows = [
        Row(note, "new.json", 0, EPERM, EPERM, EPERM, EPERM, 0),
        Row(note, "n@photo.jpg", 0, EPERM, EPERM, EPERM, 0, 0),
        Row(note, "n@photo.jpg.part", 0, 0, 0, 0, 0, 0),
        Row(note, ".new.json", 0, 0, 0, 0, 0, 0),
        Row(note, "#new.json#", 0, 0, 0, 0, 0, 0),
        Row(note, "%41.json", EINVAL, EPERM, EPERM, EPERM, EPERM, EINVAL),
        Row(note, "_new.json", 0, EPERM, EPERM, EPERM, EPERM, EINVAL),
        Row(note, ".error", EPERM, EPERM, EPERM, EPERM, EPERM, EXDEV),
        Row(note, ".new.share.json", 0, EPERM, EPERM, EPERM, EPERM, EPROTO),
        Row(
            note, String(repeating: "n", count: 256),
            ENAMETOOLONG, ENAMETOOLONG, ENAMETOOLONG, ENAMETOOLONG, ENAMETOOLONG, ENAMETOOLONG),
        Row(note + "/dir", "new.json", 0, 0, 0, 0, 0, 0),
        Row(note + "/dir", "n@photo.jpg", 0, 0, 0, 0, 0, 0),
        Row("private/Box", "Task", EPERM, 0, EPERM, EPERM, EPERM, EXDEV),
        Row("private/Box", "new.json", EPERM, EINVAL, EPERM, EPERM, EPERM, EXDEV),
        Row("private/Box", "1st", EPERM, EINVAL, EPERM, EPERM, EPERM, EXDEV),
        Row("private/Box", ".new", 0, 0, 0, 0, 0, 0),
        Row("private", "Crate", EPERM, 0, EPERM, EPERM, EPERM, EXDEV),
        Row("private", "a%01", EPERM, EINVAL, EPERM, EPERM, EPERM, EXDEV),
        Row("private", "a%zz", EPERM, EINVAL, EPERM, EPERM, EPERM, EXDEV),
        Row("private", ".new", 0, 0, 0, 0, 0, 0),
        Row("shared", "olga", EPERM, EPERM, EPERM, EPERM, EPERM, EXDEV),
        Row("", "new", EPERM, EPERM, EPERM, EPERM, EPERM, EXDEV),
        Row("", ".Trash-1000", 0, 0, 0, 0, 0, 0),
        Row("", ".Trash-me", EPERM, EPERM, EPERM, EPERM, EPERM, EXDEV),
        Row(".recordfs", "new", EPERM, EPERM, EPERM, EPERM, EPERM, EPERM),
        Row(".recordfs/errors", "new", EPERM, EPERM, EPERM, EPERM, EPERM, EPERM),
    ]

    private func make(
        _ call: Call, _ row: Row, _ fixture: TreeFixture
    ) throws(RecordError) {
        let (tree, user) = (fixture.tree, TreeFixture.user)
        let name = row.name.b
        var parent = NodeNumber.root
        for part in row.directory.split(separator: "/") {
            guard let next = try tree.lookup(parent: parent, name: Array(part.utf8), caller: user)
            else { throw RecordError(.corrupt, "no \(part)") }
            parent = next.node
        }
        switch call {
        case .file:
            tree.release(
                try tree.create(
                    parent: parent, name: name, mode: 0o644, flags: O_WRONLY, caller: user
                ).1.handle)
        case .directory: _ = try tree.makeDirectory(parent: parent, name: name, mode: 0o755)
        case .symlink: _ = try tree.makeSymlink(parent: parent, name: name, target: "t".b)
        case .pipe:
            _ = try tree.makeNode(
                parent: parent, name: name, mode: UInt32(S_IFIFO) | 0o644, caller: user)
        case .link:
            guard let source = try tree.lookup(parent: fixture.notes, name: "s".b, caller: user)
            else { throw RecordError(.corrupt, "no s") }
            _ = try tree.link(source.node, newParent: parent, newName: name)
        case .rename:
            try tree.rename(
                parent: fixture.notes, name: "s".b, newParent: parent, newName: name, flags: 0,
                caller: user)
        }
    }

    @Test("each call makes the name or answers as the contract says", arguments: rows)
    func made(row: Row) throws {
        for (call, answer) in zip(Call.allCases, row.answers) {
            let fixture = try TreeFixture()
            try fixture.put(#"{"a":1}"#, as: "n.json")
            try fixture.put(#"{"s":1}"#, as: "s")
            _ = try fixture.tree.makeDirectory(parent: fixture.notes, name: "dir".b, mode: 0o755)
            var got: Int32 = 0
            do throws(RecordError) { try make(call, row, fixture) } catch {
                got = error.contractErrno
            }
            #expect(got == answer, "\(call)")
            guard answer != ENAMETOOLONG else { continue }
            let isThere = try fixture.find("\(row.directory)/\(row.name)") != nil
            let isKept = row.name.hasSuffix(".share.json") && [Call.file, .rename].contains(call)
            let isGenerated = row.name == ".error"
            #expect(isThere == (answer == 0) || isKept || isGenerated, "\(call)")
            // What was not made took nothing away.
            let isMoved = call == .rename && answer == 0
            #expect(try fixture.text("s") == (isMoved ? nil : #"{"s":1}"#), "\(call)")
        }
    }
}
