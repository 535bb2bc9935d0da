import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Reading of the past and of the extent of a zone.
@Suite struct HistoryReadingTests {
    private let fixture: StoreFixture
    private let zone: ZoneID
    private let note = RecordTypeName("Note")

    /// `a` was made and changed, `b` made and deleted, `c` came from the server; `t` is a Task.
    init() throws {
        fixture = try StoreFixture()
        zone = fixture.zone.id
        try fixture.save("a", #"{"n":1}"#)
        try fixture.delete(try fixture.save("b", #"{"n":1}"#).id)
        try fixture.save("a", #"{"n":2,"m":1}"#)
        try fixture.apply(fixture.page([StoreFixture.told("c", n: 3)]))
        try fixture.save("t", #"{"n":4}"#, type: fixture.task)
    }

    @Test("changes are read on from the last token that was seen, with what each made of a record")
    func changes() throws {
        let all = try fixture.store.past.changes(after: 0, limit: 100)
        #expect(
            all.map { "\($0.kind) \($0.type)/\($0.name) \($0.author)" } == [
                "created Note/a mount", "created Note/b mount", "deleted Note/b mount",
                "updated Note/a mount", "created Note/c sync", "created Task/t mount",
            ])
        #expect(
            all.map { $0.changedFields.map(\.description).sorted() } == [
                ["n"], ["n"], all[2].changedFields.map(\.description), ["m", "n"], ["n"], ["n"],
            ])
        #expect(all[2].text.isEmpty && String(decoding: all[3].text, as: UTF8.self).contains("2"))
        #expect(all.allSatisfy { $0.zone == zone && $0.database == .private })
        for (index, row) in all.enumerated() {
            let rest = try fixture.store.past.changes(after: row.token, limit: 2).map(\.token)
            #expect(rest == all.dropFirst(index + 1).prefix(2).map(\.token))
            let versions = try fixture.store.past.versions(after: row.token, limit: 2)
            #expect(
                versions.map(\.version.token) == rest && versions.allSatisfy { $0.zone == zone })
            let (entry, place) = try #require(try fixture.store.past.versionEntry(row.token))
            #expect(
                (entry.kind, entry.name, entry.size) == (row.kind, row.name, Int64(row.text.count)))
            #expect(place == zone)
            #expect(try fixture.store.past.version(row.token)?.text == row.text)
        }
        #expect(try fixture.store.past.lastToken() == all.last?.token)
        #expect(try fixture.store.past.versionEntry(999) == nil)
        #expect(try fixture.store.past.version(999) == nil)
    }

    @Test("names with a past are listed by type, from a name on, with what shows under them now")
    func names() throws {
        func names(_ type: String, after name: String = "", limit: Int = 9) throws -> [String] {
            try fixture.store.past.historyNames(
                in: zone, type: RecordTypeName(type), after: RecordName(bytes: Array(name.utf8)),
                limit: limit
            ).map(\.description)
        }
        #expect(try names("Note") == ["a", "b", "c"] && names("Task") == ["t"])
        #expect(try names("Note", after: "a") == ["b", "c"] && names("Note", limit: 1) == ["a"])
        let shown = try fixture.store.past.shownHistoryNames(in: zone, type: note)
        #expect(shown.map(\.name.description) == ["a", "b", "c"])
        #expect(shown.map(\.stem) == [Stem("a"), nil, Stem("c")])
        for (name, type, isThere) in [
            ("b", "Note", true), ("b", "Task", false), ("x", "Note", false),
        ] {
            let has = try fixture.store.past.hasHistory(
                of: RecordName(name), in: zone, type: RecordTypeName(type))
            #expect(has == isThere, "\(name)")
        }
    }

    @Test("the extent of a zone or of a record with what hangs on it counts what is here")
    func extent() throws {
        try fixture.sendAll()
        let low = try fixture.save("low", #"{"$parent":"a"}"#).id
        try fixture.setAsset(low, "photo", bytes: "12345")
        try fixture.save("leaf", #"{"$parent":"low"}"#, type: fixture.task)
        _ = try fixture.draft("leaf2", "{ half")
        _ = try fixture.draft("a", "{ half")
        try fixture.beginDelete(try #require(try fixture.record("c")).id)
        func extent(_ root: String?) throws -> StoredExtent {
            try fixture.store.upkeep.extent(of: root.map { RecordName($0) }, in: zone)
        }
        func bytes(_ stems: [(String, TypeID)]) throws -> Int64 {
            try stems.reduce(0) { sum, stem in
                let id = try #require(try fixture.record(stem.0, type: stem.1)).id
                return sum + Int64(try #require(try fixture.savedText(id)).utf8.count)
            }
        }
        let tree = try extent("a")
        #expect(tree.records == 3 && tree.unsent == 2 && tree.drafts == 1)
        let note = fixture.note
        let leaf = ("leaf", fixture.task)
        // The size of a record with a draft is that of the text that its file shows.
        #expect(tree.bytes == 6 + (try bytes([("low", note), leaf])) + 5)
        let all = try extent(nil)
        #expect(all.records == 4 && all.unsent == 2 && all.drafts == 2)
        #expect(try extent("t").records == 1 && extent("none") == StoredExtent())
    }

    @Test("of a record both texts are known: the one here and the one the server has")
    func documents() throws {
        func known(_ name: String) throws -> [Int64?] {
            try fixture.store.knownDocuments(of: RecordName(name), in: zone).map { document in
                guard case .int64(let number) = document[FieldName("n")] else { return nil }
                return number
            }
        }
        func acknowledged(_ name: String) throws -> AcknowledgedRecord? {
            try fixture.store.acknowledged(RecordName(name), in: zone)
        }
        #expect(try known("a") == [2] && acknowledged("a") == nil, "never sent")
        #expect(try known("c") == [3] && known("none") == [])
        try fixture.save("c", #"{"n":30}"#)
        #expect(try known("c") == [30, 3])
        let state = try #require(try acknowledged("c"))
        #expect(state.changeTag == "r1" && state.document[FieldName("n")] == .int64(3))
        #expect(
            state.texts.map { String(decoding: $0, as: UTF8.self).contains("30") } == [true, false])
        #expect(try acknowledged("none") == nil)
    }
}
