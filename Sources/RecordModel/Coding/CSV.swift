/// Comma-separated values by RFC 4180, in UTF-8. Other delimiters can be read too.
package enum CSV {
    package struct Cell: Hashable, Sendable {
        package let bytes: [UInt8]
        /// Indicates whether the cell has quotes. This distinguishes an empty text (`""`) from no
        /// value.
        package let isQuoted: Bool

        package init(bytes: [UInt8], isQuoted: Bool) {
            self.bytes = bytes
            self.isQuoted = isQuoted
        }
    }

    package struct Row: Hashable, Sendable {
        package let cells: [Cell]
        /// The line on which the row begins, from 1. A quoted cell may extend over more lines.
        package let line: Int
        /// The place at which the next row begins, in bytes from the start of the input.
        package let end: Int
    }

    /// Returns a row with its line end (LF). Cells are quoted when they must be, and when they are
    /// empty, so that an empty text is read back as one.
    package static func line(_ cells: [[UInt8]]) -> [UInt8] {
        line(cells.map { Optional($0) })
    }

    /// Returns a row with its line end (LF). A nil cell has no value: it is empty and has no
    /// quotes.
    package static func line(_ cells: [[UInt8]?]) -> [UInt8] {
        var line: [UInt8] = []
        for (index, cell) in cells.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            guard let cell else { continue }
            if cell.isEmpty || cell.contains(where: isSpecial) {
                line.append(UInt8(ascii: "\""))
                for byte in cell {
                    if byte == UInt8(ascii: "\"") { line.append(byte) }
                    line.append(byte)
                }
                line.append(UInt8(ascii: "\""))
            } else {
                line += cell
            }
        }
        // A row with one missing value would be a blank line, which readers skip.
        return cells.count == 1 && line.isEmpty ? Array("\"\"\n".utf8) : line + [0x0A]
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), 0x0A, 0x0D: true
        default: false
        }
    }
}
