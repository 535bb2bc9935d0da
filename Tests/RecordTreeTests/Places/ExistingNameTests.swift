import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

/// Each call that takes a name away, or changes what a name shows, for each kind of thing
/// (MountContract, "What calls answer"; ControlDirectory, "Overview").
@Suite("Existing names of each kind")
struct ExistingNameTests {
    /// The errno of rm, of rmdir, and of a rename to a scratch name of a TYPE directory. Nil where
    /// the call does it.
    struct Row: Sendable, CustomTestStringConvertible {
        let path: String
        let remove, removeDirectory, rename: Int32?
        var testDescription: String { path }

        init(_ path: String, _ remove: Int32?, _ removeDirectory: Int32?, _ rename: Int32?) {
            self.path = path
            (self.remove, self.removeDirectory, self.rename) = (remove, removeDirectory, rename)
        }
    }

    private static let note = PlaceFixture.note
    static let rows = [
        Row("README.md", EPERM, ENOTDIR, EXDEV), Row("private", EISDIR, EPERM, EXDEV),
        Row(".recordfs", EISDIR, EPERM, EXDEV), Row("shared", EISDIR, EPERM, EXDEV),
        Row("shared/olga", EISDIR, EPERM, EXDEV), Row("shared/olga/Team", EISDIR, EPERM, EXDEV),
        Row("public/_defaultZone", EISDIR, EPERM, EXDEV),
        Row("private/Box", EISDIR, ENOTEMPTY, EXDEV), Row(note, EISDIR, ENOTEMPTY, EXDEV),
        Row("\(note)/n.json", nil, ENOTDIR, nil), Row("\(note)/n@photo.jpg", nil, ENOTDIR, nil),
        Row("\(note)/bad.json", nil, ENOTDIR, nil), Row("\(note)/s", nil, ENOTDIR, nil),
        Row("\(note)/dir", EISDIR, ENOTEMPTY, nil), Row("\(note)/.error", nil, ENOTDIR, EXDEV),
        Row("private/Box/.dir", EISDIR, ENOTEMPTY, nil),
        Row(".recordfs/status.json", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/events", EPERM, ENOTDIR, EPERM), Row(".recordfs/ctl", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/errors", EISDIR, EPERM, EPERM),
        Row(".recordfs/history", EISDIR, EPERM, EPERM),
        Row(".recordfs/history/private/Box/Note/n", EISDIR, EPERM, EPERM),
        Row(".recordfs/meta/\(note)/n.json", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/query/\(note)/n=1/n.json", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/export/\(note).csv", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/schema/development.ckdb", EPERM, ENOTDIR, EPERM),
        Row(".recordfs/trash/\(note)", EISDIR, ENOTEMPTY, EXDEV),
        Row(".recordfs/trash/\(note)/gone.json", nil, ENOTDIR, EXDEV),
    ]

    /// Returns the names in each directory to the path, and the text of each file in the last one.
    private func shown(_ path: String, _ places: PlaceFixture) throws -> [String] {
        var shown = try places.names(PlaceFixture.note)
        let parts = path.split(separator: "/")
        for count in 0..<parts.count {
            shown += try places.names(parts[..<count].joined(separator: "/"))
        }
        return shown
    }

    @Test("go by the call that may take them, and by no other", arguments: rows)
    func taken(row: Row) throws {
        let calls: [(String, Int32?, (PlaceFixture, NodeNumber, [UInt8]) throws -> Void)] = [
            ("rmdir", row.removeDirectory, { try $0.tree.removeDirectory(parent: $1, name: $2) }),
            (
                "mv", row.rename,
                {
                    try $0.tree.rename(
                        parent: $1, name: $2, newParent: $0.fixture.notes, newName: "t".b, flags: 0,
                        caller: TreeFixture.user)
                }
            ),
            (
                "rm", row.remove,
                { try $0.tree.remove(parent: $1, name: $2, caller: TreeFixture.user) }
            ),
        ]
        for (call, expected, body) in calls {
            let places = try PlaceFixture()
            let (parent, name) = try places.split(row.path)
            let before = try shown(row.path, places)
            let got = try places.errno { try body(places, parent, name) }
            #expect(got == expected ?? 0, "\(call)")
            if got == 0 {
                #expect(try places.fixture.lookup(row.name, in: parent) == nil, "\(call)")
                #expect(try !places.fixture.names(in: parent).contains(row.name), "\(call)")
                if call == "mv" { #expect(try places.fixture.lookup("t") != nil) }
            } else {
                #expect(try shown(row.path, places) == before, "\(call)")
                #expect(try places.fixture.find(row.path) != nil, "\(call)")
            }
        }
    }

    @Test("stay when an exchange with a file of this machine is refused", arguments: rows)
    func exchanged(row: Row) throws {
        let places = try PlaceFixture()
        let (parent, name) = try places.split(row.path)
        let before = try shown(row.path, places)
        let got = try places.errno {
            try places.tree.rename(
                parent: parent, name: name, newParent: places.fixture.notes, newName: "s".b,
                flags: 2, caller: TreeFixture.user)
        }
        let isControl = row.path.hasPrefix(".recordfs/")
        #expect(got == (isControl ? EINVAL : row.rename ?? 0))
        #expect(try shown(row.path, places) == before)
    }

    @Test("are refused with EROFS on a read-only mount, whatever they are", arguments: rows)
    func readOnly(row: Row) throws {
        let places = try PlaceFixture()
        try places.fixture.remount(isReadOnly: true)
        // A mount remembers no removed `.error`, so that it is there again.
        let (parent, name) = try places.split(row.path)
        let before = try shown(row.path, places)
        let (tree, notes) = (places.tree, places.fixture.notes)
        let answers = [
            try places.errno {
                try tree.remove(parent: parent, name: name, caller: .init(threadID: 1))
            },
            try places.errno { try tree.removeDirectory(parent: parent, name: name) },
            try places.errno {
                try tree.rename(
                    parent: parent, name: name, newParent: notes, newName: "t".b, flags: 0)
            },
        ]
        #expect(answers == [EROFS, EROFS, EROFS])
        #expect(try shown(row.path, places) == before)
    }

    // MARK: Attributes

    private func changes(_ body: (inout NodeChanges) -> Void) -> NodeChanges {
        var changes = NodeChanges()
        body(&changes)
        return changes
    }

    @Test("take the mode and owner that they have, and no other but for scratch", arguments: rows)
    func mode(row: Row) throws {
        let places = try PlaceFixture()
        let entry = try #require(try places.fixture.find(row.path))
        let isScratch = ["/s", "/dir", "/.dir"].contains { row.path.hasSuffix($0) }
        let shown = entry.attributes
        func set(_ changes: NodeChanges) throws -> Int32 {
            try places.errno {
                _ = try places.tree.setAttributes(of: entry.node, changes, handle: nil)
            }
        }
        #expect(try set(changes { $0.mode = shown.mode & 0o7777 }) == 0)
        if !isScratch {
            #expect(try set(changes { ($0.owner, $0.group) = (shown.owner, shown.group) }) == 0)
            #expect(try set(changes { $0.owner = shown.owner + 1 }) == EPERM)
            #expect(try set(changes { $0.group = shown.group + 1 }) == EPERM)
        }
        let other = shown.mode & 0o7777 ^ 0o400
        #expect(try set(changes { $0.mode = other }) == (isScratch ? 0 : EPERM))
        let after = try #require(try places.fixture.find(row.path)).attributes
        #expect(after.mode & 0o7777 == (isScratch ? other : shown.mode & 0o7777))
        #expect(after.owner == shown.owner && after.size == shown.size)
    }

    @Test("have no foreign attributes, and keep those of RecordFS as they are", arguments: rows)
    func attributes(row: Row) throws {
        let places = try PlaceFixture()
        let node = try #require(try places.fixture.find(row.path)).node
        let isScratch = ["/s", "/dir", "/.dir"].contains { row.path.hasSuffix($0) }
        let tree = places.tree
        let names = try tree.attributeNames(of: node)
        func set(_ name: String) throws -> Int32 {
            try places.errno { try tree.setAttribute(name.b, of: node, to: "v".b, flags: 0) }
        }
        #expect(try set("system.posix_acl_access") == EOPNOTSUPP)
        #expect(try set("user.x") == (isScratch ? 0 : EOPNOTSUPP))
        #expect(try set("user.recordfs.state") == 0)
        let read = try places.errno { _ = try tree.attribute("user.x".b, of: node) }
        #expect(read == (isScratch ? 0 : ENODATA))
        let removed = try places.errno { try tree.removeAttribute("user.x".b, of: node) }
        #expect(removed == (isScratch ? 0 : ENODATA))
        #expect(try places.errno { try tree.removeAttribute("user.recordfs.x".b, of: node) } == 0)
        #expect(try tree.attributeNames(of: node) == names)
        for name in names {
            #expect(name.starts(with: "user.recordfs.".b))
            _ = try tree.attribute(name, of: node)
        }
    }
}

extension ExistingNameTests.Row {
    fileprivate var name: String { path.split(separator: "/").last.map(String.init) ?? "" }
}
