import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

/// A create whose name has come since the kernel looked it up: an open of what is there, as on any
/// file system.
@Suite("Creates that find the name taken")
struct CreationRaceTests {
    private let fixture: TreeFixture
    private static let names = ["n.json", "n@photo.jpg", "n@long", "s"]

    init() throws {
        var limits = RecordLimits.standard
        limits.shownValueBytes = 100
        fixture = try TreeFixture(limits: limits)
        fixture.observe()
        let long = String(repeating: "long ", count: 40)
        try fixture.put(#"{"n":1,"long":"\#(long)"}"#, as: "n.json")
        try fixture.put("bytes", as: "n@photo.jpg")
        try fixture.put("text", as: "s")
    }

    private func create(_ name: String, _ flags: Int32) throws -> (NodeEntry, HandleNumber) {
        let (entry, opened) = try fixture.tree.create(
            parent: fixture.notes, name: name.b, mode: 0o644, flags: flags,
            caller: Requester(threadID: 7))
        return (entry, opened.handle)
    }

    @Test("opens what is there, whole", arguments: names)
    func whole(name: String) throws {
        let before = try #require(try fixture.text(name))
        #expect(!before.isEmpty)
        for flags in [O_RDWR, O_WRONLY, O_RDONLY, O_WRONLY | O_APPEND] {
            let (entry, handle) = try create(name, flags)
            #expect(entry.node == (try fixture.lookup(name))?.node)
            #expect(entry.attributes.size == before.utf8.count, "\(flags)")
            #expect(try fixture.read(handle) == before, "\(flags)")
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
            #expect(try fixture.text(name) == before, "\(flags)")
        }
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test(
        "opens what another program is still writing, with its bytes",
        arguments: ["m.json", "n@new.bin", "t"])
    func beingWritten(name: String) throws {
        let writer = try fixture.openNew(name)
        try fixture.write(#"{"n":5}"#, to: writer)
        let (_, handle) = try create(name, O_RDWR)
        #expect(try fixture.read(handle) == #"{"n":5}"#)
        try fixture.write(#"{"n":6}"#, to: handle)
        for handle in [writer, handle] {
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
        }
        #expect(try fixture.text(name)?.hasPrefix(#"{"n":6"#) == true)
    }

    @Test("is refused when the program wants a new file, and changes nothing", arguments: names)
    func exclusive(name: String) throws {
        let before = try fixture.text(name)
        var got: Int32 = 0
        do throws(RecordError) {
            _ = try fixture.tree.create(
                parent: fixture.notes, name: name.b, mode: 0o644, flags: O_WRONLY | O_EXCL,
                caller: TreeFixture.user)
        } catch {
            got = error.contractErrno
        }
        #expect(got == EEXIST)
        let node = try #require(try fixture.lookup(name)).node
        #expect(
            try code {
                let made = try fixture.tree.makeNode(
                    parent: fixture.notes, name: name.b, mode: UInt32(S_IFREG) | 0o644,
                    caller: TreeFixture.user)
                _ = made
            } != nil)
        #expect(try fixture.text(name) == before)
        #expect(try fixture.lookup(name)?.node == node)
    }

    @Test("empties it when the program says so", arguments: names)
    func emptied(name: String) throws {
        let (entry, handle) = try create(name, O_WRONLY | O_TRUNC)
        #expect(try fixture.read(handle) == "")
        #expect(try fixture.tree.attributes(of: entry.node, handle: handle).0.size == 0)
        let text = name == "n.json" ? #"{"n":3}"# : "new"
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        // A short value needs no file of its own.
        let shown = name == "n@long" ? "n.json" : name
        let expected = name == "n@long" ? #""long":"new""# : String(text.dropLast())
        #expect(try fixture.text(shown)?.contains(expected) == true)
    }
}
