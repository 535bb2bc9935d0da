import RecordModel
import RecordSQL
import RecordStore
import RecordStoreSync
import Testing

@Suite("What another session of the store, or a fault, has left")
struct ReopeningTests {
    @Test("changes that were on their way are sent again when the store is opened anew")
    func claimed() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"x": "1"}"#).id
        #expect(try fixture.claim().count == 1)
        try fixture.save("a", #"{"x": "2"}"#)
        try fixture.save("b", "{}")
        #expect(try fixture.pending() == ["a create*", "a update", "b create"])
        try fixture.reopen()
        #expect(try fixture.pending() == ["a create", "b create"])
        // It may have arrived: its deletion has to be sent.
        try fixture.delete(id)
        #expect(try fixture.pending() == ["a delete", "b create"])
    }

    @Test("one damaged text does not end the search of the others")
    func damagedText() throws {
        let fixture = try StoreFixture()
        let bad = try fixture.save("bad", #"{"x": "soup"}"#).id
        let good = try fixture.save("good", #"{"x": "soup"}"#).id
        try SQLQueue(path: fixture.directory + "/store.sqlite").write {
            connection throws(RecordError) in
            try connection.run(
                "UPDATE history SET text = x'7b' WHERE record_id = ?", [.integer(bad.rawValue)])
        }
        for _ in 0..<2 {
            #expect(
                try fixture.store.index.search(fixture.zone.id, words: "soup").map(\.id) == [good])
        }
        #expect(try !fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("a query by name finds the record name, whatever its file is called")
    func queryByName() throws {
        let fixture = try StoreFixture()
        let id = try fixture.upsert("X:Note", ["x": .string("1")]).id
        let schema = try fixture.store.schema(of: RecordTypeName("Note"))
        for (query, count) in [("name=X:Note", 1), ("name=X", 0)] {
            let expression = try QueryExpression(parsing: Array(query.utf8), schema: schema)
            let found = try fixture.store.index.query(fixture.note, expression)
            #expect(found.map(\.id) == (count == 1 ? [id] : []))
        }
    }
}
