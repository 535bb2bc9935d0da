import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The history of who made a change, in what transaction, and of which fields.
@Suite struct AuthorTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func versions() throws -> [Version] {
        try fixture.store.past.versions(after: 0, limit: 100).map(\.version)
    }

    private func save(
        _ names: String..., by program: AuthorName?, author: Author = .commandLine
    ) throws {
        try fixture.store.write(author: author, by: program) { transaction throws(RecordError) in
            for name in names {
                _ = try transaction.records.save(
                    text: Array(#"{"n":1,"name":"\#(name)"}"#.utf8), type: fixture.note,
                    stem: Stem(name))
            }
        }
    }

    @Test("a change has the author that a program has set, and its own way besides")
    func author() throws {
        try save("a", by: try AuthorName("Photos"))
        try save("b", by: nil)
        let versions = try versions()
        #expect(versions.map(\.shownAuthor) == ["Photos", "cli"])
        #expect(versions.map(\.author) == [.commandLine, .commandLine])
        try fixture.reopen()
        #expect(try self.versions() == versions)
        let named = try fixture.store.past.history(of: RecordName("a"), in: fixture.zone.id)
        #expect(named == [versions[0]])
        _ = fixture.changes()
        try save("c", by: try AuthorName("Photos"))
        #expect(fixture.changes().map(\.program) == [try AuthorName("Photos")])
    }

    @Test("the changes of one transaction have the token of the first")
    func transactions() throws {
        try save("a", "b", "c", by: nil)
        try save("d", by: nil)
        let versions = try versions()
        let first = try #require(versions.first?.token)
        #expect(versions.map(\.transaction) == [first, first, first, first + 3])
    }

    @Test("a change says which fields it has changed; a deletion changes none")
    func fields() throws {
        try fixture.save("a", #"{"n":1,"t":"x"}"#)
        try fixture.save("a", #"{"n":2,"t":"x"}"#)
        try fixture.delete(try #require(try fixture.record("a")).id)
        #expect(
            try versions().map { $0.fields.map(\.description).sorted() } == [
                ["n", "t"], ["n"], [],
            ])
    }

    @Test("the author of the mount is that of its saves, and of nothing else")
    func mount() throws {
        try fixture.store.close()
        var options = StoreOptions(clock: fixture.clock)
        options.mountAuthor = try AuthorName("Desk")
        let store = try RecordStore.open(directory: fixture.directory, options: options)
        for author in Author.allCases {
            try store.write(author: author) { transaction throws(RecordError) in
                _ = try transaction.records.save(
                    text: Array("{}".utf8), type: fixture.note, stem: Stem(author.rawValue))
            }
        }
        let shown = try store.past.versions(after: 0, limit: 9).map(\.version.shownAuthor)
        #expect(shown == ["Desk", "cli", "import", "sync", "Desk"])
        try store.close()
        try fixture.reopen()
    }
}
