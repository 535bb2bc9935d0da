import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("Names beside a large field")
struct FieldNameTests {
    private func fixture(_ file: String = "n@photo.jpg") throws -> TreeFixture {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("bytes", as: file)
        return fixture
    }

    private func outlastGrace(_ fixture: TreeFixture) throws {
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
    }

    @Test(
        "a field that has a file answers to its listed name alone",
        arguments: [
            "n@photo", "n@photo.png", "n@photo.jpg.sha256", "n@photo.jpg-journal", "n@photo.0.jpg",
            "n@photo.jpg.gz", "n@photo.JPG", "n@photo.jpg.",
        ])
    func listedName(_ other: String) throws {
        let fixture = try fixture()
        let versions = try fixture.history.count
        #expect(try fixture.lookup(other) == nil)
        try fixture.put("of a tool", as: other)
        #expect(try fixture.names() == ["n.json", "n@photo.jpg", other].sorted())
        #expect(try fixture.text(other) == "of a tool")
        #expect(try fixture.text("n@photo.jpg") == "bytes")
        try fixture.remove(other)
        #expect(try fixture.names() == ["n.json", "n@photo.jpg"])
        #expect(try fixture.history.count == versions)
    }

    @Test(
        "a name that says that it is a tool's is never the field's",
        arguments: [
            "n@photo.jpg.part", "n@photo.jpg.partial", "n@photo.jpg.filepart",
            "n@photo.jpg.crdownload", "n@photo.jpg.download", "n@photo.jpg.tmp", "n@photo.tmp",
            "n@photo.jpg.TMP", "n@photo.jpg.bak", "n@photo.jpg.old", "n@photo.jpg.orig",
            "n@photo.jpg.new", "n@photo.jpg.lock", "n@photo.jpg.aria2", "n@photo.jpg.st",
            "n@photo.jpg.!ut", "n@photo.jpg-journal", "n@photo.jpg-wal", "n@photo.jpg-shm",
            "n@photo.jpg~", "n@photo.jpg_exiftool_tmp", "n@photo.jpg.~qpdf-temp#",
            "n@photo.jpg.sha256", "n@photo.jpg.asc", "n@photo.jpg___jb_tmp___",
        ])
    func temporaryName(_ name: String) throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        let versions = try fixture.history.count
        try fixture.put("bytes", as: name)
        #expect(try fixture.history.count == versions)
        try fixture.rename(name, to: "n@photo.jpg")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg"])
        #expect(try fixture.text("n.json")?.contains("\"n@photo.jpg\"") == true)
        #expect(try fixture.text("n@photo.jpg") == "bytes")
    }

    @Test(
        "the first file of a field gives it its name, whatever that is",
        arguments: ["n@key.asc", "n@book.tar.gz", "n@data", "n@song.flac", "n@key.sig"])
    func firstName(_ name: String) throws {
        let fixture = try fixture(name)
        #expect(try fixture.text("n.json")?.contains("\"\(name)\"") == true)
        #expect(try fixture.names() == ["n.json", name])
    }

    @Test("a text that names a file whose bytes are still to come keeps the name for it")
    func claimedName() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"p\": {\"$asset\": \"n@p.jpg\"}}", as: "n.json")
        try fixture.put("sum", as: "n@p.png")
        try fixture.put("bytes", as: "n@p.jpg")
        #expect(try fixture.text("n@p.jpg") == "bytes")
        #expect(try fixture.text("n@p.png") == "sum")
        #expect(try fixture.names() == ["n.json", "n@p.jpg", "n@p.png"])
    }

    @Test("a rename onto the listed name replaces the content, as an editor's save")
    func replaced() throws {
        let fixture = try fixture()
        try fixture.put("better", as: "n@photo.jpg.tmp")
        try fixture.rename("n@photo.jpg.tmp", to: "n@photo.jpg")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg"])
        #expect(try fixture.text("n@photo.jpg") == "better")
    }

    @Test("a rename of the listed name to another ending changes it, and replaces a file there")
    func otherEnding() throws {
        let fixture = try fixture()
        try fixture.put("beside", as: "n@photo.png")
        let node = try #require(try fixture.lookup("n@photo.jpg")).node
        try fixture.rename("n@photo.jpg", to: "n@photo.png")
        #expect(try fixture.names() == ["n.json", "n@photo.png"])
        #expect(try fixture.lookup("n@photo.png")?.node == node)
        #expect(try fixture.text("n@photo.png") == "bytes")
        #expect(try fixture.text("n.json")?.contains("\"n@photo.png\"") == true)
        try outlastGrace(fixture)
        try fixture.put("new", as: "n@photo.jpg")
        #expect(try fixture.text("n@photo.png") == "bytes")
    }

    @Test("who writes a file while its ending changes writes it under the new name")
    func writtenMeanwhile() throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("n@photo.jpg", flags: O_WRONLY)
        try fixture.rename("n@photo.jpg", to: "n@photo.png")
        try fixture.write("BYTES", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.names() == ["n.json", "n@photo.png"])
        #expect(try fixture.text("n@photo.png") == "BYTES")
    }

    @Test("a file that comes under the former name within the grace says that it was a backup")
    func backup() throws {
        let fixture = try fixture("n@log.txt")
        try fixture.rename("n@log.txt", to: "n@log.txt.1")
        try fixture.put("next", as: "n@log.txt")
        #expect(try fixture.names() == ["n.json", "n@log.txt", "n@log.txt.1"])
        #expect(try fixture.text("n@log.txt") == "next")
        #expect(try fixture.text("n@log.txt.1") == "bytes")
        try outlastGrace(fixture)
        #expect(try fixture.text("n.json")?.contains("\"n@log.txt\"") == true)
        #expect(try fixture.text("n@log.txt") == "next")
        // And the other way: the tool puts its backup back.
        try fixture.rename("n@log.txt", to: "n@log.txt.2")
        try fixture.rename("n@log.txt.2", to: "n@log.txt")
        #expect(try fixture.names() == ["n.json", "n@log.txt", "n@log.txt.1"])
        #expect(try fixture.text("n@log.txt") == "next")
    }

    @Test(
        "what a packer writes beside the file and removes that is the field's",
        arguments: [("n@d.db", "n@d.db.gz"), ("n@d.db.xz", "n@d.db"), ("n@d.gz", "n@d")])
    func packed(_ from: String, _ to: String) throws {
        let fixture = try fixture(from)
        try fixture.put("packed", as: to)
        #expect(try fixture.text(from) == "bytes")
        try fixture.remove(from)
        #expect(try fixture.names() == ["n.json", to].sorted())
        #expect(try fixture.text(to) == "packed")
        #expect(try fixture.text("n.json")?.contains("\"\(to)\"") == true)
    }

    /// What converts a file, in its own ways: writes it, or renames a file of its own to the name.
    @Test(
        "a file with another ending that was made before the field's file is removed is the field's",
        arguments: ["n@photo.png", "n@photo", "n@photo.jpg.gz"], [1, 7])
    func converted(_ name: String, program: Int32) throws {
        for isRenamed in [false, true] { try convert(name, by: program, isRenamed) }
    }

    private func convert(_ name: String, by program: Int32, _ isRenamed: Bool) throws {
        let fixture = try fixture()
        try fixture.put("lost", as: "n@photo.webp")
        try fixture.put(
            "converted", as: isRenamed ? "draft" : name, by: Requester(threadID: program))
        if isRenamed { try fixture.rename("draft", to: name) }
        try fixture.remove("n@photo.webp")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg", name].sorted())
        try fixture.remove("n@photo.jpg")
        #expect(try fixture.names() == ["n.json", name].sorted())
        #expect(try fixture.text(name) == "converted")
        #expect(try fixture.text("n.json")?.contains("\"\(name)\"") == true)
        try outlastGrace(fixture)
        try fixture.remove(name)
        #expect(try fixture.text("n.json") == "{\"a\": 1}")
    }

    @Test("what was removed to be written anew is the field's, and not what was made beside it")
    func writtenAnew() throws {
        let fixture = try fixture()
        try fixture.put("converted", as: "n@photo.png")
        try fixture.remove("n@photo.jpg")
        try fixture.put("anew", as: "n@photo.jpg")
        try outlastGrace(fixture)
        #expect(try fixture.names() == ["n.json", "n@photo.jpg", "n@photo.png"])
        #expect(try fixture.text("n@photo.jpg") == "anew")
        #expect(try fixture.text("n@photo.png") == "converted")
        #expect(try fixture.text("n.json")?.contains("\"n@photo.jpg\"") == true)
    }

    @Test("what another program says about a file stays on this machine when that is removed")
    func sidecar() throws {
        let fixture = try fixture()
        try fixture.put("about it", as: "n@photo.jpg.xmp", by: Requester(threadID: 7))
        try fixture.remove("n@photo.jpg")
        #expect(try fixture.text("n.json") == "{\"a\": 1}")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg.xmp"])
        let problems = try ScratchFile.all(in: fixture.store)
        #expect(problems.first?.guess?.contains("the field photo of n has no file") == true)
        try fixture.rename("n@photo.jpg.xmp", to: "x")
        try fixture.rename("x", to: "n@photo.jpg.xmp")
        #expect(try fixture.text("n.json")?.contains("\"n@photo.jpg.xmp\"") == true)
    }

    @Test("a file that goes to a name of this machine leaves its record after the grace")
    func aside() throws {
        let fixture = try fixture()
        let versions = try fixture.history.count
        try fixture.rename("n@photo.jpg", to: "keep.jpg")
        #expect(try fixture.names() == ["keep.jpg", "n.json"])
        #expect(try fixture.lookup("n@photo.jpg") == nil)
        #expect(try fixture.history.count == versions)
        try fixture.rename("keep.jpg", to: "n@photo.jpg")
        try outlastGrace(fixture)
        #expect(try fixture.history.count == versions)
        #expect(try fixture.text("n@photo.jpg") == "bytes")
        try fixture.rename("n@photo.jpg", to: "n@photo.jpg.bak")
        try fixture.put("other", as: "n@photo.jpg")
        try outlastGrace(fixture)
        #expect(try fixture.text("n@photo.jpg") == "other")
        #expect(try fixture.text("n@photo.jpg.bak") == "bytes")
        try fixture.rename("n@photo.jpg", to: "n@photo.jpg.bak")
        try outlastGrace(fixture)
        #expect(try fixture.text("n.json") == "{\"a\": 1}")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg.bak"])
    }

    @Test("a file that was moved aside leaves its record also after a crash")
    func asideAndCrash() throws {
        let fixture = try fixture()
        try fixture.rename("n@photo.jpg", to: "keep.jpg")
        fixture.clock.advance(.seconds(4))
        // Of another mount of the store, that knows only what stands in it.
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(author: .mount)
        #expect(try fixture.record("n")?.hasAssets == false)
        #expect(try fixture.text("n.json") == "{\"a\": 1}")
    }

    @Test(
        "a file of this machine under a name that another machine gives the field waits behind it")
    func shadowed() throws {
        let fixture = try fixture()
        fixture.observe()
        try fixture.send()
        try fixture.put("beside", as: "n@photo.png")
        _ = fixture.notices.take()
        let value = AssetValue(
            fileName: Text("n@photo.png"), size: 5, sha256: try #require(try hash(in: fixture)))
        try fixture.receive(
            .upsert([RecordField(name: FieldName("photo"), value: .asset(value))], parent: nil),
            name: "n")
        #expect(try fixture.names() == ["n.json", "n@photo.png"])
        #expect(try fixture.text("n@photo.png") == "bytes")
        #expect(
            fixture.notices.take().contains(.entry(parent: fixture.notes, name: "n@photo.png".b)))
        try fixture.remove("n@photo.png")
        #expect(try fixture.text("n@photo.png") == "beside")
    }

    private func hash(in fixture: TreeFixture) throws -> ContentHash? {
        guard let record = try fixture.record("n") else { return nil }
        return try fixture.store.assets.assets(of: record.id).first?.hash
    }

    @Test("a file of this machine that is linked to the name of a field without a file fills it")
    func linked() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("bytes", as: "download")
        let source = try #require(try fixture.lookup("download"))
        _ = try fixture.tree.link(source.node, newParent: fixture.notes, newName: "n@p.jpg".b)
        try fixture.remove("download")
        #expect(try fixture.names() == ["n.json", "n@p.jpg"])
        #expect(try fixture.text("n@p.jpg") == "bytes")
    }
}
