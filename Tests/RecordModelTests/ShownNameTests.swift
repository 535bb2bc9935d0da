import RecordModel
import TestSupport
import Testing

/// What record names show as in the directory of their type.
@Suite("Shown names") struct ShownNameTests {
    private let type = RecordTypeName("T")

    /// Of all names that a type has, what each shows as.
    private func shown(_ names: Set<RecordName>) -> [RecordName: RecordName] {
        Dictionary(
            uniqueKeysWithValues: names.map { ($0, $0.shown(in: type) { names.contains($0) }) })
    }

    @Test(
        "a name shows without the ending of its type, unless that is a name of the type",
        arguments: [
            (["X"], ["X": "X"]), (["X:T"], ["X:T": "X"]),
            (["X", "X:T"], ["X": "X", "X:T": "X:T"]),
            (["X:T:T"], ["X:T:T": "X:T"]), (["X:T", "X:T:T"], ["X:T": "X", "X:T:T": "X:T:T"]),
            (["X", "X:T:T"], ["X": "X", "X:T:T": "X:T"]), (["X:U"], ["X:U": "X:U"]),
            (["X:T:U"], ["X:T:U": "X:T:U"]), ([":T"], [":T": ":T"]), (["T"], ["T": "T"]),
            (["T:T"], ["T:T": "T"]), (["X:t"], ["X:t": "X:t"]),
            (["e\u{301}:T", "\u{E9}"], ["e\u{301}:T": "e\u{301}", "\u{E9}": "\u{E9}"]),
        ])
    func rule(_ names: [String], _ expected: [String: String]) {
        let shown = shown(Set(names.map { RecordName($0) }))
        #expect(
            shown
                == Dictionary(
                    uniqueKeysWithValues: expected.map {
                        (RecordName($0.key), RecordName($0.value))
                    }
                ))
    }

    @Test("no two names of any set show as one", arguments: 0..<20)
    func injective(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            let names = Set(
                (0..<random.below(12)).map { _ in
                    RecordName(
                        random.pick(["X", "Y", "", "T", "\u{E9}", "e\u{301}"])
                            + (0..<random.below(4)).map { _ in random.pick([":T", ":T", ":U"]) }
                            .joined())
                })
            let shown = shown(names)
            #expect(Set(shown.values).count == names.count, "\(names.sorted())")
            #expect(Set(shown.values.map { Stem(encoding: $0) }).count == names.count)
        }
    }

    @Test("the first name for a new file shows as it, whatever else is there", arguments: 0..<20)
    func candidates(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            let names = Set(
                (0..<random.below(6)).map { _ in
                    RecordName("X" + String(repeating: ":T", count: random.below(4)))
                })
            let wanted = RecordName("X" + String(repeating: ":T", count: random.below(4)))
            guard !shown(names).values.contains(wanted) else { continue }
            for candidate in wanted.candidates(in: type) where !names.contains(candidate) {
                let after = names.union([candidate])
                guard candidate.shown(in: type, has: after.contains) == wanted else { continue }
                // What others show as is as before, but for what gets its ending back.
                for name in names where self.shown(after)[name] != self.shown(names)[name] {
                    #expect(self.shown(after)[name] == name)
                }
            }
        }
    }

    @Test("a name that only another record keeps long is not the first choice")
    func lasting() {
        #expect(RecordName("X").candidates(in: type) == [RecordName("X"), RecordName("X:T")])
        #expect(
            RecordName("X:T").candidates(in: type) == [RecordName("X:T:T"), RecordName("X:T")])
    }
}
