import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

@Suite("Assets that come before their record, and the times they set")
struct HeldAssetTests {
    @Test("discarding a draft keeps the files that came before its record")
    func discarding() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "{ half").id
        try fixture.setAsset(id, "photo", bytes: "x")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(id)
        }
        #expect(entry?.state == .draftOnly)
        #expect(entry?.size == 0)
        #expect(try fixture.files(id) == ["a@photo.bin=x"])
        #expect(throws: RecordError.self) {
            try fixture.write { transaction throws(RecordError) in
                try transaction.records.discardDraft(id)
            }
        }
        #expect(try fixture.files(id) == ["a@photo.bin=x"])
        try fixture.expectSound()
    }

    @Test("the last file of a record that never came takes the empty draft along")
    func lastFile() throws {
        let fixture = try StoreFixture()
        let id = try fixture.write { transaction throws(RecordError) in
            try transaction.assets.holder(fixture.note, Stem("a"))
        }
        try fixture.setAsset(id, "photo", bytes: "x")
        try fixture.setAsset(id, "sound", bytes: "y")
        try fixture.removeAsset(id, "photo")
        #expect(try fixture.record("a")?.hasAssets == true)
        try fixture.removeAsset(id, "sound")
        #expect(try fixture.record("a") == nil)
        try fixture.expectSound()
    }

    @Test("an empty file that somebody has made stays without its last large field")
    func lastFileOfEmpty() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "").id
        try fixture.setAsset(id, "photo", bytes: "x")
        try fixture.removeAsset(id, "photo")
        let left = try #require(try fixture.record("a"))
        #expect(!left.isHidden)
        #expect(!left.hasAssets)
    }

    @Test("a draft stays without its last file, and shows none")
    func lastFileOfDraft() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "{ half").id
        try fixture.setAsset(id, "photo", bytes: "x")
        try fixture.removeAsset(id, "photo")
        #expect(try fixture.record("a")?.hasAssets == false)
        #expect(try fixture.text("a") == "{ half")
    }

    @Test("a file that comes or goes changes the directory's time and that of the text it is in")
    func times() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", "{}").id
        func times() throws -> [Timestamp?] {
            [try fixture.store.type(fixture.note)?.modified, try fixture.record("a")?.modified]
        }
        fixture.clock.advance(.seconds(1))
        try fixture.setAsset(id, "photo", bytes: "x")
        let made = fixture.clock.now
        #expect(try times() == [made, made])
        fixture.clock.advance(.seconds(1))
        try fixture.setAsset(id, "photo", bytes: "xx")
        #expect(try times() == [made, fixture.clock.now])
        fixture.clock.advance(.seconds(1))
        try fixture.removeAsset(id, "photo")
        #expect(try times() == [fixture.clock.now, fixture.clock.now])
    }

    @Test("the time of a text that names its file already stays when the file comes")
    func timeOfNamingText() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"photo": {"$asset": "a@photo.bin"}}"#).id
        let before = try fixture.record("a")?.modified
        fixture.clock.advance(.seconds(1))
        try fixture.setAsset(id, "photo", bytes: "x")
        #expect(try fixture.record("a")?.modified == before)
        #expect(try fixture.store.type(fixture.note)?.modified == fixture.clock.now)
    }

    @Test("a record that is marked as still to come, although it is there, is shown and mended")
    func mending() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        func mark() throws {
            try fixture.write { transaction throws(RecordError) in
                try transaction.connection.run("UPDATE record SET flags = flags | 4")
            }
            #expect(try fixture.record("a")?.isHidden == false)
            #expect(
                try fixture.store.stems(in: fixture.note, beginningWith: [], limit: 9)
                    == [Stem("a")])
        }
        try mark()
        try fixture.save("a", #"{"n":1}"#)
        try fixture.expectSound()
        try mark()
        try fixture.save("a", #"{"n":2}"#)
        try fixture.expectSound()
        _ = try fixture.draft("a", "")
        try mark()
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(id)
        }
        try fixture.expectSound()
    }

    @Test("a deleted record comes back from the trash to files that wait for it, but over none")
    func restoring() throws {
        let fixture = try StoreFixture()
        for stem in ["a", "b"] {
            let id = try fixture.save(stem, #"{"n":1}"#).id
            try fixture.setAsset(id, "photo", bytes: "old")
            try fixture.delete(id)
        }
        func restore(_ stem: String) throws -> RecordEntry {
            let trashed = try #require(
                try fixture.store.past.trash(in: fixture.note).first { $0.stem == Stem(stem) })
            return try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restore(trashed.id)
            }
        }
        try fixture.hold("a", "sound", bytes: "x")
        let back = try restore("a")
        #expect(!back.isHidden)
        #expect(try fixture.files(back.id) == ["a@photo.bin=old", "a@sound.bin=x"])
        let held = try fixture.hold("b", "photo", bytes: "x")
        let error = failure { try restore("b") }
        #expect(error?.code == .alreadyExists)
        #expect(error?.message.hasPrefix("b@photo.bin is there") == true)
        let version = try #require(
            try fixture.store.past.history(of: RecordName("b"), in: fixture.zone.id)
                .last { $0.kind != .deleted })
        let refused = failure {
            try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.records.restoreVersion(version.token)
            }
        }
        #expect(refused?.code == .alreadyExists)
        #expect(try fixture.files(held) == ["b@photo.bin=x"])
        try fixture.removeAsset(held, "photo")
        #expect(try fixture.files(try restore("b").id) == ["b@photo.bin=old"])
        try fixture.expectSound()
    }

    @Test("a file whose first writing a crash has ended leaves no record that is waited for")
    func crash() throws {
        let fixture = try StoreFixture()
        try fixture.hold("a", "photo", bytes: "x")
        for (stem, field) in [("a", "sound"), ("b", "sound")] {
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.assets.expectAsset(
                    try transaction.assets.holder(fixture.note, Stem(stem)), FieldName(field), nil,
                    fileExtension: [])
            }
        }
        try fixture.reopen()
        let kept = try #require(try fixture.record("a"))
        #expect(try fixture.files(kept.id) == ["a@photo.bin=x"])
        #expect(try fixture.record("b") == nil)
        try fixture.expectSound()
    }

    @Test("of a file that waits and the server's under the same name, the one that is here stays")
    func sameFileElsewhere() throws {
        let fixture = try StoreFixture()
        let held = try fixture.hold("a", "photo", bytes: "mine")
        let (hash, size) = try fixture.importBytes("theirs")
        let value = AssetValue(fileName: Text("a@photo.bin"), size: size, sha256: hash)
        try fixture.upsert("a", ["photo": .asset(value)])
        #expect(try fixture.files(held) == ["a@photo.bin=mine"])
        #expect(try fixture.pending() == ["a update"])
        #expect(try fixture.kinds("a") == [.created, .updated])
        try fixture.expectSound()
    }
}

extension StoreFixture {
    /// Writes the file STEM@FIELD.bin, whether its record is there or not.
    @discardableResult
    func hold(_ stem: String, _ field: String, bytes: String) throws -> RecordID {
        let record = try write { transaction throws(RecordError) in
            try transaction.assets.holder(self.note, Stem(stem))
        }
        try setAsset(record, field, bytes: bytes)
        return record
    }
}
