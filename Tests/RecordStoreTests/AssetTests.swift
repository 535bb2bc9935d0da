import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

@Suite struct AssetTests {
    @Test("a file that is written appears in the text, which is otherwise as it was")
    func set() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{\n  \"n\": 1\n}\n").id
        let asset = try #require(try fixture.setAsset(id, "photo", bytes: "one"))
        let hash = try #require(asset.hash?.hex)
        #expect(
            try fixture.text("a")
                == """
                {
                  "n": 1,
                  "photo": {
                    "$asset": "a@photo.bin",
                    "size": 3,
                    "sha256": "\(hash)"
                  }
                }

                """)
        #expect(try fixture.record("a")?.hasAssets == true)
        #expect(try fixture.kinds("a") == [.created, .updated])
        #expect(try fixture.setAsset(id, "photo", bytes: "one")?.id == asset.id)
        #expect(try fixture.kinds("a") == [.created, .updated])
        let written = try fixture.setAsset(id, "photo", bytes: "two", isInPlace: true)
        #expect(written?.id == asset.id, "the same file with other bytes")
        let replaced = try #require(try fixture.setAsset(id, "photo", bytes: "two!"))
        #expect(replaced.id != asset.id, "another file")
        #expect(try fixture.files(id) == ["a@photo.bin=two!"])
        try fixture.removeAsset(id, "photo")
        #expect(try fixture.text("a") == "{\n  \"n\": 1\n}\n")
        #expect(try fixture.files(id) == [])
        #expect(try fixture.record("a")?.hasAssets == false)
        try fixture.expectSound()
    }

    @Test("a row goes with its bytes when a list changes, and observers hear which name it had")
    func rowsFollowBytes() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        for index in 0..<4 { try fixture.setAsset(id, "p", index, bytes: "p\(index)") }
        func rows() throws -> [AssetID] { try fixture.store.assets.assets(of: id).map(\.id) }
        let heard = Mutex<[AssetNameChanges]>([])
        fixture.store.observe { changes in
            heard.withLock { $0 += changes.map(\.assetNames).filter { !$0.isEmpty } }
        }
        func former() -> [String] {
            heard.withLock { heard in
                defer { heard = [] }
                return heard.flatMap(\.former).map { former in
                    String(decoding: former.name, as: UTF8.self) + (former.isGone ? " gone" : "")
                }.sorted()
            }
        }
        let before = try rows()
        let order = [3, 1, 0].map { "{\"$asset\": \"a@p.\($0).bin\"}" }
        try fixture.save("a", "{\"p\": [\(order.joined(separator: ", "))]}")
        #expect(try rows() == [before[3], before[1], before[0]])
        #expect(try fixture.files(id) == ["a@p.0.bin=p3", "a@p.1.bin=p1", "a@p.2.bin=p0"])
        #expect(former() == ["a@p.0.bin", "a@p.2.bin gone", "a@p.3.bin"])
        try fixture.removeAsset(id, "p", 0)
        #expect(try rows() == [before[1], before[0]])
        #expect(former() == ["a@p.0.bin gone", "a@p.1.bin", "a@p.2.bin"])
        try fixture.save("a", "{\"n\": 1, \"p\": [{\"$asset\": \"a@p.0.bin\"}]}")
        #expect(try rows() == [before[1]])
        #expect(former() == ["a@p.1.bin gone"])
        try fixture.expectSound()
    }

    @Test("a text that names a file before it comes is not sent before")
    func textFirst() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"photo":{"$asset":"a@photo.bin"}}"#).id
        #expect(try fixture.files(id) == ["a@photo.bin="])
        #expect(try fixture.outbox().map(\.waitsForAsset) == [true])
        #expect(try fixture.claim().isEmpty)
        #expect(try fixture.store.assets.assets(in: fixture.note, limit: 10).isEmpty)
        try fixture.setAsset(id, "photo", bytes: "one")
        #expect(try fixture.files(id) == ["a@photo.bin=one"])
        #expect(try fixture.claim().count == 1)
        #expect(try fixture.store.assets.assets(in: fixture.note, limit: 10).count == 1)
        try fixture.expectSound()
    }

    @Test(
        "a text whose files do not come is told of after a while, until they do or another text comes"
    )
    func awaitedBytes() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"photo":{"$asset":"a@photo.bin"}}"#).id
        func errors() throws -> [String?] { try fixture.outbox().map(\.error) }
        try fixture.store.syncState.noteAwaitedBytes()
        #expect(try errors() == [nil])
        fixture.clock.advance(SyncState.longestWaitForBytes + .seconds(1))
        try fixture.store.syncState.noteAwaitedBytes()
        #expect(try errors().allSatisfy { $0?.contains("waits for the bytes") == true })
        try fixture.setAsset(id, "photo", bytes: "one")
        #expect(try errors() == [nil])
        #expect(try fixture.claim().count == 1)
    }

    @Test("files that come before their record are kept and named by its first text")
    func filesFirst() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "").id
        let first = try fixture.setAsset(id, "photo", bytes: "one")
        try fixture.setAsset(id, "pages", 1, bytes: "p1")
        try fixture.setAsset(id, "pages", 0, bytes: "p0")
        #expect(try fixture.savedText(id) == nil)
        #expect(try fixture.save("a", #"{"n":1}"#).id == id)
        #expect(
            try fixture.files(id)
                == ["a@pages.0.bin=p0", "a@pages.1.bin=p1", "a@photo.bin=one"])
        #expect(try fixture.store.assets.assets(of: id).contains { $0.id == first?.id })
        #expect(try fixture.outbox().map(\.waitsForAsset) == [false])
        try fixture.expectSound()
        let other = try fixture.draft("b", "").id
        try fixture.setAsset(other, "photo", bytes: "two")
        try fixture.save("b", #"{"photo":{"$asset":"b@photo.bin"}}"#)
        #expect(try fixture.text("b") == #"{"photo":{"$asset":"b@photo.bin"}}"#)
        #expect(try fixture.files(other) == ["b@photo.bin=two"])
        try fixture.expectSound()
    }

    @Test("removing an element in the middle of a list moves those behind it, with their numbers")
    func middle() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        for (index, text) in ["zero", "one", "two", "three"].enumerated() {
            try fixture.setAsset(id, "pages", index, bytes: text)
        }
        let numbers = try fixture.store.assets.assets(of: id).map(\.id)
        try fixture.removeAsset(id, "pages", 1)
        #expect(
            try fixture.files(id)
                == ["a@pages.0.bin=zero", "a@pages.1.bin=two", "a@pages.2.bin=three"])
        #expect(
            try fixture.store.assets.assets(of: id).map(\.id) == [
                numbers[0], numbers[2], numbers[3],
            ])
        #expect(try fixture.text("a")?.contains("a@pages.3.bin") == false)
        try fixture.setAsset(id, "pages", 3, bytes: "new")
        #expect(try fixture.files(id).last == "a@pages.3.bin=new")
        #expect(
            failure { try fixture.setAsset(id, "pages", 9, bytes: "x") }?.code == .invalidArgument)
        for _ in 0..<4 { try fixture.removeAsset(id, "pages", 0) }
        #expect(try fixture.files(id) == [])
        try fixture.expectSound()
    }

    @Test("an edit of the text that moves the elements of a list keeps each one's bytes")
    func edited() throws {
        let fixture = try StoreFixture()
        func list(_ numbers: [Int]) -> String {
            let elements = numbers.map { #"{"$asset":"a@pages.\#($0).bin"}"# }
            return #"{"pages":[\#(elements.joined(separator: ","))]}"#
        }
        let draft = try fixture.draft("a", "").id
        for index in 0..<4 { try fixture.setAsset(draft, "pages", index, bytes: "p\(index)") }
        let id = try fixture.save("a", list([0, 1, 2, 3])).id
        try fixture.save("a", list([0, 2, 3]))
        let expected = ["a@pages.0.bin=p0", "a@pages.1.bin=p2", "a@pages.2.bin=p3"]
        #expect(try fixture.files(id) == expected)
        try fixture.save("a", list([0, 2, 3]).dropLast() + #","n":1}"#)
        #expect(try fixture.files(id) == expected)
        try fixture.expectSound()
    }

    @Test("the hash that a text claims counts: a copied or older text brings its bytes")
    func claimedHash() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        try fixture.setAsset(id, "photo", bytes: "one")
        let old = try #require(try fixture.text("a"))
        try fixture.setAsset(id, "photo", bytes: "two")
        #expect(try fixture.files(id) == ["a@photo.bin=two"])
        try fixture.save("a", old)
        #expect(try fixture.files(id) == ["a@photo.bin=one"])
        let copy = try fixture.save("b", old).id
        #expect(try fixture.files(copy) == ["b@photo.bin=one"])
        #expect(try fixture.outbox().allSatisfy { !$0.waitsForAsset })
        let unknown = String(repeating: "0", count: 64)
        try fixture.save("a", old.replacing(try #require(hash(old)), with: unknown))
        #expect(try fixture.files(id) == ["a@photo.bin=one"])
        #expect(try fixture.outbox().filter(\.waitsForAsset).map(\.name) == [RecordName("a")])
        try fixture.setAsset(id, "photo", bytes: "three")
        #expect(try fixture.outbox().allSatisfy { !$0.waitsForAsset })
        try fixture.expectSound()
    }

    private func hash(_ text: String) -> Substring? {
        text.split(separator: "\"").first { $0.count == 64 }
    }

    @Test("a rename takes the files along under their new names")
    func renamed() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        try fixture.setAsset(id, "photo", bytes: "one")
        try fixture.setAsset(id, "pages", 0, bytes: "p0")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(id, toType: fixture.note, stem: Stem("b"))
        }
        #expect(try fixture.files(entry.id) == ["b@pages.0.bin=p0", "b@photo.bin=one"])
        #expect(try fixture.text("b")?.contains("a@") == false)
        let held = try fixture.draft("c", "").id
        try fixture.setAsset(held, "photo", bytes: "held")
        let moved = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(held, toType: fixture.note, stem: Stem("d"))
        }
        #expect(try fixture.files(moved.id) == ["d@photo.bin=held"])
        let same = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(entry.id, toType: fixture.note, stem: Stem("b"))
        }
        #expect(same == entry)
        #expect(try fixture.record("b")?.state == .saved)
        try fixture.expectSound()
    }

    @Test("a long text has a file of its own, which reads and writes the value")
    func longValue() throws {
        let fixture = try StoreFixture()
        let long = String(repeating: "x", count: 65_537)
        let id = try fixture.save("a", #"{"t":"\#(long)","n":1}"#).id
        let asset = try #require(try fixture.store.assets.assets(of: id).first)
        #expect(asset.kind == .value)
        #expect(asset.size == 65_537)
        #expect(try fixture.store.assets.inlineValue(of: asset) == Array(long.utf8))
        let changed = try fixture.setAsset(
            id, "t", bytes: String(repeating: "y", count: 70_000), isInPlace: true)
        #expect(changed?.id == asset.id)
        #expect(changed?.size == 70_000)
        #expect(try fixture.setAsset(id, "t", bytes: "short") == nil)
        #expect(try fixture.text("a") == #"{"t":"short","n":1}"#)
        #expect(try fixture.record("a")?.hasAssets == false)
        #expect(try fixture.store.assets.collectAssets() == 2)
        try fixture.expectSound()
    }

    @Test("collecting removes exactly what no record, version, trash entry or import needs")
    func collecting() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        let old = try #require(try fixture.setAsset(id, "photo", bytes: "one")?.hash)
        let present = try #require(try fixture.setAsset(id, "photo", bytes: "two")?.hash)
        let other = try fixture.save("b", try #require(try fixture.text("a"))).id
        let held = try fixture.setAsset(try fixture.draft("c", "").id, "photo", bytes: "held")
        let inFlight = try fixture.importBytes("in flight").hash
        try fixture.delete(id)
        try fixture.delete(other)
        #expect(try fixture.store.assets.collectAssets() == 0)
        for hash in [old, present, try #require(held?.hash), inFlight] {
            #expect(fixture.exists(hash))
        }
        try fixture.reopen()
        #expect(try fixture.store.assets.collectAssets() == 1)
        #expect(!fixture.exists(inFlight))
        try fixture.expectSound()
    }

    @Test("a file whose only record is gone is collected without reopening the store")
    func collectedAfterUse() throws {
        let fixture = try StoreFixture()
        let draft = try fixture.draft("a", "").id
        let hash = try #require(try fixture.setAsset(draft, "photo", bytes: "one")?.hash)
        #expect(try fixture.store.assets.collectAssets() == 0)
        try fixture.beginDelete(draft)
        #expect(try fixture.store.assets.collectAssets() == 0, "only the record was to go")
        try fixture.removeAsset(draft, "photo")
        #expect(try fixture.store.assets.collectAssets() == 1)
        #expect(!fixture.exists(hash))
    }

    @Test("the trash and a version bring their files back")
    func restored() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        try fixture.setAsset(id, "photo", bytes: "one")
        let token = try fixture.store.past.lastToken()
        try fixture.setAsset(id, "photo", bytes: "two")
        try fixture.write(.restore) { transaction throws(RecordError) in
            _ = try transaction.records.restoreVersion(token)
        }
        #expect(try fixture.files(id) == ["a@photo.bin=one"])
        try fixture.delete(id)
        _ = try fixture.store.assets.collectAssets()
        let trash = try #require(try fixture.store.past.trash(in: fixture.note).first)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trash.id)
        }
        #expect(try fixture.files(entry.id) == ["a@photo.bin=one"])
        try fixture.expectSound()
    }

    @Test("the trash brings back also the files of a text that says no hash")
    func restoredWithoutHash() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"photo":{"$asset":"a@photo.bin"}}"#).id
        try fixture.setAsset(id, "photo", bytes: "one")
        try fixture.save("a", #"{"photo":{"$asset":"a@photo.bin"}}"#)
        #expect(try fixture.files(id) == ["a@photo.bin=one"])
        try fixture.delete(id)
        let trash = try #require(try fixture.store.past.trash(in: fixture.note).first)
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trash.id)
        }
        #expect(try fixture.files(entry.id) == ["a@photo.bin=one"])
        #expect(try fixture.outbox().allSatisfy { !$0.waitsForAsset })
        try fixture.expectSound()
    }

    @Test("an asset of the server has a size and a hash before its bytes, and then the bytes")
    func remote() throws {
        let fixture = try StoreFixture()
        let (hash, size) = try fixture.importBytes("from afar")
        try fixture.reopen()
        #expect(try fixture.store.assets.collectAssets() == 1)
        let value = AssetValue(fileName: "a@photo.bin", size: size, sha256: hash)
        let id = try #require(try fixture.upsert("a", ["photo": .asset(value)]).id)
        let asset = try #require(try fixture.store.assets.assets(of: id).first)
        #expect(!asset.isDownloaded)
        #expect(asset.size == size)
        #expect(asset.hash == hash)
        try fixture.expectSound()
        _ = try fixture.importBytes("from afar")
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.assets.setDownloaded(hash)
        }
        #expect(try fixture.store.assets.asset(asset.id)?.isDownloaded == true)
        let other = AssetValue(
            fileName: "a@photo.bin", size: 4,
            sha256: ContentHash(hex: String(repeating: "a", count: 64)))
        try fixture.upsert("a", ["photo": .asset(other)])
        let replaced = try #require(try fixture.store.assets.assets(of: id).first)
        #expect(replaced.id != asset.id, "other bytes are another file")
        #expect(!replaced.isDownloaded)
        #expect(replaced.hash == other.sha256)
        #expect(try fixture.pending().isEmpty)
        try fixture.expectSound()
    }

    @Test("equal files of two records are one, and what is no regular file is refused")
    func sharing() throws {
        let fixture = try StoreFixture()
        let first = try fixture.setAsset(try fixture.save("a", "{}").id, "photo", bytes: "same")
        let second = try fixture.setAsset(try fixture.save("b", "{}").id, "photo", bytes: "same")
        #expect(first?.hash == second?.hash)
        try fixture.removeAsset(try #require(first).record, "photo")
        _ = try fixture.store.assets.collectAssets()
        #expect(try fixture.files(try #require(second).record) == ["b@photo.bin=same"])
        let directory = failure {
            try fixture.store.assets.importAsset(fromFile: fixture.directory)
        }
        #expect(directory?.code == .invalidArgument)
        let missing = failure {
            try fixture.store.assets.importAsset(fromFile: "/nonexistent/file")
        }
        #expect(missing?.code == .notFound)
    }

    @Test("a damaged or missing file is found by the check")
    func damaged() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        let hash = try #require(try fixture.setAsset(id, "photo", bytes: "one")?.hash)
        let path = fixture.store.assets.assetPath(hash)
        try overwrite(path, "two")
        #expect(try fixture.store.upkeep.integrityCheck() == [])
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).count == 1)
        try overwrite(path, "longer")
        #expect(try fixture.store.upkeep.integrityCheck().count == 1)
        try overwrite(path, "one")
        try fixture.expectSound()
    }
}
