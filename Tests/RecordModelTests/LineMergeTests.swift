import RecordModel
import TestSupport
import Testing

@Suite("Merging by lines")
struct LineMergeTests {
    private func merge(_ base: String, _ mine: String, _ theirs: String) -> String? {
        func text(_ lines: String) -> Text { Text(lines.replacing(" ", with: "\n")) }
        return LineMerge.merge(base: text(base), local: text(mine), remote: text(theirs))?.string
            .replacing("\n", with: " ")
    }

    struct Case: Sendable {
        let base: String
        let mine: String
        let theirs: String
        let merged: String?
    }

    @Test(
        "changes at different places are both kept, changes of one place are a conflict",
        arguments: [
            Case(base: "a b c ", mine: "A b c ", theirs: "a b C ", merged: "A b C "),
            Case(base: "a b c ", mine: "x a b c ", theirs: "a b c y ", merged: "x a b c y "),
            Case(base: "a b c d ", mine: "b c d ", theirs: "a b c ", merged: "b c "),
            Case(base: "a b c ", mine: "a c ", theirs: "a c ", merged: "a c "),
            Case(base: "a b c ", mine: "a X c ", theirs: "a X c ", merged: "a X c "),
            Case(base: "a b c", mine: "A b c", theirs: "a b C", merged: "A b C"),
            Case(base: "a b c ", mine: "a b c z", theirs: "A b c ", merged: "A b c z"),
            // The same line, neighbouring lines, two insertions at one place, an edit of what went.
            Case(base: "a b c ", mine: "a X c ", theirs: "a Y c ", merged: nil),
            Case(base: "a b c ", mine: "a X c ", theirs: "a b Y ", merged: nil),
            Case(base: "a b ", mine: "a x b ", theirs: "a y b ", merged: nil),
            Case(base: "a b c ", mine: "a c ", theirs: "a B c ", merged: nil),
            // Of one line only nothing is merged.
            Case(base: "a", mine: "b c ", theirs: "a d ", merged: nil),
        ])
    func places(_ test: Case) {
        #expect(merge(test.base, test.mine, test.theirs) == test.merged)
        #expect(merge(test.base, test.theirs, test.mine) == test.merged)
    }

    @Test("random edits of lines that lie apart are all in the merge", arguments: 0..<50)
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let base = (0..<60).map { "w\($0)" }
        var (mine, theirs, merged) = (base, base, base)
        // Each third line belongs to one of the two, so that a line of nobody lies between.
        for place in stride(from: 57, through: 0, by: -3) where random.below(2) == 0 {
            let isMine = random.below(2) == 0
            let fresh = (0..<random.below(3)).map { "n\(place).\($0)" }
            merged.replaceSubrange(place...place, with: fresh)
            if isMine {
                mine.replaceSubrange(place...place, with: fresh)
            } else {
                theirs.replaceSubrange(place...place, with: fresh)
            }
        }
        func text(_ lines: [String]) -> String { lines.map { $0 + " " }.joined() }
        #expect(merge(text(base), text(mine), text(theirs)) == text(merged))
        #expect(merge(text(base), text(theirs), text(mine)) == text(merged))
        #expect(merge(text(base), text(mine), text(base)) == text(mine))
        #expect(merge(text(base), text(base), text(mine)) == text(mine))
        #expect(merge(text(base), text(mine), text(mine)) == text(mine))
    }

    @Test("edits of different lines of a long text are both kept")
    func long() {
        let base = (0..<20_000).map { "line \($0)\n" }
        var (mine, theirs, both) = (base, base, base)
        for place in stride(from: 0, to: 20_000, by: 200) {
            mine[place] = "mine\n"
            both[place] = "mine\n"
            theirs[place + 100] = ""
            both[place + 100] = ""
        }
        func text(_ lines: [String]) -> Text { Text(lines.joined()) }
        let merged = LineMerge.merge(base: text(base), local: text(mine), remote: text(theirs))
        #expect(merged == text(both))
    }

    @Test("texts that have little in common are not merged")
    func different() {
        let base = Text((0..<3_000).map { "a\($0)\n" }.joined())
        let mine = Text((0..<3_000).map { "b\($0)\n" }.joined())
        let theirs = Text(base.string + "end\n")
        #expect(LineMerge.merge(base: base, local: mine, remote: theirs) == nil)
    }
}
