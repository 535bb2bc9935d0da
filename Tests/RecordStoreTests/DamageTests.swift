import Foundation
import RecordModel
import RecordSQL
import Testing

@testable import RecordStore
@testable import RecordStoreSync

/// Texts and asset files that are not what was stored.
@Suite struct DamageTests {
    private static let flip = "CAST(substr(text, 1, 5) || '8' || substr(text, 7) AS BLOB)"

    private func damage(_ fixture: StoreFixture, _ statement: String) throws {
        try fixture.write { transaction throws(RecordError) in
            try transaction.connection.run(statement)
        }
    }

    /// The record a with a changed byte, and b beside it.
    private func withDamagedRecord() throws -> (StoreFixture, RecordID) {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.save("b", #"{"n":1}"#)
        try damage(
            fixture, "UPDATE history SET text = \(Self.flip) WHERE record_id = \(id.rawValue)")
        return (fixture, id)
    }

    @Test("a changed byte in a record is an error with advice, and the check names the record")
    func record() throws {
        let (fixture, id) = try withDamagedRecord()
        for read in [fixture.store.text(of:), fixture.store.savedText(of:)] {
            let error = failure { try read(id) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains("record a") == true)
            #expect(error?.message.contains("recordfs restore --token") == true)
        }
        let problems = try fixture.store.upkeep.integrityCheck(deep: true)
        #expect(problems.contains { $0.contains("text of record a is damaged") }, "\(problems)")
        #expect(!problems.contains { $0.contains("record b") })
    }

    @Test("a damaged record is mended by its history, and by a whole new text")
    func mend() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.save("a", #"{"n":2}"#)
        let flipped = """
            UPDATE history SET text = \(Self.flip) WHERE token IN (SELECT version FROM record)
            """
        try damage(fixture, flipped)
        let token = try #require(try fixture.store.past.changes(after: 0, limit: 1).first?.token)
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.records.restoreVersion(token)
        }
        #expect(try fixture.savedText(id) == #"{"n":1}"#)
        // The damaged version stays one.
        var damages = ["Version 2 of record a is damaged."]
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == damages)
        try damage(fixture, flipped)
        #expect(try fixture.save("a", #"{"n":1}"#).outcome == .updated)
        #expect(try fixture.savedText(id) == #"{"n":1}"#)
        damages.append("Version 3 of record a is damaged.")
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == damages)
    }

    @Test(
        "a damaged record is not sent but parked with the reason, and what the server had is told")
    func outgoing() throws {
        let (fixture, _) = try withDamagedRecord()
        let claim = try #require(try fixture.claim().first)
        #expect(claim.row.name == RecordName("b"))
        let parked = try #require(try fixture.outbox().first { $0.name == RecordName("a") })
        #expect(parked.error?.contains("damaged") == true, "\(parked)")
        try fixture.complete(claim)
        // Its base is a version of history.
        try fixture.save("b", #"{"n":2}"#)
        try damage(
            fixture,
            """
            UPDATE history SET text = \(Self.flip)
            WHERE token NOT IN (SELECT version FROM record)
            """)
        let update = try #require(try fixture.claim().first)
        #expect(update.base?.changeTag == "t1" && update.base?.text == nil)
    }

    @Test("a damaged record can be removed, and its trash entry says that it is damaged")
    func remove() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try damage(fixture, "UPDATE history SET text = \(Self.flip)")
        try fixture.beginDelete(id)
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        #expect(try fixture.record("a") == nil)
        let trashed = try #require(try fixture.store.past.trash(in: fixture.note).first)
        #expect(failure { try fixture.store.past.trashed(trashed.id) }?.code == .corrupt)
    }

    @Test(
        "a changed byte in a version, a draft, the trash or a base is found and never read",
        arguments: ["history", "draft", "trash", "base"])
    func others(_ table: String) throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        _ = try fixture.draft("a", #"{"n":1,"#)
        try fixture.beginDelete(try fixture.save("gone", #"{"n":3}"#).id)
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        try fixture.write { transaction throws(RecordError) in
            try transaction.merging.putBase(id, "tag", .text(Array(#"{"n":1}"#.utf8)), .printed)
        }
        try fixture.expectSound()
        try damage(fixture, "UPDATE \(table) SET text = \(Self.flip) WHERE length(text) > 5")
        #expect(!(try fixture.store.upkeep.integrityCheck(deep: true)).isEmpty)
        let error = failure {
            _ = try fixture.store.past.changes(after: 0, limit: 10)
            for trash in try fixture.store.past.trash(in: fixture.note) {
                _ = try fixture.store.past.trashed(trash.id)
            }
            _ = try fixture.store.text(of: id)
            _ = try fixture.store.read { connection throws(RecordError) in
                // No text is how it says that there was one.
                if let base = try connection.sync.base(of: id), base.text == nil {
                    throw .damagedText("the base")
                }
            }
        }
        #expect(error?.code == .corrupt)
    }

    @Test("a record without its text is an error and not an empty file")
    func lostText() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try damage(fixture, "UPDATE record SET version = 99")
        #expect(failure { try fixture.store.text(of: id) }?.code == .corrupt)
    }

    @Test("an empty list is a record whatever type the field gets later")
    func emptyList() throws {
        let fixture = try StoreFixture()
        for value in [
            #""b""#, "1", "1.5", #"{"$timestamp":"2026-11-20T10:00:00.000Z"}"#, "[1]", "{}",
        ] {
            try fixture.save("first-\(value.count)", #"{"a":[]}"#, type: fixture.task)
            let fresh = try StoreFixture()
            try fresh.save("first", #"{"a":[]}"#)
            try fresh.save("second", #"{"a":\#(value)}"#)
            try fresh.expectSound()
            #expect(try fresh.save("first", #"{"a":[],"b":1}"#).outcome == .updated)
            try fresh.expectSound()
        }
    }

    // MARK: Asset files

    private func withAsset() throws -> (StoreFixture, RecordID, ContentHash, String) {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.setAsset(id, "photo", bytes: "hello")
        let hash = try #require(try fixture.store.assets.assets(of: id).first?.hash)
        return (fixture, id, hash, fixture.store.assets.assetPath(hash))
    }

    @Test("an asset file that was changed, cut, or removed is an error with its path and a way out")
    func changedAsset() throws {
        let (fixture, _, hash, path) = try withAsset()
        try fixture.store.assets.checkAsset(hash, size: 5)
        let changes: [(String, () throws -> Void)] = [
            ("was changed", { try Data("hellO".utf8).write(to: URL(filePath: path)) }),
            ("has 0 bytes", { try Data().write(to: URL(filePath: path)) }),
            ("is missing", { try FileManager.default.removeItem(atPath: path) }),
        ]
        for (words, change) in changes {
            try change()
            let error = failure { try fixture.store.assets.checkAsset(hash, size: 5) }
            #expect(error?.code == .corrupt)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
            #expect(error?.message.contains(path) == true)
            #expect(!(try fixture.store.upkeep.integrityCheck(deep: true)).isEmpty)
        }
        let other = try fixture.save("b", #"{"n":1}"#).id
        try fixture.setAsset(other, "photo", bytes: "hello")
        try fixture.store.assets.checkAsset(hash, size: 5)
        try fixture.expectSound()
    }

    @Test("the bytes written anew replace a changed file of the same name and size")
    func healedAsset() throws {
        let (fixture, id, hash, path) = try withAsset()
        try Data("hellO".utf8).write(to: URL(filePath: path))
        try fixture.setAsset(id, "photo", bytes: "hello")
        try fixture.store.assets.checkAsset(hash, size: 5)
        try fixture.expectSound()
    }

    @Test("a file that was copied without its times is read once and good again")
    func unsealedAsset() throws {
        let (fixture, _, hash, path) = try withAsset()
        let files = AssetFiles(places: fixture.store.places)
        #expect(files.isSealed(hash, size: 5))
        try Data("hello".utf8).write(to: URL(filePath: path))
        #expect(!files.isSealed(hash, size: 5))
        try fixture.store.assets.checkAsset(hash, size: 5)
        #expect(files.isSealed(hash, size: 5))
    }

    @Test("a text that claims the hash of a damaged file does not take its size from the file")
    func claimedSize() throws {
        let (fixture, id, hash, path) = try withAsset()
        let text = try #require(try fixture.savedText(id))
        try Data().write(to: URL(filePath: path))
        try fixture.save("copy", text)
        let copy = try #require(try fixture.record("copy"))
        #expect(try fixture.store.assets.assets(of: copy.id).allSatisfy { $0.size == 5 })
        #expect(failure { try fixture.store.assets.checkAsset(hash, size: 5) }?.code == .corrupt)
    }

    /// Changes rows and leaves an index as it was, as a disk with errors does.
    private func change(_ path: String, without index: String, _ statement: String) throws {
        func run(_ statements: [String]) throws {
            let queue = try SQLQueue(path: path)
            defer { queue.close() }
            try queue.use { connection throws(RecordError) in
                try connection.execute("PRAGMA writable_schema = ON")
                for statement in statements { try connection.execute(statement) }
            }
        }
        try run([
            "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = '\(index)'",
            "DELETE FROM sqlite_schema WHERE name = '\(index)'",
        ])
        try run([statement])
        try run(["INSERT INTO sqlite_schema SELECT * FROM kept", "DROP TABLE kept"])
    }

    @Test("a deletion that waits only in the index is damage, and no walk without end")
    func waitingOnlyInIndex() throws {
        let fixture = try StoreFixture()
        try fixture.beginDelete(try fixture.save("a", #"{"n":1}"#).id)
        try fixture.whileClosed { path in
            try change(
                path, without: "record_waiting", "UPDATE record SET waiting_since = NULL")
        }
        let error = failure {
            try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        }
        #expect(error?.code == .corrupt && error?.message.contains("fsck --recover") == true)
        #expect(!(try fixture.store.upkeep.integrityCheck()).isEmpty)
    }

    @Test("a walk that would come back to rows that it has seen is damage")
    func walkThatComesBack() throws {
        try requireProgress(after: 4, to: 5, in: "record")
        try requireProgress(after: 4, to: Int64?.none, in: "record")
        for end in [4, 3] as [Int64] {
            let error = failure { try requireProgress(after: 4, to: end, in: "record") }
            #expect(error?.code == .corrupt)
        }
    }
}
