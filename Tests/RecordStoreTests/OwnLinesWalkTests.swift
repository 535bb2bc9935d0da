import RecordModel
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// Random texts that two people write line by line: the lines of this user are those that this user
/// once put in, whoever has seen or moved them since.
@Suite struct OwnLinesWalkTests {
    @Test(
        "a text has lost own lines exactly when a line that was written here is gone from it",
        arguments: LongForm.seeds(12, of: 400))
    func walk(_ seed: Int) throws {
        let walk = try OwnLinesWalk(seed: UInt64(seed))
        try walk.take(25, seed: seed)
    }
}

private final class OwnLinesWalk: StoreWalk {
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// The lines of the field now. Each has a word of its own, so that nobody writes one twice.
    private var lines: [String] = []
    /// All lines that were ever in the field, and those of them that this user has written.
    private var all: Set<String> = []
    private var own: Set<String> = []
    private var count = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        steps.append(try step())
        for _ in 1...3 { try ask() }
    }

    private func step() throws -> String {
        switch random.below(8) {
        case 0, 1, 2:
            change()
            own.formUnion(Set(lines).subtracting(all))
            all.formUnion(lines)
            try save("\"n\":\(random.below(2))")
            return "save \(lines)"
        case 3, 4, 5:
            try fixture.sendAll(tag: "s\(steps.count)")
            change()
            all.formUnion(lines)
            try fixture.upsert(
                "a", ["t": .string(Text(text)), "n": .int64(0)], tag: "t\(steps.count)")
            return "told of \(lines)"
        case 6:
            // Another field is edited here: the lines stay those of their authors.
            guard !all.isEmpty else { return "nothing" }
            try save("\"n\":\(steps.count + 10)")
            return "save another field"
        default:
            try fixture.reopen()
            return "reopen"
        }
    }

    private var text: String { lines.joined(separator: "\n") + "\n" }

    private func save(_ member: String) throws {
        let value = lines.joined(separator: "\\n") + "\\n"
        try fixture.save("a", "{\"t\":\"\(value)\",\(member)}")
    }

    /// Some lines come, some go, and some change places.
    private func change() {
        for _ in 0...random.below(2) {
            count += 1
            lines.insert("line\(count)x", at: random.below(lines.count + 1))
        }
        if lines.count > 2, random.below(2) == 0 { lines.remove(at: random.below(lines.count)) }
        if lines.count > 2, random.below(3) == 0 {
            lines.swapAt(random.below(lines.count), random.below(lines.count))
        }
    }

    private func ask() throws {
        let mine = all.sorted().filter { _ in random.below(2) == 0 } + ["never there"]
        let theirs = all.sorted().filter { _ in random.below(2) == 0 } + ["new"]
        let gone = Set(mine).subtracting(theirs)
        let found = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.merging.hasOwnLines(
                of: FieldName("t"), RecordName("a"), self.fixture.zone.id,
                in: .string(Text(mine.joined(separator: "\n"))),
                goneFrom: .string(Text(theirs.joined(separator: "\n"))))
        }
        let right = !own.isDisjoint(with: gone)
        if found != right {
            differences.append("\(gone.sorted()) has own lines: \(found); own are \(own.sorted())")
        }
    }
}
