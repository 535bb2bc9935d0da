import RecordModel
import RecordSQL
import RecordStore
import TestSupport
import Testing

@Suite struct RetentionTests {
    private static let day = Duration.seconds(24 * 3600)

    private func versions(_ fixture: StoreFixture, _ name: String) throws -> [Version] {
        try fixture.store.past.history(of: RecordName(name), in: fixture.zone.id)
    }

    /// All that is due, as the daemon does it a piece at a time.
    private func keepSmall(_ store: RecordStore) throws {
        try store.upkeep.purgeTrash()
        try store.assets.collectAssets()
        while try store.upkeep.keepSmall() {}
    }

    @Test("what was made and deleted leaves nothing behind once its time is over")
    func deleted() throws {
        let fixture = try StoreFixture()
        try fixture.save("stays", #"{"n":1}"#)
        let filler = String(repeating: "x", count: 20_000)
        for number in 0..<1000 { try fixture.save("r\(number)", #"{"t":"\#(filler)"}"#) }
        let full = try fixture.store.syncState.counts().databaseBytes
        #expect(full > 20_000_000)
        for entry in try fixture.store.records(in: fixture.note, after: RecordID(0), limit: 2000)
        where entry.stem != Stem("stays") {
            try fixture.delete(entry.id)
        }
        fixture.clock.advance(Self.day * 31)
        try keepSmall(fixture.store)
        #expect(try fixture.store.syncState.counts().trash == 0)
        #expect(try versions(fixture, "r7").count == 2)
        fixture.clock.advance(Self.day * 60)
        let rehearsed = try fixture.store.upkeep.collectGarbage(isRehearsal: true)
        // The newest version of the store has the token that no other gets.
        #expect(rehearsed.versions == 1999)
        #expect(try versions(fixture, "r7").count == 2)
        try keepSmall(fixture.store)
        #expect(try versions(fixture, "r7").isEmpty)
        #expect(try fixture.store.syncState.counts().databaseBytes < 4_000_000)
        #expect(try fixture.text("stays") == #"{"n":1}"#)
        let token = try fixture.store.past.lastToken()
        try fixture.save("r7", "{}")
        #expect(try fixture.store.past.lastToken() == token + 1)
        try fixture.expectSound()
    }

    @Test("of a record that is there the last ten versions stay, and the last change of each field")
    func versions() throws {
        let fixture = try StoreFixture(.local)
        try fixture.save("a", #"{"old":1,"n":0}"#)
        for number in 1...30 { try fixture.save("a", #"{"old":1,"n":\#(number)}"#) }
        fixture.clock.advance(Self.day * 91)
        try keepSmall(fixture.store)
        let kept = try versions(fixture, "a")
        #expect(kept.count == 11)
        #expect(kept.first?.kind == .created)
        try fixture.save("a", #"{"old":1,"n":31}"#)
        fixture.clock.advance(Self.day * 89)
        try keepSmall(fixture.store)
        #expect(try versions(fixture, "a").count == 11)
        try fixture.expectSound()
    }

    @Test("a collection at once counts first, and then removes just that")
    func atOnce() throws {
        let fixture = try StoreFixture(.local)
        for number in 0..<300 {
            let id = try fixture.save("r\(number)", #"{"n":\#(number)}"#).id
            if number % 2 == 0 { try fixture.delete(id) }
        }
        #expect(try fixture.store.upkeep.collectGarbage(isRehearsal: true).versions == 0)
        fixture.clock.advance(Self.day * 91)
        let counted = try fixture.store.upkeep.collectGarbage(isRehearsal: true)
        #expect(counted.deletedRecords == 150)
        let done = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        #expect(done.deletedRecords == 150 && done.versions == 300)
        let again = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        #expect(again.deletedRecords == 0 && again.versions == 0)
        #expect(try fixture.store.syncState.counts().records == 150)
        try fixture.expectSound()
    }

    @Test("a version that the server has, or that is on its way, stays")
    func ofServer() throws {
        let fixture = try StoreFixture()
        try fixture.upsert("a", ["n": .int64(0)])
        for number in 1...30 { try fixture.save("a", #"{"n":\#(number)}"#) }
        let id = try #require(try fixture.record("a")).id
        try fixture.upsert("gone", ["n": .int64(0)])
        try fixture.delete(try #require(try fixture.record("gone")).id)
        fixture.clock.advance(Self.day * 91)
        try keepSmall(fixture.store)
        #expect(try versions(fixture, "gone").count == 2)
        #expect(try versions(fixture, "a").count >= 11)
        _ = id
        try fixture.expectSound()
    }

    @Test("a store that did not give space back does so after one collection")
    func oldStore() throws {
        let fixture = try StoreFixture()
        try fixture.whileClosed { path in
            let queue = try SQLQueue(path: path)
            try queue.use { connection throws(RecordError) in
                try connection.execute("PRAGMA auto_vacuum = NONE")
                try connection.execute("VACUUM")
            }
            queue.close()
        }
        let filler = String(repeating: "x", count: 20_000)
        for number in 0..<200 { try fixture.save("r\(number)", #"{"t":"\#(filler)"}"#) }
        for entry in try fixture.store.records(in: fixture.note, after: RecordID(0), limit: 2000) {
            try fixture.delete(entry.id)
        }
        fixture.clock.advance(Self.day * 91)
        try keepSmall(fixture.store)
        #expect(try fixture.store.syncState.counts().databaseBytes > 3_000_000)
        let result = try fixture.store.upkeep.collectGarbage(isRehearsal: false)
        #expect(result.bytesAfter < 1_000_000 && result.bytesBefore > 3_000_000)
        let mode = try SQLQueue(path: fixture.directory + "/store.sqlite").read {
            connection throws(RecordError) in
            try connection.first("PRAGMA auto_vacuum") { $0.int64(0) }
        }
        #expect(mode == 2)
        try fixture.expectSound()
    }
}
