import Foundation
import RecordModel
import RecordSQL
import TestSupport
import Testing

@testable import RecordStore

/// Random stores that are recovered: what only this machine has is in files, and nothing else.
@Suite struct RecoveryWalkTests {
    @Test(
        "a recovery writes what no server has as the files showed it, and counts the rest",
        arguments: LongForm.seeds(10, of: 200))
    func whole(_ seed: Int) throws {
        let walk = try RecoveryWalk(seed: UInt64(seed))
        for _ in 1...40 { try walk.step() }
        try walk.recover("seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }

    @Test(
        "whatever page is damaged, it is set aside as it was, and nothing is made up",
        arguments: LongForm.seeds(3, of: 30))
    func damaged(_ seed: Int) throws {
        let walk = try RecoveryWalk(seed: UInt64(seed))
        for _ in 1...60 { try walk.step() }
        try walk.recoverDamaged("seed \(seed)")
    }

    @Test("the refused text of a record that the server has is written, over the record's own")
    func draftOfSent() throws {
        let fixture = try StoreFixture()
        for (stem, draft) in [("a", "{ an hour of work"), ("b", nil), ("c", "")] {
            try fixture.save(stem, #"{"n":1}"#)
            if let draft {
                try fixture.sendAll()
                _ = try fixture.draft(stem, draft)
            }
        }
        try fixture.sendAll()
        try fixture.save("d", #"{"n":2}"#)
        _ = try fixture.draft("d", "")
        try fixture.store.close()
        let recovery = try RecordStore.recover(directory: fixture.directory, name: "t")
        #expect(recovery.sentCount == 2 && recovery.unsentCount == 2)
        #expect(
            try RecoveryWalk.files(fixture.directory + "/unsent-t") == [
                "private/Box/Note/a.json": "{ an hour of work",
                "private/Box/Note/d.json": #"{"n":2}"#,
            ])
        try fixture.reopen()
    }
}

private final class RecoveryWalk {
    private let fixture: StoreFixture
    private let own: TypeID
    private var random: SeededRandom
    /// The text that the file of each record shows, by its path in the recovery.
    private var shown: [String: String] = [:]
    /// The texts that the records ever had, with the refused ones.
    private var texts: Set<String> = []
    /// The records that the server has as they are here.
    private var sent: Set<String> = []
    private(set) var steps: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        own = try fixture.write { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.local, .me, ZoneName("Own"))
            return try transaction.makeType(zone.id, RecordTypeName("Note")).id
        }
    }

    func step() throws {
        fixture.clock.advance(.seconds(1))
        let (type, place) =
            random.below(3) == 0 ? (own, "local/Own/Note") : (fixture.note, "private/Box/Note")
        let stem = "r\(random.below(6))"
        let path = "\(place)/\(stem).json"
        let entry = try fixture.record(stem, type: type)
        switch random.below(9) {
        case 0, 1, 2:
            let text = "{\"n\":\(random.below(4)), \"t\":\"\(steps.count)\"}"
            try fixture.save(stem, text, type: type)
            note(path, text)
        case 3:
            try fixture.sendAll(tag: "t\(steps.count)")
            for (path, text) in shown where path.hasPrefix("private") && text.hasPrefix("{\"n") {
                sent.insert(path)
            }
        case 4: try draft(stem, type, path, "{ half \(steps.count)")
        case 5: try draft(stem, type, path, "")
        case 6:
            guard let entry, !entry.isHidden else { return }
            try fixture.beginDelete(entry.id)
            shown[path] = nil
            sent.remove(path)
        case 7:
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        default:
            guard let entry, entry.hasDraft else { return }
            let rest = try fixture.write { transaction throws(RecordError) in
                try transaction.records.discardDraft(entry.id)
            }
            shown[path] = nil
            sent.remove(path)
            if rest != nil { try noteSaved(path, entry.id) }
        }
        steps.append("\(path)")
    }

    private func note(_ path: String, _ text: String) {
        shown[path] = text
        sent.remove(path)
        texts.insert(text)
    }

    /// A record whose saved text shows again: whether the server has it is in the outbox.
    private func noteSaved(_ path: String, _ id: RecordID) throws {
        note(path, try #require(try fixture.savedText(id)))
        guard path.hasPrefix("private") else { return }
        if try fixture.store.meta(of: id)?.isPending == false { sent.insert(path) }
    }

    private func draft(_ stem: String, _ type: TypeID, _ path: String, _ text: String) throws {
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.saveDraft(
                text: Array(text.utf8), type: type, stem: Stem(stem),
                error: RecordError(.invalidJSON, "expected a value"))
        }
        if text.isEmpty, entry.state == .saved {
            // The file is empty, because a save has begun. The record below is what counts.
            try noteSaved(path, entry.id)
        } else {
            note(path, text)
        }
    }

    /// The files below a directory with their contents.
    static func files(_ folder: String) throws -> [String: String] {
        var files: [String: String] = [:]
        guard let walk = FileManager.default.enumerator(atPath: folder) else { return [:] }
        for case let name as String in walk where name.hasSuffix(".json") {
            let data = try #require(FileManager.default.contents(atPath: "\(folder)/\(name)"))
            files[name] = String(decoding: data, as: UTF8.self)
        }
        return files
    }

    func recover(_ comment: String) throws {
        let right = shown.filter { !sent.contains($0.key) }
        try fixture.store.close()
        let recovery = try RecordStore.recover(directory: fixture.directory, name: "t")
        let found = try Self.files(fixture.directory + "/unsent-t")
        for path in Set(found.keys).union(right.keys) {
            #expect(found[path] == right[path], "\(comment): \(path)")
        }
        #expect(recovery.losses == [] && recovery.unsentCount == right.count, "\(comment)")
        #expect(recovery.sentCount == sent.count, "\(comment)")
        try expectEmpty()
    }

    private func expectEmpty() throws {
        try fixture.reopen()
        #expect(try Database.allCases.allSatisfy { try fixture.store.zones(in: $0).isEmpty })
        try fixture.expectSound()
    }

    func recoverDamaged(_ comment: String) throws {
        try fixture.store.close()
        let path = fixture.directory + "/store.sqlite"
        let whole = try Data(contentsOf: URL(filePath: path))
        let pages = whole.count / 4096
        for page in stride(from: random.below(3), to: pages, by: 3) {
            var damaged = whole
            let start = page * 4096
            let byte: UInt8 = random.below(2) == 0 ? 0 : 0xA5
            damaged.replaceSubrange(
                start..<start + 4096, with: Data(repeating: byte, count: 4096))
            try damaged.write(to: URL(filePath: path))
            let recovery = try RecordStore.recover(directory: fixture.directory, name: "\(page)")
            let kept = FileManager.default.contents(atPath: recovery.aside + "/store.sqlite")
            #expect(kept == damaged, "\(comment), page \(page)")
            let found = try Self.files(fixture.directory + "/unsent-\(page)")
            for (path, text) in found where !text.isEmpty {
                #expect(texts.contains(text), "\(comment), page \(page): \(path) has \(text)")
            }
            let isComplete = shown.allSatisfy { path, text in
                found[path] == text || sent.contains(path)
            }
            #expect(isComplete || !recovery.losses.isEmpty, "\(comment), page \(page)")
            let store = try RecordStore.open(directory: fixture.directory)
            #expect(try store.upkeep.integrityCheck(deep: true) == [])
            try store.close()
            for end in ["", "-wal", "-shm"] where access(path + end, F_OK) == 0 {
                try FileManager.default.removeItem(atPath: path + end)
            }
        }
        try expectEmpty()
    }
}
