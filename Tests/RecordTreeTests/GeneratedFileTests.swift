import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

@Suite("Generated files")
struct GeneratedFileTests {
    private static let files = [
        "status.json", "metrics", "schema/development.ckdb", "schema/production.ckdb",
        "meta/private/Box/Note/a.json", "export/private/Box/Note.json",
        "export/private/Box/Note.ndjson", "export/private/Box/Note.csv",
        "trash/private/Box/Note/gone.json",
    ]

    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.save(["a", "b"])
        try fixture.trash(["gone"])
        return fixture
    }

    @Test("stat tells the size of what a reader gets", arguments: files)
    func size(_ file: String) throws {
        let fixture = try fixture()
        let path = ".recordfs/" + file
        let size = try #require(try fixture.size(path))
        let text = try fixture.content(path)
        #expect(Int64(text.utf8.count) == size)
        #expect(size > 0 || file.contains("production"))
    }

    @Test("versions and errors have their sizes and times")
    func dated() throws {
        let fixture = try fixture()
        let saved = fixture.clock.now
        fixture.clock.advance(.seconds(60))
        let versions = try fixture.control("history/private/Box/Note/a")
        let name = try fixture.list(versions)[0]
        let version = try #require(try fixture.lookup(name, in: versions))
        #expect(version.attributes.size == 7)
        #expect(version.attributes.modified == saved)
        let handle = try fixture.openNew("bad.json")
        try fixture.write("{", to: handle)
        #expect(throws: RecordError.self) { try fixture.tree.flush(handle) }
        fixture.tree.release(handle)
        let errors = try fixture.control("errors")
        let file = try #require(try fixture.list(errors).first)
        let size = try fixture.size(".recordfs/errors/" + file)
        #expect(size == Int64(try fixture.content(".recordfs/errors/" + file).utf8.count))
    }

    @Test("a file keeps its time while its text stays, so that a second rsync has nothing to do")
    func time() throws {
        let fixture = try fixture()
        let before = try Self.files.map {
            try fixture.find(".recordfs/" + $0)?.attributes.modified
        }
        fixture.clock.advance(.seconds(60))
        let after = try Self.files.map { try fixture.find(".recordfs/" + $0)?.attributes.modified }
        #expect(before == after)
        try fixture.put(#"{"n":9,"m":1}"#, as: "a.json")
        for file in ["meta/private/Box/Note/a.json", "export/private/Box/Note.csv"] {
            let time = try fixture.find(".recordfs/" + file)?.attributes.modified
            #expect(time == fixture.clock.now, "\(file)")
        }
    }

    @Test("an export is made once for a state of its type, and again when a record changes")
    func once() throws {
        let fixture = try fixture()
        let path = ".recordfs/export/private/Box/Note.ndjson"
        let first = try fixture.content(path)
        #expect(first == "{\"$name\":\"a\",\"n\":1}\n{\"$name\":\"b\",\"n\":1}\n")
        var second = ""
        let again = try fixture.reads { second = try fixture.content(path) }
        #expect(second == first)
        // The directories on the way, the type, and not one record.
        #expect(again < 12)

        try fixture.put(#"{"n":7}"#, as: "c.json")
        #expect(try fixture.content(path).contains(#"{"$name":"c","n":7}"#))
        try fixture.put(#"{ "n" : 7 }"#, as: "c.json")
        try fixture.remove("c.json")
        #expect(try fixture.content(path) == first)
        try fixture.store.write(author: .mount) { transaction throws(RecordError) in
            let schema = RecordSchema(fields: [
                .init(name: FieldName("n"), type: .int64),
                .init(name: FieldName("m"), type: .string),
            ])
            try transaction.setSchema(schema, of: RecordTypeName("Note"))
        }
        #expect(
            try fixture.content(".recordfs/export/private/Box/Note.csv").hasPrefix(
                "$name,$parent,n,m"))
    }

    @Test("who has an export open reads one version to its end, and stat tells that one's size")
    func open() throws {
        let fixture = try fixture()
        let path = ".recordfs/export/private/Box/Note.ndjson"
        let entry = try #require(try fixture.find(path))
        let handle = try fixture.tree.open(
            entry.node, flags: O_RDONLY, caller: TreeFixture.user
        ).handle
        let start = try fixture.read(handle, count: 5)
        try fixture.put(#"{"n":7}"#, as: "c.json")
        let (shown, _) = try fixture.tree.attributes(of: entry.node, handle: nil)
        let text = start + (try fixture.read(handle, offset: 5))
        #expect(text == "{\"$name\":\"a\",\"n\":1}\n{\"$name\":\"b\",\"n\":1}\n")
        #expect(shown.size == Int64(text.utf8.count))
        // A second reader meets the present, and the first one's descriptor still its own.
        let other = try fixture.tree.open(
            entry.node, flags: O_RDONLY, caller: TreeFixture.user
        ).handle
        #expect(try fixture.read(other).hasSuffix("{\"$name\":\"c\",\"n\":7}\n"))
        let (first, _) = try fixture.tree.attributes(of: entry.node, handle: handle)
        #expect(first.size == Int64(text.utf8.count))
        fixture.tree.release(handle)
        fixture.tree.release(other)
        #expect(try fixture.size(path) == Int64(try fixture.content(path).utf8.count))
    }
}
