import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("Saving through the tree")
struct SavingTests {
    @Test("a new file is a record after its first valid flush, byte for byte")
    func create() throws {
        let fixture = try TreeFixture()
        try fixture.put("{ \"b\": 1.0,\n\"a\" : \"x\" }\n", as: "n.json")
        #expect(try fixture.text("n.json") == "{ \"b\": 1.0,\n\"a\" : \"x\" }\n")
        #expect(try fixture.history.map(\.kind) == [.created])
        #expect(try fixture.names() == ["n.json"])
    }

    @Test("a name shows from its creation on, before anything is saved")
    func pending() throws {
        let fixture = try TreeFixture()
        let handle = try fixture.openNew("n.json")
        #expect(try fixture.names() == ["n.json"])
        #expect(try fixture.lookup("n.json")?.attributes.size == 0)
        #expect(try fixture.record("n") == nil)
        try fixture.tree.flush(handle)
        #expect(try fixture.record("n") == nil, "an empty text is a save in progress")
        fixture.tree.release(handle)
        #expect(try fixture.record("n")?.state == .draftOnly, "a release leaves a draft")
    }

    @Test("an empty truncated file leaves the record until it is closed, then a draft")
    func truncated() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_TRUNC)
        try fixture.tree.flush(handle)
        #expect(try fixture.text("n.json") == "")
        let entry = try #require(try fixture.record("n"))
        #expect(try fixture.store.savedText(of: entry.id) == "{\"a\":1}".b)
        fixture.tree.release(handle)
        #expect(try fixture.store.savedText(of: entry.id) == "{\"a\":1}".b)
        #expect(try fixture.record("n")?.hasDraft == true)
        #expect(try fixture.history.count == 1)
    }

    @Test("bad content fails the flush, stays as a draft and leaves the record")
    func draft() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let error = #expect(throws: RecordError.self) {
            try fixture.put("{\"a\":1,\n \"b\":}", as: "n.json")
        }
        #expect(error?.code == .invalidJSON)
        #expect(error?.position?.line == 2)
        #expect(try fixture.text("n.json") == "{\"a\":1,\n \"b\":}")
        let entry = try #require(try fixture.record("n"))
        #expect(try fixture.store.savedText(of: entry.id) == "{\"a\":1}".b)
        #expect(try fixture.names() == [".error", "n.json"])
        #expect(try fixture.text(".error")?.contains("line 2, column") == true)
        try fixture.put("{\"a\":2}", as: "n.json")
        #expect(try fixture.names() == ["n.json"])
        #expect(try fixture.history.count == 2)
    }

    @Test("a text that becomes valid with its last flush leaves no trace of a draft")
    func flushedInParts() throws {
        let fixture = try TreeFixture()
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_TRUNC)
        try fixture.write("{\n", to: handle)
        #expect(throws: RecordError.self) { try fixture.tree.flush(handle) }
        try fixture.write("}\n", to: handle, at: 2)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.store.drafts(in: nil).isEmpty)
        #expect(try fixture.history.map(\.kind) == [.created])
    }

    @Test("equal values make no history and keep the new layout")
    func unchanged() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1,\"b\":2}", as: "n.json")
        try fixture.put("{ \"b\": 2, \"a\": 1 }\n", as: "n.json")
        #expect(try fixture.history.count == 1)
        #expect(try fixture.text("n.json") == "{ \"b\": 2, \"a\": 1 }\n")
    }

    @Test("opened for writing and closed without a write changes nothing")
    func noWrite() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let before = try fixture.lookup("n.json")?.attributes.modified
        fixture.clock.advance(.seconds(60))
        let handle = try fixture.openNew("n.json")
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.lookup("n.json")?.attributes.modified == before)
        #expect(try fixture.history.count == 1)
    }

    @Test("append and overwriting in the middle work on the current text")
    func partialWrites() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let handle = try fixture.openNew("n.json")
        try fixture.write("7", to: handle, at: 5)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("n.json") == "{\"a\":7}")
        let append = try fixture.openNew("n.json", flags: O_WRONLY | O_APPEND)
        try fixture.write("\n", to: append)
        try fixture.tree.flush(append)
        fixture.tree.release(append)
        #expect(try fixture.text("n.json") == "{\"a\":7}\n")
    }

    @Test("utimens holds until the content changes")
    func times() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        let node = try #require(try fixture.lookup("n.json")).node
        var changes = NodeChanges()
        changes.modified = .at(Timestamp(seconds: 1_000_000))
        _ = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        #expect(try fixture.lookup("n.json")?.attributes.modified.seconds == 1_000_000)
        try fixture.put("{\"a\":2}", as: "n.json")
        #expect(try fixture.lookup("n.json")?.attributes.modified == fixture.clock.now)
    }

    @Test("what the mode says of the owner may be set as it is, not otherwise")
    func modes() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        let node = try #require(try fixture.lookup("n.json")).node
        var changes = NodeChanges()
        changes.mode = 0o644
        changes.owner = 1000
        _ = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        changes.mode = 0o755
        _ = try fixture.tree.setAttributes(of: node, changes, handle: nil)
        #expect(try #require(try fixture.lookup("n.json")).attributes.mode & 0o7777 == 0o644)
        changes.mode = 0o400
        let error = #expect(throws: RecordError.self) {
            try fixture.tree.setAttributes(of: node, changes, handle: nil)
        }
        #expect(error?.code == .notPermitted)
    }

    @Test("a file that is made by who only reads it is there after its close, empty, as on ext4")
    func madeForReading() throws {
        let fixture = try TreeFixture()
        let handle = try fixture.openNew("lock.json", flags: O_RDONLY)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("lock.json") == "")
        #expect(fixture.tree.unsavedCount == 0)
        #expect(try fixture.record("lock")?.hasDraft == true, "only this process had it")
    }
}
