import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random work of two sides in a zone that others share, record by record, until the shares end: the
/// words of others leave this machine with their records, and no word is lost that this user has
/// written and that nobody has received.
@Suite struct SharedWalkTests {
    @Test(
        "the words of others go with their share, and what nobody has received stays",
        arguments: LongForm.seeds(14, of: 250))
    func walk(_ seed: Int) throws {
        let walk = try SharedWalk(seed: UInt64(seed))
        for _ in 1...70 where walk.differences.isEmpty { try walk.next() }
        if walk.differences.isEmpty { try walk.end() }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }
}

private final class SharedWalk {
    private let fixture: StoreFixture
    private let zone: ZoneID
    private let note: TypeID
    private var random: SeededRandom
    private var words = 0
    /// The records that the server has: the words of others and of this user in each.
    private var server: [String: (theirs: String, mine: String?)] = [:]
    private let parents = ["top1": nil, "top2": nil, "low1": "top1", "low2": "top2"]
    /// All words of others that this machine has heard of each record.
    private var heard: [String: Set<String>] = [:]
    /// The word of this user in each record or refused text that nobody has received.
    private var unsent: [String: String] = [:]
    private var refused: [String: String] = [:]
    /// The words that were in a record when it was taken away: they are in the trash.
    private var kept: Set<String> = []
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        let theirs = try fixture.sharedZone()
        (zone, note) = (theirs.zone.id, theirs.note)
        for root in ["top1", "top2"] { try share(root) }
    }

    private func share(_ root: String) throws {
        let share = Share(
            name: RecordName("s-\(root)"), root: RecordName(root), permission: .readWrite,
            text: Array("{}".utf8))
        try fixture.apply(fixture.page([], shares: [share], in: zone))
        for name in parents.keys.sorted() where name == root || parents[name] == root {
            try tell(name)
        }
    }

    private func word(_ whose: String) -> String {
        words += 1
        return "\(whose)\(words)x"
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let name = random.pick(parents.keys.sorted() + ["own1", "own2"])
        steps.append(try step(name))
        try expectKept()
        try fixture.expectSound()
    }

    private func step(_ name: String) throws -> String {
        let id = try fixture.record(name, type: note)?.id
        // A zone of which nothing is shared is only here until the server tells that it is gone.
        if try fixture.store.sharing.shares(in: zone).isEmpty {
            try share("top1")
            return "share top1"
        }
        switch random.below(12) {
        case 0, 1:
            guard server[name] != nil else { return "nothing" }
            try tell(name)
            return "told of \(name)"
        case 2, 3, 4: return try save(name, isThere: id != nil)
        case 5: return try refuse(name)
        case 6:
            guard let id, try fixture.store.record(id)?.isHidden == false else { return "nothing" }
            try fixture.write { transaction throws(RecordError) in
                try transaction.records.beginDelete(id)
            }
            (unsent[name], refused[name]) = (nil, nil)
            return "remove \(name)"
        case 7:
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
            return "finalize"
        case 8: return try send()
        case 9: return try takeAway(random.below(2) == 0 ? "top1" : "top2")
        case 10:
            let root = random.below(2) == 0 ? "top1" : "top2"
            guard server[root] == nil else { return "nothing" }
            try share(root)
            return "share \(root)"
        default:
            _ = try fixture.store.index.search(zone, words: "alien1x mine1x")
            try fixture.reopen()
            return "search and reopen"
        }
    }

    // MARK: Both sides

    /// Somebody else writes a new word into the record, or makes it.
    private func tell(_ name: String) throws {
        let theirs = word("alien")
        server[name] = (theirs, server[name]?.mine)
        heard[name, default: []].insert(theirs)
        var fields = [RecordField(name: FieldName("t"), value: .string(Text(theirs)))]
        if let mine = server[name]?.mine {
            fields.append(RecordField(name: FieldName("m"), value: .string(Text(mine))))
        }
        let change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(fields, parent: (parents[name] ?? nil).map { RecordName($0) }),
            changeTag: "t\(words)", modifiedBy: "_ann")
        try fixture.apply(fixture.page([change], token: "\(words)", in: zone))
    }

    private func save(_ name: String, isThere: Bool) throws -> String {
        let mine = word("mine")
        let parent = parents[name] ?? ["top1", "top2"][words % 2]
        // Nobody makes a record below one that is not here.
        if let parent, try fixture.record(parent, type: note)?.state != .saved { return "nothing" }
        if parent == nil, !isThere { return "nothing" }
        var text = "{"
        if isThere, let theirs = server[name]?.theirs { text += #""t":"\#(theirs)","# }
        text += #""m":"\#(mine)""#
        if let parent { text += #","$parent":"\#(parent)""# }
        try fixture.save(name, text + "}", type: note)
        (unsent[name], refused[name]) = (mine, nil)
        return "save \(name) \(mine)"
    }

    private func refuse(_ name: String) throws -> String {
        let mine = word("mine")
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.saveDraft(
                text: Array("{ \(mine)".utf8), type: self.note, stem: Stem(name),
                error: RecordError(.invalidJSON, "expected a value"))
        }
        refused[name] = mine
        return "refused text of \(name) \(mine)"
    }

    private func send() throws -> String {
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: self.zone)
        }
        for claim in claims {
            let name = claim.row.name.description
            words += 1
            try fixture.complete(claim, tag: "t\(words)")
            if claim.isDelete {
                server[name] = nil
            } else if let document = claim.document {
                server[name] = (Self.word("t", document) ?? "", Self.word("m", document))
                unsent[name] = nil
            }
        }
        return "send \(claims.map(\.row.name))"
    }

    private static func word(_ field: String, _ document: RecordDocument) -> String? {
        guard case .string(let text) = document[FieldName(field)] else { return nil }
        return text.string
    }

    /// The owner ends the share of a record: it goes with all that hangs on it.
    private func takeAway(_ root: String) throws -> String {
        let names = server.keys.filter { name in
            name == root || parents[name] == root || parents[name] == nil && name.hasPrefix("own")
        }.sorted()
        guard server[root] != nil else { return "nothing" }
        // What was made below it and never sent goes with it, too.
        let gone = names + ["own1", "own2"].filter { !names.contains($0) }
        var changes = [StoreFixture.gone("s-\(root)")]
        changes += names.map { StoreFixture.gone($0) }
        try fixture.apply(fixture.page(changes, token: "\(words)", in: zone))
        for name in gone where try fixture.record(name, type: note)?.state != .saved {
            if let word = unsent.removeValue(forKey: name) { kept.insert(word) }
            if try fixture.record(name, type: note) == nil,
                let word = refused.removeValue(forKey: name)
            {
                kept.insert(word)
            }
        }
        for name in names { server[name] = nil }
        try expectGone(names.flatMap { heard.removeValue(forKey: $0) ?? [] })
        return "end of \(names)"
    }

    // MARK: Comparison

    private func texts() throws -> String {
        var texts: [[UInt8]] = []
        for entry in try fixture.store.records(in: note, limit: 100) {
            texts.append(try fixture.store.savedText(of: entry.id) ?? [])
            texts.append(try fixture.store.text(of: entry.id) ?? [])
        }
        for entry in try fixture.store.past.trash(in: zone) {
            texts.append(try fixture.store.past.trashed(entry.id)?.text ?? [])
        }
        return texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    private func expectKept() throws {
        let texts = try texts()
        for word in Array(unsent.values) + Array(refused.values) + kept.sorted()
        where !texts.contains(word) {
            differences.append("\(word) is lost")
        }
    }

    private func expectGone(_ words: [String]) throws {
        if try !fixture.store.upkeep.scrub() { differences.append("not scrubbed") }
        try fixture.whileClosed { path in
            let data = try Data(contentsOf: URL(filePath: path))
            for word in words where data.range(of: Data(word.utf8)) != nil {
                differences.append("\(word) is still on the disk")
            }
        }
    }

    func end() throws {
        try fixture.feed { (feed) throws(RecordError) in try feed.removeZoneOfServer(self.zone) }
        steps.append("the end")
        let words = Set(unsent.values).union(refused.values).union(kept)
        let trash = try fixture.store.past.trash(in: zone).map { entry in
            String(decoding: try fixture.store.past.trashed(entry.id)?.text ?? [], as: UTF8.self)
        }
        for word in words where !trash.contains(where: { $0.contains(word) }) {
            differences.append("\(word) is not in the trash")
        }
        if try !fixture.outbox().isEmpty { differences.append("something would be sent") }
        try expectGone(["alien"])
        try fixture.expectSound()
    }
}
