/// A line of two texts that are compared.
package enum LineDifference: Hashable, Sendable {
    /// In both, once.
    case same([UInt8])
    case removed([UInt8])
    case added([UInt8])

    /// Returns the lines of both texts in order, what was removed before what was added. A line ends
    /// with its newline; the last one may have none.
    ///
    /// Texts with little in common are told apart as a whole.
    package static func between(_ old: [UInt8], _ new: [UInt8]) -> [LineDifference] {
        var numbering = LineMerge.Numbering()
        let (left, right) = (
            numbering.lines(of: Text(utf8: old)), numbering.lines(of: Text(utf8: new))
        )
        let places = LineMerge.matches(left, right)
        func line(_ number: Int32) -> [UInt8] { Array(numbering.texts[Int(number)]) }
        var lines: [LineDifference] = []
        var next = 0
        for (index, number) in left.enumerated() {
            guard let place = places?[index], place >= 0 else {
                lines.append(.removed(line(number)))
                continue
            }
            lines += right[next..<Int(place)].map { .added(line($0)) }
            lines.append(.same(line(number)))
            next = Int(place) + 1
        }
        return lines + right[next...].map { .added(line($0)) }
    }

    package var isSame: Bool { if case .same = self { true } else { false } }
}

/// A part of two texts that differs, with the lines around it, as in a unified diff.
package struct LineHunk: Hashable, Sendable {
    /// The number of equal lines before and after a difference.
    private static let context = 3

    /// The first line in each text, from 1, and the number of lines there.
    package private(set) var old: (start: Int, count: Int)
    package private(set) var new: (start: Int, count: Int)
    package private(set) var lines: [LineDifference]

    package static func == (left: LineHunk, right: LineHunk) -> Bool {
        left.old == right.old && left.new == right.new && left.lines == right.lines
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(lines) }

    /// Returns the parts that differ.
    package static func all(in lines: [LineDifference]) -> [LineHunk] {
        let different = lines.indices.filter { !lines[$0].isSame }
        var ranges: [Range<Int>] = []
        for index in different {
            let range = max(0, index - context)..<min(lines.count, index + context + 1)
            if let last = ranges.last, last.upperBound >= range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
            } else {
                ranges.append(range)
            }
        }
        var hunks: [LineHunk] = []
        var (oldLine, newLine, next) = (1, 1, 0)
        for range in ranges {
            // Between two hunks all lines are the same.
            oldLine += range.lowerBound - next
            newLine += range.lowerBound - next
            let hunk = LineHunk(old: (oldLine, 0), new: (newLine, 0), lines: Array(lines[range]))
            hunks.append(hunk.counted)
            oldLine += hunks[hunks.count - 1].old.count
            newLine += hunks[hunks.count - 1].new.count
            next = range.upperBound
        }
        return hunks
    }

    private var counted: LineHunk {
        var hunk = self
        for line in lines {
            switch line {
            case .same: (hunk.old.count, hunk.new.count) = (hunk.old.count + 1, hunk.new.count + 1)
            case .removed: hunk.old.count += 1
            case .added: hunk.new.count += 1
            }
        }
        // As in diff(1): where a side has no line, its number is that of the line before.
        if hunk.old.count == 0 { hunk.old.start -= 1 }
        if hunk.new.count == 0 { hunk.new.start -= 1 }
        return hunk
    }
}
