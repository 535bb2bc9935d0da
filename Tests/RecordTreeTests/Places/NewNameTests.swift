import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Each call that makes a name, in each kind of directory, with each kind of name (MountContract,
/// "Directories" and "Scratch").
@Suite("New names in each kind of directory")
struct NewNameTests {
    enum Call: CaseIterable, Sendable { case file, directory, symlink, pipe, link, rename }

    enum Kind: Sendable { case root, database, common, shared, owner, zone, type, scratch, control }

    struct Place: Sendable, CustomTestStringConvertible {
        let path: String
        let kind: Kind
        var testDescription: String { path.isEmpty ? "/" : path }

        init(_ path: String, _ kind: Kind) { (self.path, self.kind) = (path, kind) }
    }

    static let places = [
        Place("", .root), Place("private", .database), Place("local", .database),
        Place("public", .common), Place("shared", .shared), Place("shared/olga", .owner),
        Place("private/Box", .zone), Place("public/_defaultZone", .zone),
        Place("shared/olga/Team", .zone), Place("private/Box/Note", .type),
        Place("shared/olga/Team/Note", .type), Place("private/Box/Note/dir", .scratch),
        Place("private/Box/.dir", .scratch), Place(".recordfs", .control),
        Place(".recordfs/errors", .control), Place(".recordfs/schema", .control),
        Place(".recordfs/trash/private/Box/Note", .control),
        Place(".recordfs/history/private/Box/Note", .control),
        Place(".recordfs/query/private/Box/Note/n=1", .control),
        Place(".recordfs/meta/private/Box/Note", .control),
        Place(".recordfs/conflicts", .control), Place(".recordfs/export/private/Box", .control),
    ]

    /// A record, a large field, a zone or record type, and two of this machine.
    static let names = ["x.json", "n@new.bin", "Valid1", ".hidden", ".Trash-1000"]

    private func expected(_ call: Call, _ name: String, _ kind: Kind) -> Int32 {
        let isData = name.contains("@") || name.hasSuffix(".json")
        let isHidden = name.first == "."
        switch kind {
        case .scratch: return 0
        case .type:
            guard isData else { return 0 }
            switch call {
            case .file, .rename: return 0
            case .link: return name.contains("@") ? 0 : EPERM
            case .directory, .symlink, .pipe: return EPERM
            }
        case .root where name == ".Trash-1000": return 0
        case .database where isHidden, .common where isHidden, .shared where isHidden,
            .zone where isHidden:
            return 0
        case .database where call == .directory: return name.contains("@") ? EINVAL : 0
        case .common where call == .directory: return EINVAL
        case .zone where call == .directory: return isData ? EINVAL : 0
        case .control: return EPERM
        case .root, .database, .common, .shared, .owner, .zone:
            return call == .rename ? EXDEV : EPERM
        }
    }

    private func perform(
        _ call: Call, _ name: String, in parent: NodeNumber, _ places: PlaceFixture
    ) throws {
        let (tree, fixture) = (places.tree, places.fixture)
        switch call {
        case .file:
            let made = try tree.create(
                parent: parent, name: name.b, mode: 0o644, flags: O_WRONLY | O_EXCL,
                caller: TreeFixture.user)
            defer { tree.release(made.1.handle) }
            try fixture.write(#"{"n":7}"#, to: made.1.handle)
            try tree.flush(made.1.handle)
        case .directory: _ = try tree.makeDirectory(parent: parent, name: name.b, mode: 0o755)
        case .symlink:
            _ = try tree.makeSymlink(parent: parent, name: name.b, target: "target".b)
        case .pipe:
            _ = try tree.makeNode(
                parent: parent, name: name.b, mode: UInt32(S_IFIFO) | 0o644,
                caller: TreeFixture.user)
        case .link:
            let source = try #require(try fixture.lookup("s")).node
            _ = try tree.link(source, newParent: parent, newName: name.b)
        case .rename:
            try tree.rename(
                parent: fixture.notes, name: "s".b, newParent: parent, newName: name.b, flags: 0,
                caller: TreeFixture.user)
        }
    }

    private func mode(_ call: Call) -> UInt32 {
        switch call {
        case .file, .link, .rename: UInt32(S_IFREG)
        case .directory: UInt32(S_IFDIR)
        case .symlink: UInt32(S_IFLNK)
        case .pipe: UInt32(S_IFIFO)
        }
    }

    @Test(
        "are made and listed where they mean something, and else change nothing", arguments: places)
    func made(place: Place) throws {
        let places = try PlaceFixture()
        for call in Call.allCases {
            for name in Self.names {
                try places.fillScratch()
                let words = "\(call) \(place.path)/\(name)"
                let parent = try places.node(place.path)
                let before = try places.names(place.path)
                let sources = try places.names(PlaceFixture.note)
                let got = try places.errno { try perform(call, name, in: parent, places) }
                #expect(got == expected(call, name, place.kind), "\(words)")
                guard got == 0 else {
                    #expect(try places.names(place.path) == before, "\(words)")
                    #expect(try places.names(PlaceFixture.note) == sources, "\(words)")
                    #expect(try places.fixture.lookup(name, in: parent) == nil, "\(words)")
                    continue
                }
                try checkMade(call, name, place, before, places)
            }
        }
        #expect(try places.fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    /// The new name is listed once, is found as what it was made, and goes again.
    private func checkMade(
        _ call: Call, _ name: String, _ place: Place, _ before: [String], _ places: PlaceFixture
    ) throws {
        let (tree, fixture) = (places.tree, places.fixture)
        let parent = try places.node(place.path)
        var expected = before + [name]
        if call == .rename, place.path == PlaceFixture.note { expected.removeAll { $0 == "s" } }
        let words = "\(call) \(place.path)/\(name)"
        #expect(try places.names(place.path) == expected.sorted(), "\(words)")
        let entry = try #require(try fixture.lookup(name, in: parent), "\(words)")
        #expect(entry.attributes.mode & UInt32(S_IFMT) == mode(call), "\(words)")
        let listed = try fixture.entries(in: parent).first { $0.name == name.b }
        #expect(listed?.entry.node == entry.node, "\(words)")
        let isLinked = call == .link && !name.contains("@")
        #expect(entry.attributes.links >= (isLinked ? 2 : 1), "\(words)")
        if call == .directory {
            try tree.removeDirectory(parent: parent, name: name.b)
        } else {
            try tree.remove(parent: parent, name: name.b, caller: TreeFixture.user)
        }
        expected.removeAll { $0 == name }
        #expect(try places.names(place.path) == expected.sorted(), "\(words) removed")
        // A removed record is gone for good, so that the next one of the name is a new one.
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
    }

    @Test("are refused with EROFS in each directory of a read-only mount", arguments: places)
    func readOnly(place: Place) throws {
        let places = try PlaceFixture()
        try places.fixture.remount(isReadOnly: true)
        let before = try places.names(place.path)
        for call in Call.allCases {
            for name in Self.names {
                let parent = try places.node(place.path)
                let got = try places.errno { try perform(call, name, in: parent, places) }
                #expect(got == EROFS, "\(call) \(name)")
            }
        }
        #expect(try places.names(place.path) == before)
    }

    @Test("over 255 bytes are refused with ENAMETOOLONG in each directory", arguments: places)
    func tooLong(place: Place) throws {
        let places = try PlaceFixture()
        let name = String(repeating: "n", count: 256)
        let parent = try places.node(place.path)
        for call in Call.allCases {
            let got = try places.errno { try perform(call, name, in: parent, places) }
            #expect(got == ENAMETOOLONG, "\(call)")
        }
        #expect(
            try places.errno { _ = try places.fixture.lookup(name, in: parent) } == ENAMETOOLONG)
    }
}
