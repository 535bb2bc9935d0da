import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("Removals of records")
struct RemovalTests {
    @Test("a removal asks the store nothing but in its own transaction, and nothing after it")
    func reads() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"a": 1}"#, as: "n.json")
        try fixture.put(#"{"a": 2}"#, as: "m.json")
        try fixture.remove("n.json")
        #expect(try fixture.reads { try fixture.remove("m.json") } == 0)
        #expect(try fixture.names().isEmpty)
    }

    @Test("a name that shows nothing cannot be removed: none, removed, only awaited by an asset")
    func absent() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"a": 1}"#, as: "gone.json")
        try fixture.remove("gone.json")
        try fixture.put("bytes", as: "later@photo.jpg")
        for name in ["never.json", "gone.json", "later.json"] {
            let error = #expect(throws: RecordError.self, "\(name)") { try fixture.remove(name) }
            #expect(error?.code == .notFound, "\(name)")
        }
        #expect(try fixture.names() == [".error", "later@photo.jpg"])
    }

    @Test("with a record goes its draft: what waits, and comes back, is what was saved")
    func draft() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"a": 1}"#, as: "n.json")
        let saved = try #require(try fixture.record("n"))
        fixture.clock.advance(.seconds(60))
        #expect(throws: RecordError.self) { try fixture.put("{bad", as: "n.json") }
        #expect(try fixture.record("n")?.hasDraft == true)
        try fixture.remove("n.json")
        try fixture.store.write(author: .restore) { transaction throws(RecordError) in
            try transaction.records.cancelDelete(saved.id)
        }
        let back = try #require(try fixture.record("n"))
        #expect(!back.hasDraft && back.size == saved.size && back.modified == saved.modified)
        #expect(try fixture.text("n.json") == #"{"a": 1}"#)
    }
}
