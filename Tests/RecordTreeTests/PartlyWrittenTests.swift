import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

/// Files that ask for something when they are closed: of a text that they could not take whole nothing is
/// done.
@Suite("Texts that came in part")
struct PartlyWrittenTests {
    /// The questions to the server.
    private final class Orders: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock(\.self) }
        func add(_ order: ServerBridge.ShareOrder) {
            guard case .save(let text) = order else { return }
            texts.withLock { $0.append(String(decoding: text, as: UTF8.self)) }
        }
    }

    private let orders = Orders()
    private let fixture: TreeFixture

    init() throws {
        let orders = orders
        fixture = try TreeFixture(
            server: ServerBridge(
                status: { nil }, run: { (_) throws(RecordError) in },
                share: { (order, _) throws(RecordError) in orders.add(order) }))
        fixture.observe()
        try fixture.put(#"{"n":1}"#, as: "n.json")
    }

    private static let names = [".share.json", "Note/.n.share.json"]

    /// The directory and the name of a path in the zone.
    private func place(_ path: String) throws -> (parent: NodeNumber, name: String) {
        let parts = path.split(separator: "/").map(String.init)
        let directory = (["private", "Box"] + parts.dropLast()).joined(separator: "/")
        return (try #require(try fixture.find(directory)).node, try #require(parts.last))
    }

    private func open(_ path: String) throws -> HandleNumber {
        let (parent, name) = try place(path)
        let flags = O_WRONLY | O_TRUNC
        if let entry = try fixture.lookup(name, in: parent) {
            return try fixture.tree.open(entry.node, flags: flags, caller: TreeFixture.user).handle
        }
        return try fixture.tree.create(
            parent: parent, name: name.b, mode: 0o644, flags: flags, caller: TreeFixture.user
        ).1.handle
    }

    /// A part of the text does not fit; then each close says so.
    private func writeInPart(_ text: String, to path: String) throws {
        let handle = try open(path)
        try fixture.write(text, to: handle)
        // No file of a disk is so large, nor any text.
        #expect(throws: RecordError.self) {
            try fixture.write("more", to: handle, at: .max - 100)
        }
        for _ in 1...2 { #expect(throws: RecordError.self) { try fixture.tree.flush(handle) } }
        fixture.tree.release(handle)
    }

    private func writeWhole(_ text: String, to path: String) throws {
        let handle = try open(path)
        defer { fixture.tree.release(handle) }
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
    }

    /// The server has told of a share.
    private func share(_ path: String) throws {
        let zone = try fixture.box.id
        let root: RecordName? = path == Self.names[0] ? nil : RecordName("n")
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.sharing.noteShare(
                Share(
                    name: RecordName("share"), root: root, permission: .readWrite,
                    text: Array(#"{"title":"Box"}"#.utf8)),
                of: zone)
        }
    }

    @Test("nothing is shared by a new file that is not whole", arguments: names)
    func newShare(path: String) throws {
        try writeInPart(#"{"title":"part"}"#, to: path)
        #expect(orders.all == [])
        try writeWhole(#"{"title":"whole"}"#, to: path)
        #expect(orders.all == [#"{"title":"whole"}"#])
    }

    @Test("a share stays as it was when its file could not be written whole", arguments: names)
    func changedShare(path: String) throws {
        try fixture.send()
        try share(path)
        let (parent, name) = try place(path)
        let before = try #require(try fixture.lookup(name, in: parent)).attributes.size
        try writeInPart(#"{"title":"part"}"#, to: path)
        #expect(orders.all == [])
        #expect(try fixture.lookup(name, in: parent)?.attributes.size == before)
        try writeWhole(#"{"title":"whole"}"#, to: path)
        #expect(orders.all == [#"{"title":"whole"}"#])
    }

    @Test("a file that is not whole becomes no share by a rename", arguments: names)
    func renamed(path: String) throws {
        let (parent, name) = try place(path)
        let handle = try fixture.tree.create(
            parent: parent, name: ".new".b, mode: 0o644, flags: O_WRONLY, caller: TreeFixture.user
        ).1.handle
        try fixture.write(#"{"title":"part"}"#, to: handle)
        #expect(throws: RecordError.self) {
            try fixture.write("more", to: handle, at: .max - 100)
        }
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(throws: RecordError.self) {
            try fixture.tree.rename(
                parent: parent, name: ".new".b, newParent: parent, newName: name.b, flags: 0,
                caller: TreeFixture.user)
        }
        #expect(orders.all == [])
    }

    @Test("a merge that is not whole settles no conflict")
    func merge() throws {
        try fixture.send()
        try fixture.put(#"{"n":2}"#, as: "n.json")
        try fixture.receive(
            .upsert([RecordField(name: FieldName("n"), value: .int64(3))], parent: nil), name: "n")
        let directory = ".recordfs/conflicts/private/Box/Note/n"
        let merged = try #require(try fixture.find(directory + "/merged.json")).node
        let stands = try fixture.text("n.json")
        let handle = try fixture.tree.open(
            merged, flags: O_WRONLY | O_TRUNC, caller: TreeFixture.user
        ).handle
        try fixture.write(#"{"n":4}"#, to: handle)
        #expect(throws: RecordError.self) {
            try fixture.write("more", to: handle, at: .max - 100)
        }
        for _ in 1...2 { #expect(throws: RecordError.self) { try fixture.tree.flush(handle) } }
        fixture.tree.release(handle)
        #expect(try fixture.text("n.json") == stands)
        #expect(try fixture.find(directory) != nil, "the conflict is settled")
    }
}
