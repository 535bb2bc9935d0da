import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random deletions of records of two types that had the same names at different times: everything
/// that is deleted comes back at once, except where another record has the name.
@Suite struct RestoreClashWalkTests {
    @Test(
        "all deleted records come back but those whose names are taken, and these are counted",
        arguments: LongForm.seeds(8, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try RestoreClashWalk(seed: UInt64(seed))
        for _ in 1...4 {
            for _ in 1...20 { try walk.next() }
            try walk.restore()
        }
    }

    @Test("of two deleted records with one name the one that was deleted last comes back")
    func oneName() throws {
        for isWaiting in [false, true] {
            let fixture = try StoreFixture()
            try fixture.delete(try fixture.save("x", #"{"n":1}"#).id)
            try fixture.sendAll()
            let task = try fixture.save("x", #"{"n":2}"#, type: fixture.task)
            #expect(try fixture.store.meta(of: task.id)?.name == RecordName("x"))
            if isWaiting { try fixture.beginDelete(task.id) } else { try fixture.delete(task.id) }
            let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
                try transaction.restore(RestoreScope(), to: .deletion)
            }
            #expect(plan.steps.map(\.type) == [RecordTypeName("Task")] && plan.inTheWay == 1)
            #expect(try fixture.text("x", type: fixture.task) == #"{"n":2}"#)
            #expect(try fixture.trashed() == ["x"])
            try fixture.expectSound()
        }
    }
}

private final class RestoreClashWalk {
    private struct Key: Hashable {
        let type: String
        let name: RecordName
    }

    private struct Lost {
        let stem: String
        let text: String
        /// The place among all deletions.
        let number: Int
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The newest entry of each record in the trash, and the records that wait for their deletion.
    private var trash: [Key: Lost] = [:]
    private var waiting: [Key: Lost] = [:]
    private var count = 0
    private var steps: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        count += 1
        let type = random.pick(fixture.types)
        let stem = random.pick(["a", "b", "c"])
        steps.append("\(try step(stem, type)) \(type.name)/\(stem)")
    }

    private func step(_ stem: String, _ type: (name: String, id: TypeID)) throws -> String {
        let record = try fixture.record(stem, type: type.id)
        switch random.below(6) {
        case 0, 1:
            return try save(stem, type)
        case 2, 3:
            guard let record, record.state == .saved else { return "no" }
            let name = try #require(try fixture.store.meta(of: record.id)).name
            let text = try #require(try fixture.savedText(record.id))
            let isWaiting = random.below(2) == 0
            if isWaiting {
                try fixture.beginDelete(record.id)
            } else {
                try fixture.delete(record.id)
            }
            let key = Key(type: type.name, name: name)
            let lost = Lost(stem: stem, text: text, number: count)
            if isWaiting { waiting[key] = lost } else { trash[key] = lost }
            return isWaiting ? "remove" : "delete"
        case 4:
            try fixture.sendAll(tag: "t\(count)")
            return "send, not"
        default:
            try fixture.reopen()
            return "reopen, not"
        }
    }

    private func save(_ stem: String, _ type: (name: String, id: TypeID)) throws -> String {
        let text = #"{"n":\#(count)}"#
        guard failure({ try fixture.save(stem, text, type: type.id) }) == nil else {
            return "refused"
        }
        let id = try #require(try fixture.record(stem, type: type.id)).id
        let name = try #require(try fixture.store.meta(of: id)).name
        // The file is there again.
        waiting[Key(type: type.name, name: name)] = nil
        // A waiting deletion of the other type is final now.
        let other = Key(type: type.name == "Note" ? "Task" : "Note", name: name)
        if let ended = waiting.removeValue(forKey: other) { trash[other] = ended }
        return "save \(text) of \(name)"
    }

    /// The names of the records that are here, or of those that wait for their deletion.
    private func names(waiting: Bool) throws -> Set<Key> {
        var names: Set<Key> = []
        for type in fixture.types {
            for stem in try fixture.names(type.id) + ["a", "b", "c"] {
                guard let entry = try fixture.record(stem, type: type.id),
                    (entry.state == .waitingDelete) == waiting,
                    let name = try fixture.store.meta(of: entry.id)?.name
                else { continue }
                names.insert(Key(type: type.name, name: name))
            }
        }
        return names
    }

    /// The records that can come back: no record has their name or their file's name, and of those
    /// that had one name the last that was deleted.
    private func expected() throws -> [Key: Lost] {
        let here = try names(waiting: false)
        let shown = try Set(
            fixture.types.flatMap { type in
                try fixture.names(type.id).filter { stem in
                    try fixture.record(stem, type: type.id)?.state == .saved
                }.map { "\(type.name)/\($0)" }
            })
        var expected = waiting
        for (key, lost) in trash.sorted(by: { $0.value.number > $1.value.number })
        where expected[key] == nil {
            let isNameTaken = here.union(expected.keys).contains { $0.name == key.name }
            if isNameTaken || shown.contains("\(key.type)/\(lost.stem)") { continue }
            expected[key] = lost
        }
        return expected
    }

    func restore() throws {
        fixture.clock.advance(.seconds(1))
        // A name whose deletion another type has not sent yet is refused as a whole.
        try fixture.sendAll(tag: "s\(count)")
        let comment = steps.joined(separator: "; ")
        let right = try expected()
        let before = try names(waiting: false)
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.restore(RestoreScope(), to: .deletion)
        }
        #expect(plan.steps.count == right.count, "\(comment)")
        let lost = Set(trash.keys).union(waiting.keys)
        #expect(plan.inTheWay == lost.count - right.count, "\(comment)")
        #expect(plan.steps.allSatisfy(\.wasDeleted) && plan.madeSince == 0)
        #expect(try names(waiting: false) == before.union(right.keys), "\(comment)")
        #expect(try names(waiting: true) == [], "\(comment)")
        for (key, lost) in right {
            let entry = try fixture.store.record(named: key.name, in: fixture.zone.id)
            let id = try #require(entry, "\(comment): \(key)").id
            #expect(try fixture.savedText(id) == lost.text, "\(comment)")
        }
        try readTrash()
        #expect(lost.subtracting(right.keys).isSubset(of: trash.keys), "\(comment)")
        try fixture.expectSound()
    }

    /// Takes over what is left in the trash, also earlier states of records that came back.
    private func readTrash() throws {
        (trash, waiting) = ([:], [:])
        for entry in try fixture.store.past.trash(in: fixture.zone.id).reversed() {
            let text = try fixture.store.past.trashed(entry.id)?.text ?? []
            count += 1
            trash[Key(type: "\(entry.type)", name: entry.name)] = Lost(
                stem: "\(entry.stem)", text: String(decoding: text, as: UTF8.self),
                number: count)
        }
    }
}
