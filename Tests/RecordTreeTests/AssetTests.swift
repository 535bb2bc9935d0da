import Foundation
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

@Suite("Assets through the tree")
struct AssetTests {
    @Test("writing NAME@FIELD.EXT gives the record the field, byte for byte")
    func write() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\n  \"title\": \"Soup\"\n}\n", as: "n.json")
        try fixture.put("JPEG bytes", as: "n@photo.jpg")
        #expect(try fixture.text("n@photo.jpg") == "JPEG bytes")
        #expect(try fixture.lookup("n@photo") == nil, "it answers to its name alone")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg"])
        let text = try #require(try fixture.text("n.json"))
        #expect(text.hasPrefix("{\n  \"title\": \"Soup\",\n  \"photo\": {"))
        #expect(text.contains("\"$asset\": \"n@photo.jpg\""))
    }

    @Test("an asset may come before its record and after it")
    func order() throws {
        let fixture = try TreeFixture()
        try fixture.put("BYTES", as: "n@photo.jpg")
        try fixture.put("{\"photo\": {\"$asset\": \"n@photo.jpg\"}}", as: "n.json")
        #expect(try fixture.text("n@photo.jpg") == "BYTES")
        try fixture.put("{\"photo\": {\"$asset\": \"m@photo.jpg\"}}", as: "m.json")
        try fixture.put("LATER", as: "m@photo.jpg")
        #expect(try fixture.text("m@photo.jpg") == "LATER")
        #expect(try fixture.text("m.json")?.contains("\"$asset\": \"m@photo.jpg\"") == true)
    }

    @Test("a changed asset leaves the old content to history")
    func change() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        let handle = try fixture.openNew("n@photo.jpg", flags: O_RDWR)
        try fixture.write("two", to: handle)
        #expect(try fixture.read(handle) == "two")
        try fixture.tree.flush(handle)
        try fixture.write("T", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("n@photo.jpg") == "Two")
        #expect(
            try fixture.store.upkeep.integrityCheck(deep: true).isEmpty,
            "stored content is never written to")
    }

    @Test(
        "a damaged or missing file cannot be read, and is written anew by emptying it",
        arguments: [true, false], ["one and more", "other bytes"])
    func damage(isMissing: Bool, text: String) throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        try fixture.put("one and more", as: "n@photo.jpg")
        let record = try #require(try fixture.record("n"))
        let hash = try #require(try fixture.store.assets.assets(of: record.id).first?.hash)
        let path = fixture.store.assets.assetPath(hash)
        if isMissing {
            try FileManager.default.removeItem(atPath: path)
        } else {
            chmod(path, 0o600)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.write(contentsOf: Data("X".utf8))
            try file.close()
        }
        #expect(throws: RecordError.self) { try fixture.text("n@photo.jpg") }
        #expect(throws: RecordError.self, "appending needs the old bytes") {
            try fixture.openNew("n@photo.jpg", flags: O_WRONLY | O_APPEND)
        }
        let handle = try fixture.openNew("n@photo.jpg", flags: O_WRONLY | O_TRUNC)
        try fixture.write(text, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("n@photo.jpg") == text)
        if text == "one and more" {
            #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
        }
    }

    @Test("files that come before their record leave its name free, for tar and cp make it anew")
    func awaited() throws {
        let fixture = try TreeFixture()
        func names() throws -> [String] { try fixture.names().filter { $0 != ".error" } }
        try fixture.put("one", as: "n@photo.jpg")
        #expect(try names() == ["n@photo.jpg"])
        #expect(try fixture.lookup("n.json") == nil)
        #expect(try fixture.text(".error")?.contains("n.json is still missing") == true)
        // A text that is refused and removed is no reason to take the files along.
        #expect(throws: RecordError.self) { try fixture.put("{ half", as: "n.json") }
        #expect(try names() == ["n.json", "n@photo.jpg"])
        try fixture.remove("n.json")
        #expect(try names() == ["n@photo.jpg"])
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_CREAT | O_EXCL)
        try fixture.write("{\"a\": 1}", to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try names() == ["n.json", "n@photo.jpg"])
        #expect(try fixture.text("n.json")?.contains("photo") == true)
        #expect(try fixture.text("n@photo.jpg") == "one")
        #expect(try fixture.lookup(".error") == nil)
    }

    @Test("a refused asset is told of, until one is taken", arguments: ["n@a.txt", "n@list.5.txt"])
    func refused(_ name: String) throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1, \"list\": []}", as: "n.json")
        #expect(throws: RecordError.self) { try fixture.put("my only copy", as: name) }
        let stem = String(name.dropLast(4))
        let reason = try #require(try fixture.text(".error"))
        #expect(reason.contains(stem.split(separator: ".")[0]), "\(reason)")
        #expect(reason.contains("not kept"))
    }

    @Test("a refused file keeps no name from another one", arguments: ["n@photo.5.jpg", "n@a.txt"])
    func refusedName(_ name: String) throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        #expect(throws: RecordError.self) { try fixture.put("refused", as: name) }
        try fixture.put("taken", as: "n@photo.png")
        #expect(try fixture.text("n.json")?.contains("n@photo.png") == true)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test(
        "a text that does not speak of a file leaves it, as rsync and tar bring it; null removes it"
    )
    func kept() throws {
        let fixture = try TreeFixture()
        let plain = "{\n  \"a\": 1\n}\n"
        try fixture.put(plain, as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        try fixture.put("two", as: "n@pages.0.jpg")
        let text = try #require(try fixture.text("n.json"))
        // Written in place, by a rename, and after the old file was removed.
        try fixture.put(plain, as: "n.json")
        #expect(try fixture.text("n.json") == text)
        try fixture.put(plain, as: ".n.json.X3bq")
        try fixture.rename(".n.json.X3bq", to: "n.json")
        #expect(try fixture.text("n.json") == text)
        try fixture.remove("n.json")
        try fixture.put("{\n  \"a\": 2\n}\n", as: "n.json")
        #expect(try fixture.text("n.json") == text.replacing("1,", with: "2,"))
        #expect(try fixture.names() == ["n.json", "n@pages.0.jpg", "n@photo.jpg"])
        #expect(try fixture.text("n@photo.jpg") == "one")
        try fixture.put("{\"photo\": null, \"a\": 2}", as: "n.json")
        #expect(try fixture.names() == ["n.json", "n@pages.0.jpg"])
        try fixture.remove("n@pages.0.jpg")
        #expect(try fixture.text("n.json") == "{\"photo\": null, \"a\": 2}")
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }

    @Test("what was removed with its record does not come back with the next one of the name")
    func removedToo() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        for name in ["n.json", "n@photo.jpg"] { try fixture.remove(name) }
        try fixture.put("{}", as: "n.json")
        #expect(try fixture.names() == ["n.json"])
    }

    @Test("a copy of a text names its own files")
    func copied() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        let text = try #require(try fixture.text("n.json"))
        try fixture.put(text, as: "m.json")
        #expect(try fixture.text("m.json") == text.replacing("n@photo", with: "m@photo"))
        #expect(try fixture.text("m@photo.jpg") == "one")
    }

    @Test("removing the file takes the field out of the record")
    func remove() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        try fixture.remove("n@photo.jpg")
        #expect(try fixture.names() == ["n.json"])
        #expect(try fixture.text("n.json") == "{\"a\": 1}")
    }

    @Test("a scratch file renamed onto an asset's name is the asset")
    func rename() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        try fixture.put("two", as: "tmp123")
        try fixture.rename("tmp123", to: "n@photo.jpg")
        #expect(try fixture.text("n@photo.jpg") == "two")
        #expect(try fixture.names() == ["n.json", "n@photo.jpg"])
    }

    @Test("a read of bytes that are not here is answered later, and errors are EIO with a reason")
    func deferred() throws {
        let fetcher = HeldFetcher()
        let fixture = try TreeFixture(fetcher: fetcher)
        try fixture.receiveRemoteAsset(name: "n", field: "photo", size: 5)
        let entry = try #require(try fixture.lookup("n@photo.jpg"))
        #expect(entry.attributes.size == 5, "the size is known before the bytes")
        let handle = try fixture.tree.open(entry.node, flags: O_RDONLY, caller: TreeFixture.user)
            .handle
        guard case .deferred(let start) = try fixture.tree.read(handle, offset: 0, count: 5) else {
            Issue.record("the read should wait")
            return
        }
        let answer = Mutex<Result<ReadResult, RecordError>?>(nil)
        _ = start { result in answer.withLock { $0 = result } }
        #expect(answer.withLock { $0 == nil })
        fetcher.answer(.success("bytes".b))
        guard case .success(.bytes(let bytes))? = answer.withLock({ $0 }) else {
            Issue.record("no bytes came")
            return
        }
        #expect(bytes == "bytes".b)
        fixture.tree.release(handle)
    }
}

/// A server that answers when the test says so.
final class HeldFetcher: AssetFetcher {
    private let held = Mutex<[@Sendable (Result<[UInt8], RecordError>) -> Void]>([])

    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        held.withLock { $0.append(answer) }
    }

    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        held.withLock { $0.append { result in answer(result.map { _ in }) } }
        return {}
    }

    func answer(_ result: Result<[UInt8], RecordError>) {
        let answers = held.withLock { held in
            defer { held = [] }
            return held
        }
        for answer in answers { answer(result) }
    }
}
