import Foundation
import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

/// A damaged database is set aside, and what no server has of it is written to files.
@Suite("Recovery of a damaged store")
struct RecoveryTests {
    private let folder: TemporaryDirectory
    private var directory: String { folder.path }
    private var database: String { directory + "/store.sqlite" }
    private var unsent: String { directory + "/unsent-t" }

    init() throws {
        folder = try TemporaryDirectory()
        try makeStore()
    }

    /// The records sent, edited and fresh of a zone of the server, own of a local one, and a draft.
    private func makeStore() throws {
        let store = try RecordStore.open(directory: directory)
        let file = directory + "/scratch/in"
        try Data("hello asset".utf8).write(to: URL(filePath: file))
        let (hash, size) = try store.assets.importAsset(fromFile: file)
        try FileManager.default.removeItem(atPath: file)
        try store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Box"))
            let note = try transaction.makeType(zone.id, RecordTypeName("Note")).id
            func save(_ stem: String, _ text: String) throws(RecordError) -> RecordID {
                try transaction.records.save(text: Array(text.utf8), type: note, stem: Stem(stem))
                    .id
            }
            let sent = try save("sent", #"{"n": 1}"#)
            try transaction.merging.putBase(sent, "tag", .text(Array(#"{"n": 1}"#.utf8)), .printed)
            let edited = try save("edited", #"{"n": 1}"#)
            try transaction.merging.putBase(
                edited, "tag", .text(Array(#"{"n": 1}"#.utf8)), .printed)
            try transaction.connection.run("DELETE FROM outbox")
            _ = try save("edited", #"{"n": 2}"#)
            let fresh = try save("fresh", #"{"n": 3}"#)
            _ = try transaction.assets.setAsset(
                fresh, FieldName("photo"), nil, hash, size: size, fileExtension: Array("jpg".utf8))
            _ = try save("drafted", #"{"n": 4}"#)
            _ = try transaction.records.saveDraft(
                text: Array(#"{"n": "#.utf8), type: note, stem: Stem("drafted"),
                error: RecordError(.invalidJSON, "expected a value"))
            try transaction.records.beginDelete(try save("removed", #"{"n": 5}"#))
            let local = try transaction.makeZone(.local, .me, ZoneName("Own"))
            let own = try transaction.makeType(local.id, RecordTypeName("Note")).id
            _ = try transaction.records.save(
                text: Array(#"{"n": 6}"#.utf8), type: own, stem: Stem("own"))
        }
        try store.close()
    }

    /// What is in the files of the recovery, by their paths.
    private func files() throws -> [String: String] {
        var files: [String: String] = [:]
        let walk = try #require(FileManager.default.enumerator(atPath: unsent))
        for case let name as String in walk {
            guard let data = FileManager.default.contents(atPath: "\(unsent)/\(name)") else {
                continue
            }
            if !data.isEmpty { files[name] = String(decoding: data, as: UTF8.self) }
        }
        return files
    }

    /// The new store is empty, and works.
    private func expectUsable() throws {
        let store = try RecordStore.open(directory: directory)
        for database in Database.allCases { #expect(try store.zones(in: database).isEmpty) }
        #expect(try store.upkeep.integrityCheck(deep: true).isEmpty)
        try store.close()
    }

    private func expectUnsent(_ files: [String: String]) {
        #expect(files["private/Box/Note/edited.json"] == #"{"n": 2}"#)
        #expect(files["private/Box/Note/fresh.json"]?.contains("\"n\": 3") == true)
        #expect(files["private/Box/Note/fresh@photo.jpg"] == "hello asset")
        #expect(files["local/Own/Note/own.json"] == #"{"n": 6}"#)
        #expect(files["private/Box/Note/sent.json"] == nil)
        #expect(files["private/Box/Note/removed.json"] == nil)
    }

    /// Fills the first page of a table with zeros.
    private func damage(_ table: String) throws {
        let queue = try SQLQueue(path: database)
        let (page, size) = try queue.use { connection throws(RecordError) in
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            let page = try connection.first(
                "SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(table)]
            ) { $0.int64(0) }
            let size = try connection.first("PRAGMA page_size") { $0.int64(0) }
            return (page ?? 0, size ?? 0)
        }
        #expect(page > 0 && size > 0)
        queue.close()
        let file = try #require(FileHandle(forUpdatingAtPath: database))
        try file.seek(toOffset: UInt64((page - 1) * size))
        try file.write(contentsOf: Data(repeating: 0, count: Int(size)))
        try file.close()
    }

    @Test("a whole store gives all that no server has, and the rest is counted")
    func whole() throws {
        let recovery = try RecordStore.recover(directory: directory, name: "t")
        #expect(recovery.losses.isEmpty, "\(recovery.losses)")
        #expect(recovery.sentCount == 1 && recovery.unsentCount == 4)
        let files = try files()
        expectUnsent(files)
        #expect(files["private/Box/Note/drafted.json"] == #"{"n": "#)
        #expect(access(recovery.aside + "/store.sqlite", F_OK) == 0)
        try expectUsable()
    }

    @Test(
        "what can be read of a damaged store is saved, and what cannot is told",
        arguments: [
            "record_text", "history", "outbox", "base", "draft", "record_search_data", "meta",
        ])
    func damaged(table: String) throws {
        try damage(table)
        let recovery = try RecordStore.recover(directory: directory, name: "t")
        if table == "history" {
            // All texts of this small store were on that page.
            #expect(try files() == ["private/Box/Note/drafted.json": #"{"n": "#])
        } else {
            expectUnsent(try files().filter { $0.key != "private/Box/Note/sent.json" })
        }
        let isRead = !["record_search_data", "meta"].contains(table)
        #expect(recovery.losses.contains { $0.contains(table) } == isRead, "\(recovery.losses)")
        try expectUsable()
    }

    @Test("records whose rows are lost are saved as their last versions name them")
    func lostRows() throws {
        try damage("record")
        let recovery = try RecordStore.recover(directory: directory, name: "t")
        #expect(recovery.losses == ["A part of the table record cannot be read."])
        let files = try files()
        // That a record waited for its deletion was in its row.
        expectUnsent(files.filter { $0.key != "private/Box/Note/removed.json" })
        #expect(files["private/Box/Note/drafted.json"] == #"{"n": "#)
        #expect(recovery.sentCount == 1 && recovery.unsentCount == 5)
        try expectUsable()
    }

    @Test("texts are found in pages to which nothing leads any more, long ones too")
    func strayPages() throws {
        let store = try RecordStore.open(directory: directory)
        let type = try #require(
            try store.zones(in: .local).first.flatMap { try store.types(in: $0.id).first })
        let long = String(repeating: "long ", count: 5_000)
        try store.write(author: .mount) { transaction throws(RecordError) in
            for number in 0..<300 {
                for text in [
                    "{\"old\": true}",
                    "{\"n\": \(number), \"t\": \"\(number % 50 == 0 ? long : "short")\"}",
                ] {
                    _ = try transaction.records.save(
                        text: Array(text.utf8), type: type.id, stem: Stem("n\(number)"))
                }
            }
        }
        try store.close()
        try damage("history")
        let recovery = try RecordStore.recover(directory: directory, name: "t")
        #expect(recovery.losses == ["A part of the table history cannot be read."])
        let files = try files()
        expectUnsent(files.filter { $0.key != "private/Box/Note/sent.json" })
        for number in 0..<300 {
            #expect(
                files["local/Own/Note/n\(number).json"]
                    == "{\"n\": \(number), \"t\": \"\(number % 50 == 0 ? long : "short")\"}")
        }
    }

    @Test("of a file that is no database nothing is read, and it is set aside all the same")
    func garbage() throws {
        let garbage = Data(repeating: 7, count: 100_000)
        try garbage.write(to: URL(filePath: database))
        #expect(throws: RecordError.self) { try RecordStore.open(directory: directory) }
        let recovery = try RecordStore.recover(directory: directory, name: "t")
        #expect(!recovery.losses.isEmpty && recovery.unsent == nil)
        let kept = FileManager.default.contents(atPath: recovery.aside + "/store.sqlite")
        #expect(kept == garbage)
        try expectUsable()
    }

    @Test("a store that somebody uses is not touched")
    func inUse() throws {
        let store = try RecordStore.open(directory: directory)
        let error = failure { () throws(RecordError) in
            try RecordStore.recover(directory: directory, name: "t")
        }
        #expect(error?.code == .storeLocked)
        #expect(access(directory + "/damaged-t", F_OK) != 0)
        try store.close()
    }
}
