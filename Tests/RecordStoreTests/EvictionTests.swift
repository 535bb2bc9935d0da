import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The bytes of large fields that the server has too: given up for space, kept by pins, and looked
/// for where they are.
@Suite struct EvictionTests {
    private let fixture: StoreFixture
    private let id: RecordID
    private let hash: ContentHash

    /// `a` with a file of five bytes, which the server has.
    init() throws {
        fixture = try StoreFixture()
        id = try fixture.save("a", "{}").id
        let asset = try fixture.setAsset(id, "photo", bytes: "hello")
        hash = try #require(asset?.hash)
        try fixture.sendAll()
    }

    private func isHere() throws -> Bool {
        let isMarked = try fixture.store.assets.asset(id, FieldName("photo"), nil)?.isDownloaded
        let isStored = fixture.store.assets.sizeOfAsset(hash) != nil
        #expect(isMarked == nil || isMarked == isStored)
        return isStored
    }

    private func evict(keeping limit: Int64 = 0) throws -> Int {
        try fixture.store.assets.evictAssets(keeping: limit)
    }

    enum Holder: CaseIterable {
        case nothing, edit, unsentCopy, pin, typePin, zonePin, pass, waiting, trash, version
        case local, otherVersion
    }

    @Test(
        "a file goes when the server alone needs to have it, and stays for whoever else holds it",
        arguments: Holder.allCases)
    func holders(_ holder: Holder) throws {
        func write(_ body: (Transaction) throws(RecordError) -> Void) throws {
            try fixture.write { transaction throws(RecordError) in try body(transaction) }
        }
        func pin(_ target: PinTarget) throws {
            try write { transaction throws(RecordError) in
                try transaction.assets.pin(target, in: fixture.zone.id)
            }
        }
        var mayGo = holder == .nothing
        switch holder {
        case .nothing: break
        case .edit:
            let text = try #require(try fixture.savedText(id))
            try fixture.save("a", #"{"n":1,"# + text.dropFirst())
        case .unsentCopy:
            try fixture.setAsset(try fixture.save("b", "{}").id, "other", bytes: "hello")
        case .pin: try pin(.record(id))
        case .typePin: try pin(.type(fixture.note))
        case .zonePin: try pin(.zone(fixture.zone.id))
        case .pass:
            try fixture.feed { (feed) throws(RecordError) in
                try feed.restartFeed(of: fixture.zone.id)
            }
        case .waiting: try fixture.beginDelete(id)
        case .trash:
            try fixture.delete(id)
            try fixture.sendAll()
        case .version:
            // An earlier version of the same record is what the server had.
            mayGo = true
            try fixture.setAsset(id, "photo", bytes: "later")
            try fixture.sendAll(tag: "t2")
            try fixture.setAsset(id, "photo", bytes: "hello")
            try fixture.sendAll(tag: "t3")
        case .local:
            let zone = try fixture.write { transaction throws(RecordError) in
                let zone = try transaction.makeZone(.local, .me, ZoneName("Here"))
                return try transaction.makeType(zone.id, RecordTypeName("Note")).id
            }
            try fixture.setAsset(
                try fixture.save("l", "{}", type: zone).id, "photo", bytes: "hello")
        case .otherVersion:
            let other = try fixture.save("b", "{}").id
            try fixture.setAsset(other, "old", bytes: "hello")
            try fixture.removeAsset(other, "old")
            try fixture.sendAll(tag: "t2")
        }
        let evicted = try evict()
        #expect(try isHere() == !mayGo)
        #expect((evicted > 0) == mayGo)
        if mayGo {
            let asset = try #require(try fixture.store.assets.asset(id, FieldName("photo"), nil))
            #expect(asset.hash == hash && asset.size == 5, "it is listed as before")
            #expect(try evict() == 0)
        }
        try fixture.expectSound()
    }

    @Test("files go until the rest is within the limit, those that were read longest ago first")
    func limit() throws {
        for (name, bytes) in [("b", "12345"), ("c", "123456")] {
            try fixture.setAsset(try fixture.save(name, "{}").id, "photo", bytes: bytes)
        }
        try fixture.sendAll()
        #expect(try evict(keeping: 16) == 0)
        #expect(try evict(keeping: 15) == 1)
        #expect(try !isHere(), "the oldest")
        #expect(try evict(keeping: 11) == 0)
        #expect(try evict(keeping: 1) == 2)
    }

    @Test("a file that is gone is known to be at the server, or nowhere")
    func missing() throws {
        let path = fixture.store.assets.assetPath(hash)
        #expect(try !fixture.store.assets.noteMissingAsset(hash), "it is here")
        try FileManager.default.removeItem(atPath: path)
        #expect(try fixture.store.assets.noteMissingAsset(hash))
        #expect(try !isHere())
        let other = try fixture.save("b", "{}").id
        try fixture.setAsset(other, "photo", bytes: "unsent")
        let unsent = try #require(
            try fixture.store.assets.asset(other, FieldName("photo"), nil)?.hash)
        try FileManager.default.removeItem(atPath: fixture.store.assets.assetPath(unsent))
        #expect(try !fixture.store.assets.noteMissingAsset(unsent))
    }

    @Test("bytes are looked for in every record of the server that has or had them")
    func recordsOfServer() throws {
        func holders() throws -> [String] {
            try fixture.store.assets.recordsOfServer(with: hash).map {
                #expect($0.zone == fixture.zone.id)
                return "\($0.record)@\($0.field)"
            }.sorted()
        }
        #expect(try holders() == ["a@photo"])
        let other = try fixture.save("b", "{}").id
        try fixture.setAsset(other, "copy", bytes: "hello")
        #expect(try holders() == ["a@photo"], "the copy is not sent")
        try fixture.sendAll(tag: "t2")
        #expect(try holders() == ["a@photo", "b@copy"])
        try fixture.removeAsset(other, "copy")
        #expect(try holders() == ["a@photo", "b@copy"], "the removal is not sent")
        try fixture.delete(id)
        #expect(try holders().contains("a@photo"), "nor is the deletion")
        try fixture.sendAll(tag: "t3")
        #expect(try holders() == [])
    }

    @Test("pinned files that are missing are listed until they are here")
    func pinned() throws {
        #expect(try evict() == 1)
        func missing(except: Set<ContentHash> = []) throws -> [AssetEntry] {
            try fixture.store.assets.missingPinnedAssets(limit: 9, except: except)
        }
        for target in [PinTarget.record(id), .type(fixture.note), .zone(fixture.zone.id)] {
            #expect(try missing().isEmpty)
            func change(_ isPinned: Bool) throws -> Bool {
                try fixture.write { transaction throws(RecordError) in
                    isPinned
                        ? try transaction.assets.pin(target, in: fixture.zone.id)
                        : try transaction.assets.unpin(target)
                }
            }
            #expect(try [change(true), change(true)] == [true, false])
            #expect(try missing().map(\.hash) == [hash] && missing(except: [hash]).isEmpty)
            let pin = try #require(try fixture.store.assets.pins().first)
            #expect(pin.zone == fixture.zone.id && pin.files == 1)
            #expect(pin.missingFiles == 1 && pin.missingBytes == 5)
            #expect(try [change(false), change(false)] == [true, false])
        }
        try fixture.setAsset(id, "photo", bytes: "hello")
        #expect(try isHere())
    }

    // MARK: Bytes that are nowhere

    @Test("a change whose bytes are nowhere waits for news twice, then gives the field up")
    func nowhere() throws {
        let text = try #require(try fixture.savedText(id))
        try fixture.save("a", #"{"n":1,"# + text.dropFirst())
        for look in 1...3 {
            let row = try #require(try fixture.claim().first).row.id
            let waits = try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.failForBytes(
                    row, of: [FieldName("photo")], reason: "no bytes")
            }
            #expect(waits == (look < 3))
            #expect(try fixture.store.syncState.missesBytes() == waits)
            #expect(try fixture.outbox().map(\.error) == [waits ? "no bytes" : nil])
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.retryMissingBytes()
            }
            #expect(try !fixture.store.syncState.missesBytes())
        }
        #expect(try fixture.conflicts() == ["a"])
        #expect(try fixture.files(id) == ["a@photo.bin=hello"], "the field is the server's")
        #expect(try fixture.text("a")?.contains("\"n\":1") == true)
        try fixture.expectSound()
    }

    @Test("names that a server uses for bytes are kept with their hash")
    func names() throws {
        #expect(try fixture.store.assets.hash(ofAsset: "sum=") == nil)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.assets.noteAsset("sum=", hash)
        }
        try fixture.reopen()
        #expect(try fixture.store.assets.hash(ofAsset: "sum=") == hash)
        #expect(try fixture.store.assets.hash(ofAsset: "other") == nil)
    }

    @Test("bytes that arrive in the store's directory become its file, without a copy")
    func adopted() throws {
        for (bytes, isNew) in [("arrived", true), ("hello", false)] {
            let path = fixture.store.assets.pathForUnfinishedAsset()
            try Data(bytes.utf8).write(to: URL(filePath: path))
            let (hash, size) = try fixture.store.assets.adoptAsset(file: path)
            #expect(size == bytes.utf8.count && fixture.exists(hash))
            #expect((hash == self.hash) == !isNew)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
        let gone = fixture.store.assets.pathForUnfinishedAsset()
        #expect(failure { try fixture.store.assets.adoptAsset(file: gone) }?.code == .notFound)
    }
}
