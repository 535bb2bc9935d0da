/// Three-way merge of a text by lines, in the way of `diff3` and git.
package enum LineMerge {
    /// The number of different lines above which two texts have too little in common.
    private static let differencesMax = 500
    /// The largest number of lines, without the lines with which both texts begin and end. It
    /// limits the time.
    private static let linesMax = 100_000

    /// Returns the text with the changes of both sides.
    ///
    /// - Returns: nil when both have changed the same lines, or neighbouring ones, in different
    ///   ways; when one of the texts has one line only; when a side has little in common with the
    ///   base.
    package static func merge(base: Text, local: Text, remote: Text) -> Text? {
        let newline = UInt8(ascii: "\n")
        guard base.utf8.contains(newline), local.utf8.contains(newline),
            remote.utf8.contains(newline)
        else { return nil }
        var numbering = Numbering()
        let (base, mine) = (numbering.lines(of: base), numbering.lines(of: local))
        let theirs = numbering.lines(of: remote)
        guard let toMine = matches(base, mine), let toTheirs = matches(base, theirs) else {
            return nil
        }
        var merged: [Int32] = []
        var (start, mineStart, theirsStart) = (0, 0, 0)
        while start < base.count || mineStart < mine.count || theirsStart < theirs.count {
            // The text up to the next line that all three have.
            let end = base.indices[start...].first { toMine[$0] >= 0 && toTheirs[$0] >= 0 }
            let mineEnd = end.map { Int(toMine[$0]) } ?? mine.count
            let theirsEnd = end.map { Int(toTheirs[$0]) } ?? theirs.count
            let old = base[start..<(end ?? base.count)]
            let (left, right) = (mine[mineStart..<mineEnd], theirs[theirsStart..<theirsEnd])
            if left.elementsEqual(old) {
                merged += right
            } else if right.elementsEqual(old) || left.elementsEqual(right) {
                merged += left
            } else {
                return nil
            }
            guard let end else { break }
            merged.append(base[end])
            (start, mineStart, theirsStart) = (end + 1, mineEnd + 1, theirsEnd + 1)
        }
        return Text(utf8: merged.flatMap { numbering.texts[Int($0)] })
    }

    /// Gives each distinct line a number, so that comparing two lines is cheap.
    struct Numbering {
        private(set) var texts: [ArraySlice<UInt8>] = []
        private var numbers: [ArraySlice<UInt8>: Int32] = [:]

        /// Returns the numbers of the lines. A line ends with its newline; the last one may have
        /// none.
        mutating func lines(of text: Text) -> [Int32] {
            let bytes = text.utf8
            var lines: [Int32] = []
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
                lines.append(number(bytes[start..<(end ?? bytes.count)]))
                start = end ?? bytes.count
            }
            return lines
        }

        private mutating func number(_ line: ArraySlice<UInt8>) -> Int32 {
            if let number = numbers[line] { return number }
            let number = Int32(texts.count)
            texts.append(line)
            numbers[line] = number
            return number
        }
    }

    /// Returns for each line of `old` its place in `new`, -1 for a removed line: a longest common
    /// subsequence. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986).
    static func matches(_ old: [Int32], _ new: [Int32]) -> [Int32]? {
        let same = zip(old, new).prefix { $0 == $1 }.count
        let rest = zip(old[same...].reversed(), new[same...].reversed())
        let sameAtEnd = rest.prefix { $0 == $1 }.count
        let left = Array(old[same..<(old.count - sameAtEnd)])
        let right = Array(new[same..<(new.count - sameAtEnd)])
        guard left.count <= linesMax, right.count <= linesMax, let trace = trace(left, right) else {
            return nil
        }
        var places = [Int32](repeating: -1, count: old.count)
        for index in 0..<same { places[index] = Int32(index) }
        for index in 0..<sameAtEnd {
            places[old.count - 1 - index] = Int32(new.count - 1 - index)
        }
        var (x, y) = (left.count, right.count)
        for reached in trace.reversed() {
            let (previousX, previousY) = reached.previous(x, y)
            while x > previousX, y > previousY {
                (x, y) = (x - 1, y - 1)
                places[same + x] = Int32(same + y)
            }
            (x, y) = (previousX, previousY)
        }
        return places
    }

    /// The furthest point on each diagonal (x - y) that a number of differences reaches.
    private struct Reached {
        var differences: Int
        private var ends: [Int]

        init() {
            differences = 0
            ends = [0, 0, 0]
        }

        /// Returns the points for one more difference. None of the new ones is known yet.
        func next() -> Reached {
            var next = self
            next.differences += 1
            next.ends = [0] + ends + [0]
            return next
        }

        subscript(diagonal: Int) -> Int {
            get { ends[diagonal + differences + 1] }
            set { ends[diagonal + differences + 1] = newValue }
        }

        /// Returns the point at which the last difference before a point of this step began. A line
        /// is inserted when the diagonal above reaches further, otherwise one is removed.
        func previous(_ x: Int, _ y: Int) -> (x: Int, y: Int) {
            let diagonal = x - y
            let isInserted = isInserted(diagonal)
            let from = isInserted ? diagonal + 1 : diagonal - 1
            return (self[from], self[from] - from)
        }

        func isInserted(_ diagonal: Int) -> Bool {
            diagonal == -differences
                || (diagonal != differences && self[diagonal - 1] < self[diagonal + 1])
        }
    }

    /// Returns the points that were reached before each step, up to the step that reaches the end
    /// of both. Returns nil when that takes too many differences.
    private static func trace(_ left: [Int32], _ right: [Int32]) -> [Reached]? {
        var trace: [Reached] = []
        var reached = Reached()
        for differences in 0...min(differencesMax, left.count + right.count) {
            if differences > 0 { reached = reached.next() }
            trace.append(reached)
            let before = reached
            for diagonal in stride(from: -differences, through: differences, by: 2) {
                var x =
                    before.isInserted(diagonal) ? before[diagonal + 1] : before[diagonal - 1] + 1
                while x < left.count, x - diagonal < right.count, left[x] == right[x - diagonal] {
                    x += 1
                }
                reached[diagonal] = x
                if x >= left.count, x - diagonal >= right.count { return trace }
            }
        }
        return nil
    }
}
