import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A tree with a directory of each kind, and in each what can be in it.
final class PlaceFixture {
    let fixture: TreeFixture
    var tree: Tree { fixture.tree }

    static let note = "private/Box/Note"

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.shared, OwnerName("olga"), ZoneName("Team"))
            let type = try transaction.makeType(zone.id, RecordTypeName("Note")).id
            _ = try transaction.records.save(
                text: Array(#"{"n":1}"#.utf8), type: type, stem: Stem("n"))
            let common = try transaction.makeZone(.public, .me, .publicZone)
            _ = try transaction.makeType(common.id, RecordTypeName("Note"))
        }
        try fixture.put(#"{"n":1}"#, as: "n.json")
        try fixture.put("bytes", as: "n@photo.jpg")
        try fixture.put(#"{"n":2}"#, as: "gone.json")
        try fixture.remove("gone.json")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(throws: RecordError.self) { try fixture.put("{", as: "bad.json") }
        let hidden = try directory("private/Box", ".dir")
        for parent in [try directory(Self.note, "dir"), hidden] { try file("f", in: parent) }
        try fillScratch()
    }

    @discardableResult
    private func directory(_ parent: String, _ name: String) throws -> NodeNumber {
        try tree.makeDirectory(parent: node(parent), name: name.b, mode: 0o755).node
    }

    private func file(_ name: String, in parent: NodeNumber) throws {
        let made = try tree.create(
            parent: parent, name: name.b, mode: 0o644, flags: O_WRONLY, caller: TreeFixture.user)
        try fixture.write("text", to: made.1.handle)
        tree.release(made.1.handle)
    }

    /// Makes the scratch file `s`, whose text is a record, unless it is there.
    func fillScratch() throws {
        if try fixture.lookup("s") == nil { try fixture.put(#"{"n":5}"#, as: "s") }
    }

    /// The node of a directory below the mount point.
    func node(_ path: String) throws -> NodeNumber {
        path.isEmpty ? .root : try #require(try fixture.find(path), "\(path) is not there").node
    }

    /// Lists a directory, without the reasons of refused names.
    func names(_ path: String) throws -> [String] {
        try fixture.names(in: node(path)).filter { $0 != ".error" }
    }

    func errno(_ body: () throws -> Void) throws -> Int32 {
        do { try body() } catch let error as RecordError { return error.contractErrno }
        return 0
    }

    /// Splits a path below the mount point.
    func split(_ path: String) throws -> (parent: NodeNumber, name: [UInt8]) {
        let parts = path.split(separator: "/")
        let name = Array(try #require(parts.last).utf8)
        return (try node(parts.dropLast().joined(separator: "/")), name)
    }
}
