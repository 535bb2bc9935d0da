import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random records and random queries over them, with and without indexes: a query finds what a look
/// at every record finds, in the order that it asks for.
@Suite struct QueryWalkTests {
    @Test(
        "a query finds what a plain look at all records finds, whatever its indexes know",
        arguments: LongForm.seeds(7, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try QueryWalk(seed: UInt64(seed))
        try walk.take(60, seed: seed)
    }
}

private final class QueryWalk: StoreWalk {
    private let fixture: StoreFixture
    private var random: SeededRandom
    private var records: [String: QueryModelRecord] = [:]
    private var waiting: [String: QueryModelRecord] = [:]
    /// The names that records had before: what the server reports of them follows the records.
    private var left: Set<String> = []
    private let names = (0..<8).map { "r\($0)" }
    private let words = ["tea", "Tea", "teapot", "pot", "x", ""]
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        // Every field is in the schema, so that each query is one.
        let all = QueryModelRecord(number: 1, fraction: 0.5, word: "tea", tags: ["a"])
        try fixture.save("r0", all.text)
        records["r0"] = all
    }

    private func record() -> QueryModelRecord {
        QueryModelRecord(
            number: random.below(3) == 0 ? nil : random.below(4),
            fraction: random.below(3) == 0 ? nil : Double(random.below(4)) / 2,
            word: random.below(3) == 0 ? nil : random.pick(words),
            tags: random.below(3) == 0
                ? nil : (0...random.below(3)).map { _ in random.pick(["a", "b", "c"]) })
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        steps.append(try step(random.pick(names)))
        for _ in 1...4 { try ask() }
    }

    private func step(_ name: String) throws -> String {
        switch random.below(12) {
        case 0, 1, 2, 3:
            let new = record()
            try fixture.save(name, new.text)
            (records[name], waiting[name]) = (new, nil)
            return "save \(name) \(new.text)"
        case 4:
            guard let id = try fixture.record(name)?.id else { return "nothing" }
            try fixture.delete(id)
            (records[name], waiting[name]) = (nil, nil)
            return "delete \(name)"
        case 5:
            guard let id = try fixture.record(name)?.id, let old = records[name] else {
                return "nothing"
            }
            try fixture.beginDelete(id)
            (records[name], waiting[name]) = (nil, old)
            return "remove \(name)"
        case 6: return try cancel(name)
        case 7: return try tell(name)
        case 8: return try rename(name)
        case 9:
            while try fixture.store.index.keepIndexes() {}
            return "index"
        case 10:
            fixture.clock.advance(.seconds(100 * 24 * 3600))
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
            waiting = [:]
            while try fixture.store.upkeep.keepSmall() {}
            return "finalize and forget old versions"
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private func cancel(_ name: String) throws -> String {
        guard let old = waiting[name], let id = try fixture.record(name)?.id else {
            return "nothing"
        }
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(id)
        }
        (records[name], waiting[name]) = (old, nil)
        return "cancel \(name)"
    }

    /// The server reports a record that nobody has edited here.
    private func tell(_ name: String) throws -> String {
        try fixture.sendAll(tag: "t\(steps.count)")
        guard waiting[name] == nil, !left.contains(name) else { return "send" }
        var new = record()
        (new.fraction, new.tags) = (nil, nil)
        let fields = new.values.map { RecordField(name: FieldName($0.key), value: $0.value) }
        let change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(fields, parent: nil), changeTag: "r\(steps.count)",
            modifiedBy: "_other")
        try fixture.apply(fixture.page([change]))
        records[name] = new
        return "told of \(name) \(new.text)"
    }

    /// A record gets a free name.
    private func rename(_ name: String) throws -> String {
        let free = names.filter { records[$0] == nil && waiting[$0] == nil }
        guard let id = try fixture.record(name)?.id, let old = records[name], !free.isEmpty else {
            return "nothing"
        }
        let other = random.pick(free)
        _ = try fixture.write { transaction throws(RecordError) in
            try transaction.records.rename(id, toType: self.fixture.note, stem: Stem(other))
        }
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        (records[name], records[other], waiting) = (nil, old, [:])
        left.insert(name)
        return "rename \(name) to \(other)"
    }

    // MARK: Queries

    private func term() -> QueryModelTerm {
        switch random.below(8) {
        case 0: .either(random.below(4), random.below(4))
        case 1: .number(random.pick(["=", "!=", "<", "<=", ">", ">="]), random.below(4))
        case 2: .number("=", random.below(4))
        case 3: .fraction(Double(random.below(4)) / 2)
        case 4: .word(random.pick(["=", "!=", "~", "^="]), random.pick(words))
        case 5: .tag(random.pick(["a", "b", "c"]))
        case 6: .exists(random.pick(["n", "d", "s", "tags"]), random.below(2) == 0)
        default: .number("<", random.below(4)).or(.word("~", "pot"))
        }
    }

    private func ask() throws {
        let terms = (0...random.below(2)).map { _ in term() }
        let isDescending = random.below(2) == 0
        let isSorted = random.below(2) == 0
        let sort = isSorted ? ["sort:\(isDescending ? "-" : "")n"] : []
        let text = (terms.map(\.text) + sort).joined(separator: ",")
        let expression = try QueryExpression(
            parsing: Array(text.utf8), schema: try fixture.store.schema(of: RecordTypeName("Note")))
        if random.below(4) == 0 {
            try fixture.store.index.wantIndexes(fixture.note, expression)
        }
        let found = try fixture.store.index.query(fixture.note, expression)
            .map(\.stem.description)
        let right = records.filter { record in terms.allSatisfy { $0.holds(record.value) } }.keys
        if Set(found) != Set(right) || found.count != right.count {
            differences.append("\(text) finds \(found.sorted()), not \(right.sorted())")
        }
        if isSorted { expectOrder(found, isDescending, text) }
        for name in names {
            let hit = try fixture.store.index.match(fixture.note, expression, Stem(name)) != nil
            if hit != right.contains(name) { differences.append("\(text) in \(name): \(hit)") }
        }
    }

    /// Records without a number come last.
    private func expectOrder(_ found: [String], _ isDescending: Bool, _ text: String) {
        let numbers = found.compactMap { records[$0]?.number }
        let sorted = numbers.sorted { isDescending ? $0 > $1 : $0 < $1 }
        let last = found.drop { records[$0]?.number != nil }
        if numbers != sorted || last.contains(where: { records[$0]?.number != nil }) {
            differences.append("\(text) in the order \(found)")
        }
    }
}
