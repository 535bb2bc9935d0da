import Foundation
import RecordModel
import RecordSQL
import Testing

@testable import RecordStore

/// A store with one bit changed is refused, or reads as before, or says what is wrong: at the read,
/// or in the deep check. Never is a text another one without a word.
///
/// Times, the index flags of a schema, and who changed something have no checksum: they are left
/// out here.
@Suite struct FlippedBitTests {
    /// What a store shows: the words of each thing by its place.
    private typealias Shown = [String: String]

    /// A byte of each so many is flipped; RECORDFS_FLIP_STRIDE=1 flips each one, in some minutes.
    private static let stride =
        ProcessInfo.processInfo.environment["RECORDFS_FLIP_STRIDE"].flatMap { Int($0) } ?? 11

    @Test("bytes of the database, one at a time, are harmless, refused or told")
    func database() throws {
        let directory = try Self.makeStore()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/store.sqlite"
        let whole = try Data(contentsOf: URL(filePath: path))
        if let kept = ProcessInfo.processInfo.environment["RECORDFS_FLIP_KEEP"] {
            try whole.write(to: URL(filePath: kept))
        }
        let truth = try Self.read(directory)
        #expect(truth.problems.isEmpty && truth.error == nil, "\(truth)")
        #expect(truth.shown.count > 15)
        var told = 0
        for offset in Swift.stride(from: 0, to: whole.count, by: Self.stride) {
            var flipped = whole
            flipped[offset] ^= 1 << UInt8(offset % 8)
            try flipped.write(to: URL(filePath: path))
            let found = try Self.read(directory)
            if found.error != nil || !found.problems.isEmpty { told += 1 }
            Self.judge(found, truth.shown, "byte \(offset)")
            for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
                try FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        #expect(told * Self.stride > 5000, "only \(told) were noticed")
    }

    @Test("a store with a changed byte is opened for writing, saved to and closed, or refused")
    func writing() throws {
        let directory = try Self.makeStore()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/store.sqlite"
        let whole = try Data(contentsOf: URL(filePath: path))
        for offset in Swift.stride(from: 5, to: whole.count, by: Self.stride * 5) {
            var flipped = whole
            flipped[offset] ^= 1 << UInt8(offset % 8)
            try flipped.write(to: URL(filePath: path))
            do throws(RecordError) {
                let store = try RecordStore.open(directory: directory)
                do throws(RecordError) {
                    try Self.change(store)
                } catch {
                    #expect(error.code != .invalidJSON, "\(error)")
                }
                try store.close()
            } catch {
                #expect([.corrupt, .ioFailure, .storeTooNew].contains(error.code), "\(error)")
            }
            for suffix in ["-wal", "-shm"] where access(path + suffix, F_OK) == 0 {
                try FileManager.default.removeItem(atPath: path + suffix)
            }
        }
    }

    @Test("each byte of an asset file, one at a time, is refused when it is read")
    func asset() throws {
        let directory = try Self.makeStore()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try RecordStore.openForReading(directory: directory)
        let hash = SHA256.hash(Array("hello asset".utf8))
        let path = store.assets.assetPath(hash)
        let whole = try Data(contentsOf: URL(filePath: path))
        for offset in whole.indices {
            for bit in 0..<8 {
                var flipped = whole
                flipped[offset] ^= 1 << UInt8(bit)
                try flipped.write(to: URL(filePath: path))
                let error = failure { try store.assets.checkAsset(hash, size: Int64(whole.count)) }
                #expect(error?.code == .corrupt)
                // As the medium does it, without a write: nothing but the deep check reads it.
                AssetFiles(places: store.places).seal(path, hash)
                #expect(!(try store.upkeep.integrityCheck(deep: true)).isEmpty)
            }
        }
        try store.close()
    }

    // MARK: The store

    /// Small pages, so that the whole is some 20 000 bytes.
    private static func makeStore() throws -> String {
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let empty = try SQLQueue(path: directory + "/store.sqlite")
        try empty.use { connection throws(RecordError) in
            try connection.execute("PRAGMA page_size = 512; PRAGMA journal_mode = WAL")
        }
        empty.close()
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
            let first = try save("first", #"{"title": "Soup", "n": 1}"#)
            _ = try save("first", #"{"title": "Soup", "n": 2}"#)
            _ = try transaction.assets.setAsset(
                first, FieldName("photo"), nil, hash, size: size, fileExtension: Array("jpg".utf8))
            _ = try save("second", #"{"title": "Stew", "tags": ["a", "b"]}"#)
            _ = try transaction.records.saveDraft(
                text: Array(#"{"title": "#.utf8), type: note, stem: Stem("second"),
                error: RecordError(.invalidJSON, "expected a value"))
            try transaction.merging.putBase(
                first, "tag", .text(Array(#"{"title": "Soup"}"#.utf8)), .printed)
            try transaction.records.finalizeDelete(try save("gone", #"{"title": "Gone"}"#))
            try transaction.records.beginDelete(try save("waiting", #"{"title": "Wait"}"#))
        }
        try store.close()
        return directory
    }

    private static func change(_ store: RecordStore) throws(RecordError) {
        guard let zone = try store.zone(.private, .me, ZoneName("Box")),
            let type = try store.type(zone.id, RecordTypeName("Note"))
        else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.records.save(
                text: Array(#"{"title": "New", "n": 3}"#.utf8), type: type.id,
                stem: Stem("first"))
            _ = try transaction.records.save(
                text: Array(#"{"title": "Third"}"#.utf8), type: type.id, stem: Stem("third"))
        }
        _ = try store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        try store.assets.collectAssets()
    }

    // MARK: Reading

    private struct Found {
        var shown: Shown = [:]
        var problems: [String] = []
        var error: RecordError?
        /// Parts that were not read for an error.
        var refused: Set<String> = []
    }

    private static func read(_ directory: String) throws -> Found {
        var found = Found()
        do throws(RecordError) {
            let store = try RecordStore.openForReading(directory: directory)
            found.problems = try store.upkeep.integrityCheck(deep: true)
            do throws(RecordError) {
                try readAll(store, into: &found)
            } catch {
                found.error = error
            }
            try store.close()
        } catch {
            found.error = error
        }
        return found
    }

    private static func readAll(_ store: RecordStore, into found: inout Found) throws(RecordError) {
        for database in Database.allCases {
            for zone in try store.zones(in: database) {
                found.shown["zone \(zone.name)"] = "\(database) \(zone.owner) \(zone.permission)"
                for type in try store.types(in: zone.id) {
                    found.shown["type \(type.name)"] = "\(zone.name)"
                    let fields = try store.schema(of: type.name).fields
                    found.shown["schema \(type.name)"] = "\(fields.map { "\($0.name) \($0.type)" })"
                    try readRecords(store, type, into: &found)
                    for trash in try store.past.trash(in: type.id) {
                        try part("trash \(trash.name)", &found) { () throws(RecordError) in
                            try store.past.trashed(trash.id)?.text
                        }
                    }
                }
            }
        }
        for version in try store.past.changes(after: 0, limit: 100) {
            found.shown["version \(version.token)"] =
                "\(version.name) \(version.kind) \(String(decoding: version.text, as: UTF8.self))"
        }
        for row in try store.syncState.outbox(limit: 100) {
            found.shown["outbox \(row.name)"] = "\(row.operation) \(row.type)"
        }
    }

    private static func readRecords(
        _ store: RecordStore, _ type: TypeInfo, into found: inout Found
    ) throws(RecordError) {
        for entry in try store.records(in: type.id, limit: 100) {
            found.shown["entry \(entry.stem)"] =
                "\(entry.state) \(entry.hasDraft) \(entry.hasAssets) \(entry.size)"
            try part("text \(entry.stem)", &found) { () throws(RecordError) in
                try store.text(of: entry.id)
            }
            try part("saved \(entry.stem)", &found) { () throws(RecordError) in
                try store.savedText(of: entry.id)
            }
            for asset in try store.assets.assets(of: entry.id) {
                found.shown["asset \(entry.stem) \(asset.field)"] =
                    "\(asset.size) \(asset.hash?.hex ?? "") \(asset.fileExtension)"
            }
        }
    }

    private static func part(
        _ name: String, _ found: inout Found, _ read: () throws(RecordError) -> [UInt8]?
    ) throws(RecordError) {
        do throws(RecordError) {
            found.shown[name] = try read().map { String(decoding: $0, as: UTF8.self) }
        } catch {
            found.error = error
            found.refused.insert(name)
        }
    }

    private static func judge(_ found: Found, _ truth: Shown, _ place: String) {
        for (name, value) in found.shown where truth[name] != value {
            let isText = name.hasPrefix("text") || name.hasPrefix("saved")
            if isText, truth[name] != nil {
                Issue.record("\(place): \(name) is \(value) without an error")
            } else if found.error == nil && found.problems.isEmpty {
                Issue.record("\(place): \(name) is \(value), was \(truth[name] ?? "absent")")
            }
        }
        guard found.error == nil, found.problems.isEmpty else { return }
        for name in truth.keys where found.shown[name] == nil {
            Issue.record("\(place): \(name) is gone without a word")
        }
    }
}
