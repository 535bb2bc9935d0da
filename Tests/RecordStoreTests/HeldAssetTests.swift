import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite("Assets that come before their record, and the times they set")
struct HeldAssetTests {
    @Test("discarding a draft keeps the files that came before its record")
    func discarding() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "{ half").id
        try fixture.setAsset(id, "photo", bytes: "x")
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.discardDraft(id)
        }
        #expect(entry?.state == .draftOnly)
        #expect(entry?.size == 0)
        #expect(try fixture.files(id) == ["a@photo.bin=x"])
        #expect(throws: RecordError.self) {
            try fixture.write { transaction throws(RecordError) in
                try transaction.discardDraft(id)
            }
        }
        #expect(try fixture.files(id) == ["a@photo.bin=x"])
        try fixture.expectSound()
    }

    @Test("the last file of a record that never came takes the empty draft along")
    func lastFile() throws {
        let fixture = try StoreFixture()
        let id = try fixture.draft("a", "").id
        try fixture.setAsset(id, "photo", bytes: "x")
        try fixture.setAsset(id, "sound", bytes: "y")
        try fixture.removeAsset(id, "photo")
        #expect(try fixture.record("a")?.hasAssets == true)
        try fixture.removeAsset(id, "sound")
        #expect(try fixture.record("a") == nil)
        try fixture.expectSound()
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
}
