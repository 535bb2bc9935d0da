import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import TestSupport
import Testing

/// Open files whose zone another machine, or the end of a share, has taken away.
@Suite("Files whose directory is gone")
struct GonePlaceTests {
    private func remove(_ zone: ZoneID, _ fixture: TreeFixture) throws {
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.feed.removeZoneOfServer(zone)
        }
    }

    @Test("the kernel looks a type up again that another machine has made or removed")
    func lookedUpAgain() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        let box = try #require(try fixture.find("private/Box")).node
        let zone = try fixture.box.id
        for isMade in [true, false] {
            _ = fixture.notices.take()
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                let type = try transaction.makeType(zone, RecordTypeName("Task"))
                if !isMade { try transaction.removeType(type.id) }
            }
            let notices = fixture.notices.take()
            #expect(notices.contains(.entry(parent: box, name: "Task".b)), "\(notices)")
            #expect(notices.contains(.content(box)), "\(notices)")
        }
    }

    @Test("a save brings the directory back with the record", arguments: ["n.json", "new.json"])
    func own(name: String) throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"n":1}"#, as: "n.json")
        try fixture.send()
        let handle = try fixture.openNew(name, flags: O_RDWR | O_TRUNC)
        try fixture.write(#"{"n":2}"#, to: handle)
        try remove(fixture.box.id, fixture)
        #expect(try fixture.find("private/Box") == nil)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        let path = "private/Box/Note/\(name)"
        #expect(try fixture.content(path) == #"{"n":2}"#)
        let directory = try #require(try fixture.find("private/Box/Note")).node
        #expect(try fixture.names(in: directory) == [name])
    }

    @Test("of a share that has ended nothing is read or written any more, and nothing comes back")
    func ofOthers() throws {
        let share = try ShareFixture(in: .shared)
        let fixture = share.tree
        try share.write("local bytes", to: "Note/s")
        let names = ["Note/n.json", "Note/s"]
        let handles = try names.map { try share.open($0, O_RDWR) }
        for handle in handles { #expect(try fixture.read(handle).isEmpty == false) }
        try remove(share.zone, fixture)
        #expect(try fixture.find(share.directory) == nil)
        #expect(try code { _ = try fixture.read(handles[0]) } == .accessDenied)
        #expect(try fixture.read(handles[1]) == "")
        for handle in handles {
            #expect(try code { try fixture.write(#"{"n":2}"#, to: handle) } != nil)
            _ = try code { try fixture.tree.flush(handle) }
            fixture.tree.release(handle)
        }
        #expect(try fixture.find(share.directory) == nil)
    }

    @Test("what was written into a shared record before the share ended is told at its close")
    func written() throws {
        let share = try ShareFixture(in: .shared)
        let fixture = share.tree
        let handle = try share.open("Note/n.json", O_RDWR)
        try fixture.write(#"{"n":2}"#, to: handle)
        try remove(share.zone, fixture)
        #expect(try code { try fixture.tree.flush(handle) } != nil)
        fixture.tree.release(handle)
        #expect(try fixture.find(share.directory) == nil)
    }
}
