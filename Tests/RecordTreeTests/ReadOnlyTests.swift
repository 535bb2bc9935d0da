import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Each call that would change something, where nothing may be changed: EROFS on a read-only mount,
/// EACCES in a zone that is shared for reading (MountContract, "What calls answer").
@Suite("Places that are only read")
struct ReadOnlyTests {
    enum Call: CaseIterable, Sendable {
        case write, truncate, create, createField, scratch, directory, symlink, pipe
        case rename, renameToScratch, renameScratch, fieldToScratch, exchange, exchangeFields, link
        case remove, removeField, removeScratch
        case times, fieldTimes, mode, attribute, noAttribute
    }

    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        fixture.observe()
        for name in ["n", "m"] {
            try fixture.put(#"{"n":1}"#, as: "\(name).json")
            try fixture.put("bytes of \(name)", as: "\(name)@photo.jpg")
        }
        try fixture.put("{}", as: "s")
        return fixture
    }

    private func node(_ name: String, _ fixture: TreeFixture) throws -> NodeNumber {
        try #require(try fixture.lookup(name)).node
    }

    private func perform(_ call: Call, _ fixture: TreeFixture) throws {
        let (tree, notes) = (fixture.tree, fixture.notes)
        func change(_ name: String, _ body: (inout NodeChanges) -> Void) throws {
            var changes = NodeChanges()
            body(&changes)
            _ = try tree.setAttributes(of: node(name, fixture), changes, handle: nil)
        }
        let name = "user.recordfs.state".b
        switch call {
        case .write: try fixture.put(#"{"n":2}"#, as: "n.json")
        case .truncate: try change("n.json") { $0.size = 0 }
        case .create: try fixture.put("{}", as: "new.json")
        case .createField: try fixture.put("x", as: "n@other.txt")
        case .scratch: try fixture.put("x", as: "new")
        case .directory: _ = try tree.makeDirectory(parent: notes, name: "new".b, mode: 0o755)
        case .symlink: _ = try tree.makeSymlink(parent: notes, name: "new".b, target: "t".b)
        case .pipe:
            _ = try tree.makeNode(
                parent: notes, name: "new".b, mode: UInt32(S_IFIFO), caller: TreeFixture.user)
        case .rename: try fixture.rename("n.json", to: "new.json")
        case .renameToScratch: try fixture.rename("n.json", to: "new")
        case .renameScratch: try fixture.rename("s", to: "n.json")
        case .fieldToScratch: try fixture.rename("n@photo.jpg", to: "new")
        case .exchange: try fixture.rename("n.json", to: "s", flags: 2)
        case .exchangeFields: try fixture.rename("n@photo.jpg", to: "m@photo.jpg", flags: 2)
        case .link:
            _ = try tree.link(node("s", fixture), newParent: notes, newName: "n@other.txt".b)
        case .remove: try fixture.remove("n.json")
        case .removeField: try fixture.remove("n@photo.jpg")
        case .removeScratch: try fixture.remove("s")
        case .times: try change("n.json") { $0.modified = .now }
        case .fieldTimes: try change("n@photo.jpg") { $0.modified = .now }
        case .mode: try change("n.json") { $0.mode = 0o644 }
        case .attribute:
            try tree.setAttribute(name, of: node("n.json", fixture), to: "retry".b, flags: 0)
        case .noAttribute: try tree.removeAttribute(name, of: node("n.json", fixture))
        }
    }

    private func shown(_ fixture: TreeFixture) throws -> [String] {
        try fixture.names().map { "\($0): \(try fixture.text($0) ?? "-")" }
    }

    @Test("a read-only mount answers EROFS and shows the same after it", arguments: Call.allCases)
    func mount(call: Call) throws {
        let fixture = try fixture()
        try fixture.remount(isReadOnly: true)
        let before = try shown(fixture)
        #expect(try code { try perform(call, fixture) } == .readOnly)
        #expect(try shown(fixture) == before && before.count == 5)
    }

    @Test("a zone that is shared for reading answers EACCES", arguments: Call.allCases)
    func zone(call: Call) throws {
        let fixture = try fixture()
        let zone = try fixture.box.id
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: zone)
        }
        let before = try shown(fixture)
        #expect(try code { try perform(call, fixture) } == .accessDenied)
        #expect(try shown(fixture) == before && before.count == 5)
    }

    @Test("access says before what writing would answer, and modes show it")
    func access() throws {
        let fixture = try fixture()
        let names = ["n.json", "n@photo.jpg"]
        func answers() throws -> [RecordError.Code?] {
            try names.map { name in
                try code { try fixture.tree.checkAccess(node(name, fixture), mask: W_OK) }
            }
        }
        #expect(try answers() == [nil, nil])
        let zone = try fixture.box.id
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: zone)
        }
        #expect(try answers() == [.accessDenied, .accessDenied])
        for name in names { #expect(try fixture.lookup(name)?.attributes.mode == 0o100444) }
        try fixture.remount(isReadOnly: true)
        #expect(try answers() == [.readOnly, .readOnly])
    }

    @Test("a zone or type of which something may only be read is not renamed, also not by a copy")
    func mayNotGo() throws {
        let fixture = try fixture()
        let zone = try fixture.box.id
        let rows = [("private", "Box"), ("private/Box", "Note")]
        func answers() throws -> [RecordError.Code?] {
            try rows.map { parent, name in
                let node = try #require(try fixture.find(parent)).node
                return try code {
                    try fixture.tree.rename(
                        parent: node, name: name.b, newParent: node, newName: "New".b, flags: 0)
                }
            }
        }
        #expect(try answers() == [.crossDevice, .crossDevice])
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: zone)
        }
        #expect(try answers() == [.accessDenied, .accessDenied])
    }
}
