import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random steps on one type, compared with a plain model after each transaction. The seed is the
/// test's argument; a seed that fails becomes a test of its own.
@Suite struct RandomHistoryTests {
    @Test(
        "a random history leaves what a plain model says, and a sound store",
        arguments: LongForm.seeds(20, of: 50))
    func history(_ seed: Int) throws {
        let walk = try RandomWalk(seed: UInt64(seed))
        for number in 1...200 {
            let step = try walk.step()
            try walk.expectModel("seed \(seed), step \(number): \(step)")
            if number % 50 == 0 { try walk.expectSound(number) }
        }
    }
}

private final class RandomWalk {
    private let fixture: StoreFixture
    private var model = HistoryModel()
    private var random: SeededRandom
    private let stems = (0..<6).map { Stem("r\($0)") }
    private var claimed: [OutboxClaim] = []
    private var tag = 0

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        try fixture.save("schema", #"{"n":1}"#, type: fixture.task)
    }

    /// Does one step in the store and in the model, and says which.
    func step() throws -> String {
        let stem = stems[random.below(stems.count)]
        switch random.below(14) {
        case 0, 1, 2: return try save(stem)
        case 3: return try draft(stem)
        case 4: return try discard(stem)
        case 5, 6: return try beginDelete(stem)
        case 7: return try cancelDelete(stem)
        case 8: return try finalize()
        case 9: return try rename(stem, to: stems[random.below(stems.count)])
        case 10: return try fail(stem)
        case 11: return try restore()
        case 12: return try send()
        default: return random.below(4) == 0 ? try reopen() : try asset(stem)
        }
    }

    // MARK: Steps

    private func save(_ stem: Stem) throws -> String {
        let number = random.below(4)
        let layout = random.below(2) == 0 ? "{\"n\":\(number)}" : "{ \"n\" : \(number) }\n"
        model.finishRename(of: stem)
        let old = model.entries[stem]
        let result = try fixture.save(stem.description, layout)
        let held = old?.saved == nil ? old?.files ?? [:] : [:]
        let text = try fixture.savedText(result.id) ?? ""
        // Files that came first are named by the text; all others go with a text without them.
        #expect(held.isEmpty ? text == layout : text.contains("$asset"))
        let outcome: SaveResult.Outcome =
            if let saved = old?.saved { values(saved) == values(text) ? .unchanged : .updated } else
            {
                .created
            }
        #expect(result.outcome == outcome)
        if let old { #expect(old.id == result.id) }
        model.entries[stem] = .init(id: result.id, saved: text, files: held)
        if outcome != .unchanged { model.versions[stem, default: 0] += 1 }
        return "save \(stem) \(outcome)"
    }

    private func draft(_ stem: Stem) throws -> String {
        let text = "{\(random.below(9))"
        model.finishRename(of: stem)
        let entry = try fixture.draft(stem.description, text)
        var new = model.entries[stem] ?? .init(id: entry.id)
        new.draft = text
        new.isWaiting = false
        #expect(new.id == entry.id)
        model.entries[stem] = new
        return "draft \(stem)"
    }

    private func discard(_ stem: Stem) throws -> String {
        guard let old = model.entries[stem], old.draft != nil else { return "discard nothing" }
        if try fixture.store.record(old.id)?.isAwaited == true {
            #expect(throws: RecordError.self) {
                try fixture.write { transaction throws(RecordError) in
                    _ = try transaction.records.discardDraft(old.id)
                }
            }
            return "nothing of \(stem) to discard"
        }
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.discardDraft(old.id)
        }
        if old.saved == nil, !old.files.isEmpty {
            // The files that came first wait for their record.
            #expect(entry?.size == 0)
            model.entries[stem]?.draft = ""
            return "empty \(stem)"
        }
        #expect((entry == nil) == (old.saved == nil))
        model.entries[stem]?.draft = nil
        if old.saved == nil { model.entries[stem] = nil }
        return "discard \(stem)"
    }

    private func beginDelete(_ stem: Stem) throws -> String {
        guard let old = model.entries[stem] else { return "delete nothing" }
        try fixture.beginDelete(old.id)
        if old.saved == nil {
            model.entries[stem]?.draft = ""
            if old.files.isEmpty { model.entries[stem] = nil }
        } else {
            model.entries[stem]?.isWaiting = true
            model.entries[stem]?.draft = nil
        }
        return "delete \(stem)"
    }

    private func cancelDelete(_ stem: Stem) throws -> String {
        guard let old = model.entries[stem] else { return "cancel nothing" }
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(old.id)
        }
        model.entries[stem]?.isWaiting = false
        return "cancel \(stem)"
    }

    private func finalize() throws -> String {
        #expect(
            try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount) == nil
        )
        for (stem, entry) in model.entries where entry.isWaiting {
            model.trash[stem, default: []].append(entry.saved ?? "")
            model.versions[stem, default: 0] += 1
            model.entries[stem] = nil
        }
        return "finalize"
    }

    private func rename(_ stem: Stem, to other: Stem) throws -> String {
        guard let old = model.entries[stem], !old.isWaiting, stem != other else {
            return "rename nothing"
        }
        let mayHold = old.saved == nil && !old.files.isEmpty
        let held = model.entries[other].map { $0.saved == nil && !$0.files.isEmpty } ?? false
        if mayHold || held { return "rename not of held files" }
        model.finishRename(of: other, replacedBy: old.id)
        let target = model.entries[other]
        let entry = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(old.id, toType: self.fixture.note, stem: other)
        }
        if let target { #expect(target.id == entry.id) }
        var new = HistoryModel.Entry(
            id: entry.id, saved: target?.saved, files: target?.files ?? [:])
        new.draft = old.draft
        if old.saved != nil {
            new.saved = try fixture.savedText(entry.id)
            new.files = old.files
            if target?.saved.map(values) != new.saved.map(values) {
                model.versions[other, default: 0] += 1
            }
        }
        model.entries[other] = new
        model.entries[stem]?.isWaiting = true
        model.entries[stem]?.draft = nil
        if old.saved == nil {
            model.entries[stem] = nil
        } else {
            model.noteRename(of: stem, to: other)
        }
        return "rename \(stem) to \(other)"
    }

    /// A transaction of several steps that fails leaves nothing.
    private func fail(_ stem: Stem) throws -> String {
        _ = fixture.changes()
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                for other in self.stems {
                    _ = try transaction.records.save(
                        text: Array(#"{"lost":"x"}"#.utf8), type: self.fixture.note, stem: other)
                }
                if let entry = try transaction.records.record(self.fixture.note, stem) {
                    try transaction.records.beginDelete(entry.id)
                    try transaction.records.finalizeDelete(entry.id)
                }
                throw RecordError(.interrupted, "stop")
            }
        }
        #expect(error?.code == .interrupted)
        #expect(fixture.changes().isEmpty)
        return "fail"
    }

    private func restore() throws -> String {
        guard let trash = try fixture.store.past.trash(in: fixture.note).first,
            model.entries[trash.stem] == nil
        else { return "restore nothing" }
        let entry = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(trash.id)
        }
        let last = model.trash[trash.stem]?.popLast()
        let text = try #require(last)
        model.entries[trash.stem] = .init(id: entry.id, saved: text)
        model.entries[trash.stem]?.files = try files(entry.id)
        #expect(text.contains("$asset") != (try files(entry.id).isEmpty))
        model.versions[trash.stem, default: 0] += 1
        return "restore \(trash.stem)"
    }

    /// The server takes some, refuses some, or is not reached.
    private func send() throws -> String {
        if claimed.isEmpty {
            claimed = try fixture.claim()
            return "claim \(claimed.count)"
        }
        for claim in claimed {
            tag += 1
            switch random.below(3) {
            case 0: try fixture.fail(claim)
            case 1 where claim.row.operation != .delete:
                try fixture.fail(claim, error: "refused")
            default: try fixture.complete(claim, tag: "t\(tag)")
            }
        }
        claimed = []
        return "answer"
    }

    private func reopen() throws -> String {
        try fixture.reopen()
        #expect(try fixture.outbox().allSatisfy { $0.batch == nil })
        claimed = []
        return "reopen"
    }

    private func asset(_ stem: Stem) throws -> String {
        guard let old = model.entries[stem], !old.isWaiting else { return "asset of nothing" }
        let bytes = "bytes \(random.below(3))"
        let before = try fixture.savedText(old.id)
        try fixture.setAsset(old.id, "file", bytes: bytes)
        model.entries[stem]?.files = ["file": bytes]
        if old.saved != nil {
            model.entries[stem]?.saved = try fixture.savedText(old.id)
            if old.files != ["file": bytes] { model.versions[stem, default: 0] += 1 }
            #expect((try fixture.savedText(old.id) == before) == (old.files == ["file": bytes]))
        }
        return "asset of \(stem)"
    }

    /// The values of a text whatever its layout, as its bytes without space.
    private func values(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    private func files(_ id: RecordID) throws -> [String: String] {
        var files: [String: String] = [:]
        for file in try fixture.files(id) {
            let parts = file.split(separator: "=", maxSplits: 1)
            files["file"] = parts.count > 1 ? String(parts[1]) : ""
        }
        return files
    }

    // MARK: Comparison

    func expectModel(_ comment: String) throws {
        var shown: Set<Stem> = []
        for entry in try fixture.store.records(in: fixture.note, limit: 100) {
            shown.insert(entry.stem)
            let text = try fixture.text(entry.stem.description)
            #expect(text == model.shown(entry.stem), "\(comment)")
            #expect(Int(entry.size) == text?.utf8.count, "\(comment)")
        }
        #expect(shown == Set(stems.filter { model.shown($0) != nil }), "\(comment)")
        for (stem, entry) in model.entries {
            let stored = try fixture.record(stem.description)
            #expect(stored?.id == entry.id, "\(comment)")
            #expect((stored?.state == .waitingDelete) == entry.isWaiting, "\(comment)")
            #expect(stored?.hasDraft == (entry.draft != nil), "\(comment)")
            #expect(try fixture.savedText(entry.id) == entry.saved, "\(comment)")
            #expect(try files(entry.id) == entry.files, "\(comment)")
        }
        let trashed = model.trash.values.reduce(0) { $0 + $1.count }
        #expect(try fixture.store.past.trash(in: fixture.note).count == trashed, "\(comment)")
        for stem in stems {
            let versions = try fixture.kinds(stem.description).count
            #expect(versions == model.versions[stem] ?? 0, "\(comment)")
        }
        try expectPending(comment)
    }

    /// Every record that the server has not as it is has one change that says so.
    private func expectPending(_ comment: String) throws {
        let rows = try fixture.outbox().filter { $0.zone == fixture.zone.id }
        for stem in stems {
            let own = rows.filter { $0.name == RecordName(bytes: stem.bytes) }
            #expect(own.count { $0.batch == nil } <= 1, "\(comment)")
            #expect(own.count { $0.batch != nil } <= 1, "\(comment)")
            guard let entry = model.entries[stem], let saved = entry.saved else { continue }
            let isSent = try fixture.store.meta(of: entry.id)?.changeTag != ""
            #expect(isSent || own.contains { $0.operation != .delete }, "\(comment) \(saved)")
        }
    }

    func expectSound(_ number: Int) throws {
        try fixture.expectSound()
        if number % 100 == 0 {
            _ = try fixture.store.assets.collectAssets()
            try fixture.expectSound()
        }
    }
}
