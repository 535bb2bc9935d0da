/// Guesses at what a mistyped word was meant to be.
package enum Spelling {
    /// Returns the word that is nearest to `word`, if one is near enough to be meant: one letter in
    /// four is wrong, missing, added, or exchanged with its neighbour.
    package static func guess(_ word: String, among known: some Sequence<String>) -> String? {
        let letters = Array(word.utf8)
        let limit = max(1, letters.count / 4)
        var best: (word: String, distance: Int)?
        for candidate in known where candidate != word {
            let other = Array(candidate.utf8)
            guard abs(other.count - letters.count) <= limit else { continue }
            let distance = distance(letters, other)
            guard distance <= limit, distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.word
    }

    /// Returns the number of changes of one letter, or exchanges of two neighbours, between two
    /// words (optimal string alignment). Small and capital letters count as equal.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let (left, right) = (left.map(lowered), right.map(lowered))
        var before: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var next = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1], next[column]) + 1
                cost = min(cost, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last[right.count]
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
