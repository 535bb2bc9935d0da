import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// ctime: when this machine last saw a change, whatever time the file has otherwise.
@Suite("Times of changes")
struct ChangeTimeTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("{\"n\": 1}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
    }

    private func changed(_ name: String) throws -> Timestamp {
        try #require(try fixture.lookup(name)).attributes.changed
    }

    /// The steps, each of which is one more change of the file of that name.
    private func expectGrowth(of name: String, by steps: [(String, () throws -> Void)]) throws {
        var last = try changed(name)
        for (step, change) in steps {
            try change()
            let now = try changed(name)
            #expect(now > last, "\(name), \(step): \(now) after \(last)")
            last = now
        }
    }

    private func setTime(_ name: String, _ seconds: Int64, handle: HandleNumber? = nil) throws {
        let node = try #require(try fixture.lookup(name)).node
        var changes = NodeChanges()
        changes.modified = .at(Timestamp(seconds: seconds))
        let shown = try fixture.tree.setAttributes(of: node, changes, handle: handle).0
        #expect(shown.modified == Timestamp(seconds: seconds))
        #expect(try shown.changed == changed(name))
    }

    private func receive(_ number: Int64) throws {
        let field = RecordField(name: FieldName("n"), value: .int64(number))
        try fixture.receive(.upsert([field], parent: nil), name: "n")
    }

    @Test(
        "each change of content, name or times is later than the last, also with a clock set back")
    func growth() throws {
        let clock = fixture.clock
        try expectGrowth(
            of: "n.json",
            by: [
                ("a save", { try self.fixture.put("{\"n\": 2}", as: "n.json") }),
                ("the same text", { try self.fixture.put("{\"n\": 2}", as: "n.json") }),
                ("touch -d", { try self.setTime("n.json", 1) }),
                ("touch -d, the same time", { try self.setTime("n.json", 1) }),
                (
                    "the clock is set back",
                    {
                        clock.set(Timestamp(seconds: 1_000_000))
                        try self.fixture.put("{\"n\": 3}", as: "n.json")
                    }
                ),
                ("touch -d then", { try self.setTime("n.json", 2) }),
                (
                    "a rename over it",
                    {
                        try self.fixture.put("{\"n\": 4}", as: "scratch")
                        try self.fixture.rename("scratch", to: "n.json")
                    }
                ),
                (
                    "another machine",
                    {
                        try self.fixture.send()
                        try self.receive(5)
                    }
                ),
                (
                    "removed and made again",
                    {
                        try self.fixture.remove("n.json")
                        try self.fixture.put("{\"n\": 6}", as: "n.json")
                    }
                ),
                (
                    "removed for good and made again",
                    {
                        clock.advance(.seconds(10))
                        try self.fixture.remove("n.json")
                        clock.advance(.seconds(10))
                        try self.fixture.maintain()
                        #expect(try self.fixture.record("n") == nil)
                        clock.set(Timestamp(seconds: 2_000_000))
                        try self.fixture.put("{\"n\": 7}", as: "n.json")
                    }
                ),
            ])
    }

    @Test("the files of large fields have times of changes of their own")
    func assets() throws {
        let text = try #require(try fixture.text("n.json"))
        let before = try changed("n@photo.jpg")
        try fixture.put(text.replacing("\"n\": 1", with: "\"n\": 2"), as: "n.json")
        #expect(try changed("n@photo.jpg") == before, "its record alone has changed")
        try expectGrowth(
            of: "n@photo.jpg",
            by: [
                ("a save", { try self.fixture.put("two", as: "n@photo.jpg") }),
                ("touch -d", { try self.setTime("n@photo.jpg", 1) }),
                ("touch -d, the same time", { try self.setTime("n@photo.jpg", 1) }),
                (
                    "a rename over it",
                    {
                        try self.fixture.put("new", as: "scratch")
                        try self.fixture.rename("scratch", to: "n@photo.jpg")
                    }
                ),
            ])
    }

    @Test("what is written shows the time of its last write, which the save keeps")
    func lastWrite() throws {
        for name in ["n.json", "n@photo.jpg"] {
            let before = try changed(name)
            let handle = try fixture.openNew(name, flags: O_RDWR)
            #expect(try changed(name) == before, "nothing was written yet")
            let text = try fixture.read(handle).replacing("\"n\": 1", with: "\"n\": 8")
            try fixture.write(text, to: handle)
            let written = try changed(name)
            #expect(written > before)
            try setTime(name, 5, handle: handle)
            let dated = try changed(name)
            #expect(dated > written)
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
            #expect(try changed(name) == dated, "\(name): the kernel keeps what it was told")
        }
    }

    @Test("directories have times of changes too, and other permissions are a change of all files")
    func directories() throws {
        func shown(_ node: NodeNumber) throws -> Timestamp {
            try fixture.tree.attributes(of: node, handle: nil).0.changed
        }
        let before = try shown(fixture.notes)
        try fixture.put("{}", as: "new.json")
        let made = try shown(fixture.notes)
        #expect(made > before)
        var changes = NodeChanges()
        changes.modified = .at(Timestamp(seconds: 1))
        _ = try fixture.tree.setAttributes(of: fixture.notes, changes, handle: nil)
        #expect(try shown(fixture.notes) > made)
        let file = try changed("n.json")
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.setPermission(.readOnly, of: zone.id)
        }
        #expect(try changed("n.json") > file)
    }

    @Test("the times of changes are those of before when the store is opened again")
    func reopened() throws {
        try setTime("n.json", 1)
        let times = try ["n.json", "n@photo.jpg"].map(changed)
        fixture.clock.advance(.seconds(100))
        try fixture.store.close()
        let store = try RecordStore.open(directory: fixture.directory)
        let box = try #require(try store.zone(.private, .me, ZoneName("Box")))
        let type = try #require(try store.type(box.id, RecordTypeName("Note")))
        let record = try #require(try store.record(type.id, Stem("n")))
        let stored =
            [record.statusChanged] + (try store.assets.assets(of: record.id).map(\.statusChanged))
        #expect(stored == times)
        try store.close()
    }
}
