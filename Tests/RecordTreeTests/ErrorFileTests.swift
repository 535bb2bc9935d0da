import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("The file .error")
struct ErrorFileTests {
    private func refuse(_ fixture: TreeFixture, _ name: String) {
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: name) }
        fixture.clock.advance(.seconds(1))
    }

    @Test("removing it says that it was read: it is back with the next refusal, the drafts stay")
    func acknowledged() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        refuse(fixture, "a.json")
        try fixture.remove(".error")
        #expect(try fixture.names() == ["a.json"])
        #expect(try fixture.lookup(".error") == nil)
        #expect(try fixture.record("a")?.hasDraft == true)
        #expect(try fixture.store.refusals().count == 1)
        let error = #expect(throws: RecordError.self) { try fixture.remove(".error") }
        #expect(error?.code == .notFound)

        _ = fixture.notices.take()
        refuse(fixture, "b.json")
        #expect(fixture.notices.take().contains(.content(fixture.notes)))
        #expect(try fixture.text(".error")?.hasPrefix("b.json") == true)
        #expect(try fixture.text(".error")?.contains("more refused") == false)
        try fixture.remove(".error")
        refuse(fixture, "a.json")
        #expect(try fixture.text(".error")?.hasPrefix("a.json") == true)
    }

    @Test("the kernel asks for it each time, also after a listing and in a zone and a database")
    func notKept() throws {
        let fixture = try TreeFixture()
        refuse(fixture, "a.json")
        let box = try #require(try fixture.find("private/Box")).node
        let database = try #require(try fixture.find("private")).node
        for (directory, name) in [(box, "my-type"), (database, "a%zz")] {
            #expect(throws: RecordError.self) {
                try fixture.tree.makeDirectory(parent: directory, name: name.b, mode: 0o755)
            }
        }
        for directory in [fixture.notes, box, database] {
            #expect(try fixture.lookup(".error", in: directory)?.isCacheable == false)
            let listed = try fixture.entries(in: directory).first { $0.name == ".error".b }
            #expect(listed?.entry.isCacheable == false)
        }
    }

    @Test("it is listed first, so that rm -r meets it before the drafts that take it along")
    func order() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"a": 1}"#, as: "a.json")
        refuse(fixture, "b.json")
        try fixture.put("notes", as: "notes.txt")
        let names = try fixture.list(fixture.notes, atOnce: 1)
        #expect(names.first == ".error" && names.count == 4)
        for name in names { try fixture.remove(name) }
        #expect(try fixture.list(fixture.notes).isEmpty)
    }

    @Test("it goes with the last record that it tells of, at once, and comes back with it")
    func removedRecord() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"a": 1}"#, as: "a.json")
        refuse(fixture, "a.json")
        let record = try #require(try fixture.record("a"))
        _ = fixture.notices.take()
        try fixture.remove("a.json")
        #expect(try fixture.names().isEmpty)
        #expect(fixture.notices.take().contains(.content(fixture.notes)))
        try fixture.store.write(author: .restore) { transaction throws(RecordError) in
            try transaction.records.cancelDelete(record.id)
        }
        #expect(fixture.notices.take().contains(.content(fixture.notes)))
        #expect(try fixture.names() == [".error", "a.json"])
    }

    @Test("it goes for assets too: one that could not be saved, one that waits for its record")
    func assets() throws {
        let fixture = try TreeFixture()
        try fixture.put("one", as: "n@photo.jpg")
        #expect(try fixture.text(".error")?.contains("n.json is still missing") == true)
        try fixture.remove(".error")
        #expect(try fixture.names() == ["n@photo.jpg"])
        try fixture.put(#"{"list": []}"#, as: "m.json")
        #expect(throws: RecordError.self) { try fixture.put("two", as: "m@list.5.txt") }
        #expect(try fixture.text(".error") != nil)
        try fixture.remove(".error")
        #expect(try fixture.lookup(".error") == nil)
    }
}
