import Foundation
import RecordModel
import RecordSQL
import RecordStore
import RecordStoreSync
import Testing

/// Stores as earlier versions left them: each version's stays, for a published migration may never
/// lose what it found.
@Suite struct MigrationTests {
    /// A state directory with the database of an earlier version.
    private func directory(with database: String) throws -> String {
        let saved = try #require(
            Bundle.module.path(forResource: database, ofType: "sqlite", inDirectory: "Fixtures"))
        let directory = temporaryDirectory()
        let files = FileManager.default
        try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try files.copyItem(atPath: saved, toPath: directory + "/store.sqlite")
        return directory
    }

    @Test("a store of the first version opens with all it held")
    func firstVersion() throws {
        let directory = try directory(with: "v1")
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = FileManager.default
        let bytes = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        try files.createDirectory(
            atPath: directory + "/assets/2c", withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: URL(filePath: directory + "/assets/2c/" + bytes))

        let store = try RecordStore.open(directory: directory)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
        let zone = try #require(try store.zone(.private, .me, ZoneName("Box")))
        let note = try #require(try store.type(zone.id, RecordTypeName("Note"))).id
        let listed = try store.records(in: note, limit: 10)
        #expect(listed.map(\.stem) == [Stem("saved"), Stem("draft")])
        let text = try store.text(of: listed[0].id).map { String(decoding: $0, as: UTF8.self) }
        #expect(text?.hasPrefix(#"{"title": "Soup", "n": 2, "photo": {"$asset": "#) == true)
        #expect(try store.assets.assets(of: listed[0].id).map(\.hash?.hex) == [bytes])
        #expect(try store.draft(of: listed[1].id)?.error.position?.column == 11)
        #expect(try store.record(note, Stem("waiting"))?.state == .waitingDelete)
        #expect(try store.past.trash(in: note).map(\.stem) == [Stem("deleted")])
        #expect(
            try store.past.lastTrashed(in: zone.id, type: RecordTypeName("Note"), Stem("deleted"))
                != nil)
        #expect(try store.past.history(of: RecordName("saved"), in: zone.id).count == 3)
        #expect(try store.index.search(zone.id, words: "soup").map(\.stem) == [Stem("saved")])
        #expect(
            try store.syncState.outbox(limit: 10).map(\.name) == [
                RecordName("saved"), RecordName("waiting"),
            ])
        #expect(try store.reserveRecordID().rawValue > 3)
        try store.close()
    }

    @Test("a store that was made before sharing was kept opens, and has its columns")
    func beforeSharing() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try RecordStore.open(directory: directory).close()
        let queue = try SQLQueue(path: directory + "/store.sqlite")
        try queue.use { connection throws(RecordError) in
            try connection.execute(
                """
                DROP TABLE share;
                DROP TABLE move;
                ALTER TABLE zone DROP COLUMN user;
                ALTER TABLE trash DROP COLUMN is_own;
                DELETE FROM grdb_migrations WHERE identifier LIKE '2026-11-25%';
                PRAGMA user_version = 0;
                """)
        }
        queue.close()
        let store = try RecordStore.open(directory: directory)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
        try store.write(author: .sync) { transaction throws(RecordError) in
            let zone = try transaction.feed.makeSharedZone(
                of: OwnerName("_a"), address: OwnerName("a@h"), ZoneName("Box"))
            try transaction.sharing.noteShare(
                Share(name: RecordName("s"), root: nil, permission: .readOnly, text: [0x7b, 0x7d]),
                of: zone.id)
        }
        #expect(try !store.past.hasMoves() && store.sharing.endingShares().isEmpty)
        try store.close()
    }

    @Test(
        "records that showed as they had come show as their names say, and a draft is beside them")
    func stems() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let old = try RecordStore.open(directory: directory)
        let type = try old.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Box"))
            let type = try transaction.makeType(zone.id, RecordTypeName("Note")).id
            _ = try transaction.records.save(
                text: Array("{}".utf8), type: type, stem: Stem("x:Note"))
            _ = try transaction.records.saveDraft(
                text: Array("{ half".utf8), type: type, stem: Stem("y"),
                error: RecordError(.invalidJSON, "expected a value"))
            return type
        }
        try old.close()
        let queue = try SQLQueue(path: directory + "/store.sqlite")
        try queue.use { connection throws(RecordError) in
            try connection.execute(
                """
                UPDATE record SET stem = name WHERE name IS NOT NULL;
                UPDATE record SET stem = CAST('x:Note' AS BLOB) WHERE name IS NULL;
                DELETE FROM grdb_migrations WHERE identifier = '2026-11-26 stems';
                PRAGMA user_version = 0;
                """)
        }
        queue.close()
        let store = try RecordStore.open(directory: directory)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
        #expect(try store.record(type, Stem("x:Note"))?.state == .saved)
        let stems = try store.records(in: type, limit: 10).map(\.stem.description)
        #expect(stems.count == 2 && stems.contains { $0.hasPrefix("x:Note-draft-") })
        try store.close()
    }

    @Test("what the server had and what is to be sent outlive the version that stored base texts")
    func baseTexts() throws {
        let directory = try directory(with: "checksums")
        defer { try? FileManager.default.removeItem(atPath: directory) }

        let store = try RecordStore.open(directory: directory)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
        let zone = try #require(try store.zone(.private, .me, ZoneName("Box")))
        let claims = try store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: zone.id)
        }
        #expect(claims.map(\.row.name.description) == ["mine", "edited", "deleted"])
        #expect(claims.map(\.row.operation) == [.create, .update, .delete])
        #expect(claims.map(\.base?.changeTag) == [nil, "t1", "t1"])
        let base = "{\n  \"n\": 7,\n  \"s\": \"base\"\n}\n"
        #expect(claims.map(\.base?.text) == [nil, Array(base.utf8), Array(base.utf8)])
        try store.close()
    }
}
