import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// The identity of a record is its name: the save sequences of editors, call by call.
@Suite("Identity of a record")
struct IdentityTests {
    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\":1}", as: "n.json")
        return fixture
    }

    private func expectOneUpdate(_ fixture: TreeFixture, _ before: RecordEntry?) throws {
        let after = try #require(try fixture.record("n"))
        #expect(after.id == before?.id)
        #expect(after.created == before?.created)
        #expect(after.state == .saved)
        #expect(try fixture.history.map(\.kind) == [.created, .updated])
        #expect(try fixture.text("n.json") == "{\"a\":2}")
        #expect(try fixture.names() == ["n.json"])
    }

    @Test("a scratch file renamed over the record updates it")
    func renameOver() throws {
        let fixture = try fixture()
        let before = try fixture.record("n")
        try fixture.put("{\"a\":2}", as: "sedA1")
        try fixture.rename("sedA1", to: "n.json")
        try expectOneUpdate(fixture, before)
    }

    @Test("the record renamed away, created anew and its backup removed is an update")
    func vim() throws {
        let fixture = try fixture()
        let before = try fixture.record("n")
        try fixture.rename("n.json", to: "n.json~")
        #expect(try fixture.lookup("n.json") == nil)
        #expect(try fixture.text("n.json~") == "{\"a\":1}")
        try fixture.put("{\"a\":2}", as: "n.json")
        #expect(try fixture.text("n.json~") == "{\"a\":1}", "the backup is another file")
        try fixture.remove("n.json~")
        try expectOneUpdate(fixture, before)
    }

    @Test("removed and created exclusively is an update")
    func git() throws {
        let fixture = try fixture()
        let before = try fixture.record("n")
        let node = try fixture.lookup("n.json")?.node
        try fixture.remove("n.json")
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_EXCL)
        #expect(try fixture.lookup("n.json")?.node != node, "old pages must not show")
        try fixture.write("{\"a\":2}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try expectOneUpdate(fixture, before)
    }

    @Test(
        "a name whose record was renamed is free: what is made under it is another record",
        arguments: [O_WRONLY | O_TRUNC, O_WRONLY | O_EXCL], [false, true])
    func madeUnderOldName(flags: Int32, isDraft: Bool) throws {
        let fixture = try fixture()
        fixture.observe()
        let before = try #require(try fixture.record("n"))
        let node = try #require(try fixture.lookup("n.json")).node
        try fixture.rename("n.json", to: "u.json")
        if isDraft {
            #expect(throws: RecordError.self) { try fixture.put("{bad", as: "n.json") }
            try fixture.remove("n.json")
        }
        let handle = try fixture.openNew("n.json", flags: flags)
        try fixture.write("{\"b\":1}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        for _ in 0..<2 {
            #expect(try fixture.text("n.json") == "{\"b\":1}")
            #expect(try fixture.text("u.json") == "{\"a\":1}")
            #expect(try fixture.names().filter { $0 != ".error" } == ["n.json", "u.json"])
            #expect(try fixture.lookup("u.json")?.node == node)
            #expect(try fixture.lookup("n.json")?.node != node)
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
        }
        let after = try #require(try fixture.record("n"))
        #expect(after.id != before.id)
        try fixture.put("{\"b\":2}", as: "n.json")
        try fixture.put("{\"a\":2}", as: "u.json")
        #expect(try fixture.text("n.json") == "{\"b\":2}")
        #expect(try fixture.text("u.json") == "{\"a\":2}")
    }

    @Test("a file renamed onto a name whose record was renamed is another record")
    func renamedOntoOldName() throws {
        let fixture = try fixture()
        fixture.observe()
        let before = try #require(try fixture.record("n"))
        try fixture.rename("n.json", to: "u.json")
        try fixture.put("{\"b\":1}", as: "tmp")
        try fixture.rename("tmp", to: "n.json")
        #expect(try fixture.record("n")?.id != before.id)
        #expect(try fixture.text("n.json") == "{\"b\":1}")
        #expect(try fixture.text("u.json") == "{\"a\":1}")
        #expect(try fixture.names() == ["n.json", "u.json"])
    }

    @Test("vim's undo of a failed save restores the record without a version")
    func undo() throws {
        let fixture = try fixture()
        let before = try fixture.record("n")
        try fixture.rename("n.json", to: "n.json~")
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "n.json") }
        try fixture.remove("n.json")
        try fixture.rename("n.json~", to: "n.json")
        let after = try #require(try fixture.record("n"))
        #expect(after.id == before?.id)
        #expect(after.state == .saved)
        #expect(after.hasDraft == false)
        #expect(try fixture.history.count == 1)
        #expect(try fixture.text("n.json") == "{\"a\":1}")
    }

    @Test(
        "the reason of a refused save outlives the backup that vim puts back, to the next good save"
    )
    func reasonStays() throws {
        let fixture = try fixture()
        fixture.observe()
        try fixture.rename("n.json", to: "n.json~")
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "n.json") }
        try fixture.remove("n.json")
        try fixture.rename("n.json~", to: "n.json")
        let reason = try #require(try fixture.text(".error"))
        #expect(reason.contains("n.json: line 1, column 2"), "\(reason)")
        #expect(reason.contains("put the earlier text back"))
        #expect(try fixture.names() == [".error", "n.json"])
        #expect(try fixture.store.refusals().count == 1)
        try fixture.put("{\"a\":1}", as: "n.json")
        #expect(try fixture.text(".error") != nil, "nothing has changed")
        try fixture.put("{\"a\":2}", as: "n.json")
        #expect(try fixture.text(".error") == nil)
        #expect(try fixture.names() == ["n.json"])
    }

    @Test("a delete is visible at once, final after the grace time, and in the trash then")
    func delete() throws {
        let fixture = try fixture()
        try fixture.remove("n.json")
        #expect(try fixture.names() == [])
        #expect(try fixture.record("n")?.state == .waitingDelete)
        #expect(try fixture.history.count == 1)
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
        #expect(try fixture.history.map(\.kind) == [.created, .deleted])
        #expect(try fixture.record("n") == nil)
    }

    @Test("a rename with bad content is refused with a draft, and the scratch file stays")
    func refusedRename() throws {
        let fixture = try fixture()
        try fixture.put("{bad", as: "tmp")
        let error = #expect(throws: RecordError.self) { try fixture.rename("tmp", to: "n.json") }
        #expect(error?.code == .refusedRename)
        #expect(error?.position?.line == 1)
        #expect(try fixture.text("tmp") == "{bad")
        #expect(try fixture.text("n.json") == "{bad")
        let entry = try #require(try fixture.record("n"))
        #expect(try fixture.store.savedText(of: entry.id) == "{\"a\":1}".b)
        #expect(try fixture.history.count == 1)
    }

    @Test("a record renamed to another name is a new record, and the old one waits")
    func renameRecord() throws {
        let fixture = try fixture()
        try fixture.rename("n.json", to: "m.json")
        #expect(try fixture.names() == ["m.json"])
        #expect(try fixture.text("m.json") == "{\"a\":1}")
        #expect(try fixture.record("n")?.state == .waitingDelete)
    }

    @Test("RENAME_NOREPLACE refuses a taken name, RENAME_EXCHANGE swaps contents")
    func flags() throws {
        let fixture = try fixture()
        try fixture.put("{\"a\":2}", as: "m.json")
        let error = #expect(throws: RecordError.self) {
            try fixture.rename("n.json", to: "m.json", flags: 1)
        }
        #expect(error?.code == .alreadyExists)
        try fixture.rename("n.json", to: "m.json", flags: 2)
        #expect(try fixture.text("n.json") == "{\"a\":2}")
        #expect(try fixture.text("m.json") == "{\"a\":1}")
    }

    @Test("writes through a handle that was renamed onto the record go to the record")
    func handleFollowsRename() throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("tmp", flags: O_RDWR | O_EXCL)
        try fixture.write("{\"a\":2}", to: handle)
        try fixture.rename("tmp", to: "n.json")
        try fixture.write("{\"a\":3}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("n.json") == "{\"a\":3}")
    }

    @Test("what is written to an unlinked open record goes nowhere")
    func unlinkedWrites() throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("n.json", flags: O_RDWR)
        try fixture.remove("n.json")
        #expect(try fixture.read(handle) == "{\"a\":1}")
        try fixture.write("{\"a\":9}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.record("n")?.state == .waitingDelete)
        #expect(try fixture.history.count == 1)
    }

    @Test("a removed name that is made anew stays deleted in the store until its first save")
    func removedAndMadeAnew() throws {
        let fixture = try fixture()
        let before = try fixture.record("n")
        try fixture.remove("n.json")
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_EXCL)
        #expect(try fixture.record("n")?.state == .waitingDelete)
        #expect(try fixture.names() == ["n.json"])
        #expect(try fixture.text("n.json") == "")
        fixture.clock.advance(.seconds(60))
        _ = try fixture.tree.maintain()
        try fixture.tree.synchronizeDirectory(fixture.notes)
        #expect(try fixture.record("n")?.id == before?.id, "the file is open: it will be saved")
        try fixture.write("{\"a\":2}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try expectOneUpdate(fixture, before)
    }

    @Test("a removed name that was made anew and removed again is deleted after the grace time")
    func removedAgain() throws {
        let fixture = try fixture()
        try fixture.remove("n.json")
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_EXCL)
        try fixture.write("{\"a\":2}", to: handle)
        try fixture.remove("n.json")
        #expect(try fixture.names() == [])
        fixture.tree.release(handle)
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
        #expect(try fixture.history.map(\.kind) == [.created, .deleted])
        #expect(try fixture.record("n") == nil)
    }

    @Test("renaming types, zones and over their borders answers EXDEV")
    func borders() throws {
        let fixture = try fixture()
        let base = try #require(try fixture.lookup("private", in: .root))
        let zone = try #require(try fixture.lookup("Box", in: base.node))
        let error = #expect(throws: RecordError.self) {
            try fixture.tree.rename(
                parent: zone.node, name: "Note".b, newParent: zone.node, newName: "Other".b,
                flags: 0)
        }
        #expect(error?.code == .crossDevice)
    }

    @Test(
        "an answer that the kernel does not use takes nothing from the file that it has under the number",
        arguments: ["m.json", "n.json~"])
    func unusedAnswer(_ newName: String) throws {
        let fixture = try fixture()
        _ = try fixture.lookup("n.json")
        try fixture.rename("n.json", to: newName)
        let moved = try #require(try fixture.lookup(newName)).node
        #expect(try #require(try fixture.lookup(newName)).node == moved)
        fixture.tree.forget(moved, count: 1)
        fixture.tree.forget(moved, count: 1)
        #expect(try fixture.tree.attributes(of: moved, handle: nil).0.size == 7)
        #expect(try #require(try fixture.lookup(newName)).node == moved)
        // Now all of it: one lookup before the move, one after it.
        fixture.tree.forget(moved, count: 2)
        #expect(throws: RecordError.self) {
            try fixture.tree.attributes(of: moved, handle: nil)
        }
        #expect(try fixture.text(newName) == "{\"a\":1}")
    }
}
