import RecordModel
import Synchronization
import TestSupport
import Testing

@testable import RecordStore

@Suite struct QueryIndexTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func fill(_ count: Int) throws {
        try fixture.write { transaction throws(RecordError) in
            for number in 0..<count {
                let text = """
                    {"user":"u\(number % 100)","n":\(number % 50),"tags":["t\(number % 7)","all"],
                     "body":"Some Wörds of \(number)"}
                    """
                _ = try transaction.records.save(
                    text: Array(text.utf8), type: fixture.note, stem: Stem("r\(number)"))
            }
        }
    }

    /// What is found, and whether every record was looked through for it.
    private func query(_ text: String) throws -> (found: [String], isScan: Bool) {
        let expression = try QueryExpression(
            parsing: Array(text.utf8), schema: try fixture.store.schema(of: RecordTypeName("Note")))
        var looked = 0
        let found = try fixture.store.index.query(fixture.note, expression) { looked = $0 }
        return (found.map { "\($0.stem)" }, looked > 0)
    }

    private func makeIndexes() throws { while try fixture.store.index.keepIndexes() {} }

    @Test(
        "a query by a value is answered by an index once one was made, also of what changed since")
    func equality() throws {
        try fill(6000)
        for text in ["user=u42", "n=7|8", "tags=t3,user=u10", "user=u42,n>10"] {
            let scanned = try query(text)
            if !text.contains(",") { #expect(scanned.isScan) }
            try makeIndexes()
            let indexed = try query(text)
            #expect(!indexed.isScan && indexed.found == scanned.found, "\(text)")
        }
        try fixture.save("r0", #"{"user":"u42","n":7.0}"#)
        try fixture.save("new", #"{"user":"u42"}"#)
        try fixture.save("r42", #"{"user":"u43"}"#)
        try fixture.delete(try #require(try fixture.record("r142")).id)
        func expectFresh() throws {
            let (found, isScan) = try query("user=u42")
            #expect(!isScan && found.count == 60)
            #expect(Set(found).isSuperset(of: ["r0", "new"]))
            #expect(Set(found).isDisjoint(with: ["r42", "r142"]))
        }
        try expectFresh()
        try makeIndexes()
        try expectFresh()
        #expect(try query("n=7|8").found.contains("r0"))
        try fixture.reopen()
        try expectFresh()
        try fixture.expectSound()
    }

    private func statements(_ text: String) throws -> Int {
        let asked = Mutex(0)
        fixture.store.traceReads { _ in asked.withLock { $0 += 1 } }
        _ = try query(text)
        fixture.store.traceReads(nil)
        return asked.withLock(\.self)
    }

    @Test("a sort asks no more than a query without it, and looks at none that an index rules out")
    func sorting() throws {
        try fill(6000)
        #expect(try statements("n>=0,sort:-n,sort:user") == statements("n>=0"))
        _ = try query("n=7")
        try makeIndexes()
        let (found, isScan) = try query("n=7,sort:-user,sort:name")
        #expect(!isScan && found.count == 120)
        // Of 7, 107, 207 and so on the user is u7, of 57, 157 and so on it is u57.
        #expect(Array(found.prefix(3)) == ["r107", "r1007", "r1107"].sorted())
        #expect(found.suffix(60).allSatisfy { $0.hasSuffix("57") })
    }

    @Test("a small type gets no index, and terms that no index answers are looked through")
    func noIndex() throws {
        try fill(100)
        _ = try query("user=u42")
        #expect(try !fixture.store.index.keepIndexes())
        #expect(fixture.store.wantedIndexes.withLock(\.fields).isEmpty)
        for text in ["n>3", "user!=u1", "user=u1|n=2", "user~u1"] {
            let expression = try QueryExpression(
                parsing: Array(text.utf8),
                schema: try fixture.store.schema(of: RecordTypeName("Note")))
            #expect(expression.equalities.isEmpty)
        }
    }

    @Test("a search finds what its index does not know yet, with the same words as the index")
    func search() throws {
        try fill(300)
        let first = "words 7"
        for words in [first, "WÖRDS 299", "some of", "absent", "\"of 12\"", "u7"] {
            let asked = try #require(try SearchWords(words))
            let hits = try fixture.store.index.unindexedHits(fixture.zone.id, asked).hits
            let looked = hits.map(\.stem)
            let indexed = try fixture.store.index.search(fixture.zone.id, words: words).map(\.stem)
            if words == first { #expect(Set(looked) == Set(indexed)) }
            #expect(Set(looked).isSubset(of: Set(indexed)), "\(words)")
            #expect(try fixture.store.index.searchBacklog() == 0)
            try fixture.save("extra", #"{"body":"Nothing of it \#(words.count)"}"#)
        }
    }
}
