import RecordModel
import RecordSQL
import RecordStore
import Synchronization
import TestSupport
import Testing

/// What is asked for each change may not go over all records of a type.
@Suite struct QueryPlanTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// The plans of what `body` reads.
    private func plans(_ body: (RecordStore) throws -> Void) throws -> [String] {
        let asked = Mutex<[String]>([])
        fixture.store.traceReads { sql in asked.withLock { $0.append(sql) } }
        try body(fixture.store)
        fixture.store.traceReads(nil)
        let queue = try SQLQueue(path: fixture.directory + "/store.sqlite")
        defer { queue.close() }
        return try asked.withLock(\.self).filter { $0.contains("SELECT") }.flatMap { sql in
            try queue.read { connection throws(RecordError) in
                let bound = sql.replacing("?1", with: "1").replacing("?2", with: "1")
                    .replacing("?", with: "1")
                return try connection.all("EXPLAIN QUERY PLAN \(bound)") { $0.string(3) }
            }
        }
    }

    @Test("drafts and refusals of a type are found from the few that there are")
    func drafts() throws {
        try fixture.save("a", #"{"n":1}"#)
        let type = fixture.note
        let plans = try plans { store in
            _ = try store.drafts(in: type)
            _ = try store.refusals(in: type)
            _ = try store.drafts()
            _ = try store.refusals()
        }
        #expect(
            plans.contains { $0.hasPrefix("SCAN f") } && plans.contains { $0.hasPrefix("SCAN d") })
        let records = plans.filter { $0.contains(" r ") || $0.hasSuffix(" r") }
        #expect(!records.isEmpty)
        #expect(records.allSatisfy { $0.contains("INTEGER PRIMARY KEY") }, "\(records)")
    }

    @Test("what is pinned and missing is found without a look at all large fields")
    func pins() throws {
        let plans = try plans { store in _ = try store.assets.missingPinnedAssets(limit: 2) }
        let assets = plans.filter { $0.contains(" a ") || $0.hasSuffix(" a") }
        #expect(assets.count == 2, "\(plans)")
        #expect(assets.allSatisfy { $0.hasPrefix("SEARCH a USING INDEX") }, "\(assets)")
    }

    /// Many words and values, of which an index was made.
    private func fill() throws -> QueryExpression {
        try fixture.write { transaction throws(RecordModel.RecordError) in
            for number in 0..<6000 {
                _ = try transaction.records.save(
                    text: Array(#"{"user":"u\#(number % 100)","body":"of \#(number)"}"#.utf8),
                    type: fixture.note, stem: Stem("r\(number)"))
            }
        }
        let query = try QueryExpression(
            parsing: Array("user=u7,sort:-body".utf8),
            schema: try fixture.store.schema(of: RecordTypeName("Note")))
        _ = try fixture.store.index.query(fixture.note, query)
        _ = try fixture.store.index.search(fixture.zone.id, words: "nothing")
        while try fixture.store.index.keepIndexes() {}
        return query
    }

    @Test("a search and a query by a value go from their index to what they find, over no table")
    func indexed() throws {
        let query = try fill()
        var found = (0, 0)
        let plans = try plans { store in
            found.0 = try store.index.search(fixture.zone.id, words: "5999").count
            found.1 = try store.index.query(fixture.note, query).count
        }
        #expect(found == (1, 60))
        // The list of the indexes has a row for each of them.
        let small = ["VIRTUAL TABLE INDEX", "CONSTANT ROW", "query_index"]
        let scans = plans.filter { plan in
            plan.hasPrefix("SCAN") && !small.contains { plan.contains($0) }
                || plan.contains("record_type_id")
        }
        #expect(!plans.isEmpty && scans.isEmpty, "\(scans)")
    }
}
