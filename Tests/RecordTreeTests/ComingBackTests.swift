import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("Files that are written while their record waits for its deletion")
struct ComingBackTests {
    /// How the record's name becomes free.
    enum Removal: String, CaseIterable, Sendable {
        case unlink, toRecord, toBackup
    }

    /// How a file comes under a name.
    enum Saving: String, CaseIterable, Sendable {
        case write, rename
    }

    private func remove(_ removal: Removal, in fixture: TreeFixture) throws {
        switch removal {
        case .unlink: try fixture.remove("d.json")
        case .toRecord: try fixture.rename("d.json", to: "dd.json")
        case .toBackup: try fixture.rename("d.json", to: "d.json~")
        }
    }

    private func save(_ text: String, as name: String, by saving: Saving, in fixture: TreeFixture)
        throws
    {
        switch saving {
        case .write: try fixture.put(text, as: name)
        case .rename:
            try fixture.put(text, as: "tmp")
            try fixture.rename("tmp", to: name)
        }
    }

    private func names(_ fixture: TreeFixture) throws -> [String] {
        try fixture.names().filter { !["dd.json", "dd@b.bin", "d.json~"].contains($0) }
    }

    private func expectBoth(_ fixture: TreeFixture, _ bytes: String = "x") throws {
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(try names(fixture) == ["d.json", "d@b.bin"])
        let text = try #require(try fixture.text("d.json"))
        #expect(text.contains(#""f":"2""#) && text.contains("d@b.bin"), "\(text)")
        #expect(try fixture.text("d@b.bin") == bytes)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test(
        "a file and its record that come after a removal are both there",
        arguments: Removal.allCases, Saving.allCases)
    func newFile(_ removal: Removal, _ saving: Saving) throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try remove(removal, in: fixture)
        try save("x", as: "d@b.bin", by: saving, in: fixture)
        #expect(try names(fixture) == [".error", "d@b.bin"])
        try save(#"{"f":"2"}"#, as: "d.json", by: saving, in: fixture)
        try expectBoth(fixture)
    }

    @Test(
        "so are a file and its record that had both been there",
        arguments: Removal.allCases, Saving.allCases)
    func sameFile(_ removal: Removal, _ saving: Saving) throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.put("old", as: "d@b.bin")
        try remove(removal, in: fixture)
        try save("x", as: "d@b.bin", by: saving, in: fixture)
        #expect(try fixture.lookup("d.json") == nil)
        #expect(try names(fixture) == [".error", "d@b.bin"])
        try save(#"{"f":"2"}"#, as: "d.json", by: saving, in: fixture)
        try expectBoth(fixture)
    }

    @Test("all that a removal took comes back when it is written anew, the files first")
    func removedAll() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.put("old", as: "d@b.bin")
        try fixture.remove("d.json")
        try fixture.remove("d@b.bin")
        try fixture.put("x", as: "d@b.bin")
        try fixture.put(#"{"f":"2"}"#, as: "d.json")
        try expectBoth(fixture)
    }

    @Test("a record that does not come back is deleted, whatever is written beside its name")
    func stayingAway() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.put("old", as: "d@c.bin")
        try fixture.remove("d.json")
        try fixture.put("x", as: "d@b.bin")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(try names(fixture) == [".error", "d@b.bin"])
        #expect(try fixture.history.last?.kind == .deleted)
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
        let trashed = try fixture.store.past.trash(in: zone.id)
        #expect(trashed.map(\.stem) == [Stem("d")])
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("two files that were open when their record was removed wait for the next one")
    func openFiles() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.put("old", as: "d@b.bin")
        let handles = try ["d@b.bin", "d@c.bin"].map {
            try fixture.openNew($0, flags: O_WRONLY | O_TRUNC)
        }
        try fixture.remove("d.json")
        for handle in handles {
            try fixture.write("x", to: handle)
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
        }
        #expect(try names(fixture) == [".error", "d@b.bin", "d@c.bin"])
        try fixture.put(#"{"f":"2"}"#, as: "d.json")
        #expect(try names(fixture) == ["d.json", "d@b.bin", "d@c.bin"])
        #expect(try fixture.text("d@b.bin") == "x")
        #expect(try fixture.text("d@c.bin") == "x")
    }

    @Test("a record that is being written anew takes up what comes meanwhile")
    func openRecord() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.remove("d.json")
        let handle = try fixture.openNew("d.json", flags: O_WRONLY | O_TRUNC)
        try fixture.put("x", as: "d@b.bin")
        try fixture.write(#"{"f":"2"}"#, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try expectBoth(fixture)
    }

    @Test(
        "a file of a removed record that takes another name does not bring the record back",
        arguments: ["tmp", "e@b.bin"])
    func movedAway(_ name: String) throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.put("old", as: "d@b.bin")
        try fixture.put(#"{"f":"1"}"#, as: "e.json")
        try fixture.remove("d.json")
        try fixture.rename("d@b.bin", to: name)
        #expect(try fixture.names() == ["e.json", name].sorted())
        #expect(try fixture.lookup("d@b.bin") == nil)
        #expect(try fixture.text(name) == "old")
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
        #expect(try fixture.names() == ["e.json", name].sorted())
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("a file of a record that another machine deletes while it is written waits for the next")
    func deletedElsewhere() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "d.json")
        try fixture.send()
        let handle = try fixture.openNew("d@b.bin", flags: O_WRONLY | O_TRUNC)
        try fixture.receive(.delete, name: "d")
        try fixture.write("x", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.names() == [".error", "d@b.bin"])
        #expect(try fixture.text("d@b.bin") == "x")
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("a record that comes from elsewhere shows its file, and has the files that wait here")
    func fromElsewhere() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("x", as: "n@blob.bin")
        try fixture.receive(
            .upsert([RecordField(name: FieldName("a"), value: .int64(1))], parent: nil), name: "n")
        #expect(try fixture.names() == ["n.json", "n@blob.bin"])
        #expect(try fixture.lookup(".error") == nil)
        let text = try #require(try fixture.text("n.json"))
        #expect(text.contains(#""a": 1"#) && text.contains("n@blob.bin"), "\(text)")
        #expect(try fixture.text("n@blob.bin") == "x")
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("so does one that was edited elsewhere while it was deleted here")
    func editedElsewhere() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"f":"1"}"#, as: "n.json")
        try fixture.send()
        try fixture.remove("n.json")
        try fixture.put("x", as: "n@blob.bin")
        try fixture.receive(
            .upsert([RecordField(name: FieldName("a"), value: .int64(1))], parent: nil), name: "n")
        #expect(try fixture.names() == ["n.json", "n@blob.bin"])
        let text = try #require(try fixture.text("n.json"))
        #expect(text.contains(#""a": 1"#) && text.contains("n@blob.bin"), "\(text)")
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }
}
