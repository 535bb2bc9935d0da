import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random saves, refused saves, deletions and news of a few records: a file shows the last text that
/// was written to it, and no accepted or refused text is lost without a trace.
@Suite struct DraftWalkTests {
    @Test(
        "a file shows what was written last, and what it does not show any more is kept",
        arguments: LongForm.seeds(12, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try DraftWalk(seed: UInt64(seed))
        try walk.take(70, seed: seed)
    }
}

private final class DraftWalk: StoreWalk {
    private struct File: Equatable {
        /// The number in the saved record. Nil where nothing was ever saved.
        var saved: Int64?
        var draft: String?
        var isWaiting = false
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    private var files: [String: File] = [:]
    private let names = ["a", "b", "c"]
    private var count: Int64 = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        count += 1
        let untold = try fixture.untold([fixture.note]) { steps.append(try step()) }
        differences += untold
        try expectModel()
        if steps.count.isMultiple(of: 10) { try fixture.expectSound() }
    }

    private func step() throws -> String {
        let name = random.pick(names)
        let id = try fixture.record(name)?.id
        switch random.below(10) {
        case 0, 1:
            try fixture.save(name, "{\"n\":\(count)}")
            files[name] = File(saved: count)
            return "save \(name) \(count)"
        case 2, 3, 4:
            let text = "{ half \(count)"
            _ = try fixture.draft(name, text)
            // The file is there again.
            files[name] = File(saved: files[name]?.saved, draft: text)
            return "refuse \(name) \(text)"
        case 5:
            guard let id, let file = files[name], file.draft != nil else { return "nothing" }
            let left = try fixture.write { transaction throws(RecordError) in
                try transaction.records.discardDraft(id)
            }
            files[name] = file.saved.map { File(saved: $0) }
            if (left == nil) != (file.saved == nil) { differences.append("\(name) is left wrong") }
            return "discard \(name)"
        case 6:
            guard let id, let file = files[name] else { return "nothing" }
            try fixture.beginDelete(id)
            files[name] = file.saved.map { File(saved: $0, isWaiting: true) }
            return "remove \(name)"
        case 7: return try endDeletions(name)
        case 8: return try tell(name)
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private func endDeletions(_ name: String) throws -> String {
        if random.below(2) == 0 {
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
            files = files.filter { !$0.value.isWaiting }
            return "finalize"
        }
        guard let id = try fixture.record(name)?.id else { return "nothing" }
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(id)
        }
        files[name]?.isWaiting = false
        return "cancel \(name)"
    }

    /// The server has everything from here, and reports a new value or a deletion.
    private func tell(_ name: String) throws -> String {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        files = files.filter { !$0.value.isWaiting }
        try fixture.sendAll(tag: "t\(count)")
        if random.below(3) == 0 {
            try fixture.remoteDelete(name)
            if let file = files[name], file.saved != nil {
                files[name] = file.draft.map { File(draft: $0) }
            }
            return "deleted there: \(name)"
        }
        try fixture.upsert(name, ["n": .int64(count)], tag: "r\(count)")
        files[name] = File(saved: count, draft: files[name]?.draft)
        return "told of \(name) \(count)"
    }

    private func expectModel() throws {
        var drafts: [String] = []
        for name in names {
            let entry = try fixture.record(name)
            guard let file = files[name] else {
                if let entry { differences.append("\(name) is here as \(entry.state)") }
                continue
            }
            guard let entry else {
                differences.append("\(name) is gone")
                continue
            }
            let state: RecordEntry.State =
                file.saved == nil ? .draftOnly : file.isWaiting ? .waitingDelete : .saved
            if entry.state != state { differences.append("\(name) is \(entry.state)") }
            let saved = try fixture.savedText(entry.id)
            if (saved.map(Self.number) ?? nil) != file.saved {
                differences.append("\(name) has \(saved ?? "-"), not \(file.saved ?? -1)")
            }
            let shown = try fixture.text(name)
            if shown != file.draft ?? saved { differences.append("\(name) shows \(shown ?? "-")") }
            if entry.hasDraft != (file.draft != nil) {
                differences.append("\(name)'s flag is wrong")
            }
            if entry.size != Int64(shown?.utf8.count ?? 0) {
                differences.append("\(name) has \(entry.size) bytes")
            }
            if file.draft != nil { drafts.append(name) }
        }
        let listed = try fixture.store.drafts(in: fixture.note).map(\.stem.description).sorted()
        if listed != drafts { differences.append("drafts \(listed), not \(drafts)") }
    }

    private static func number(_ text: String) -> Int64? {
        Int64(text.filter(\.isNumber))
    }
}
