import Glibc

/// Standard output and error.
enum Terminal {
    static func print(_ text: String) {
        write(Array(text.utf8) + [0x0A], to: 1)
    }

    static func print(_ bytes: [UInt8]) {
        write(bytes, to: 1)
    }

    static func error(_ text: String) {
        write(Array((text.hasSuffix("\n") ? text : text + "\n").utf8), to: 2)
    }

    static var errorIsTerminal: Bool { isatty(2) == 1 }
    static var outputIsTerminal: Bool { isatty(1) == 1 }

    /// The columns of the terminal at standard error.
    static var width: Int {
        var size = winsize()
        guard ioctl(2, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                if descriptor == 1 {
                    error("recordfs: standard output: \(String(cString: strerror(errno))).")
                    exit(ExitStatus.failure)
                }
                return
            }
            rest = count == rest.count ? [] : Array(rest[count...])
        }
    }

    /// The columns and rows of the terminal at standard output. It is nil when the output is no
    /// terminal.
    static var outputSize: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return nil
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    static func printTable(_ rows: [[String]], rightAligned: Set<Int> = []) {
        for line in table(rows, rightAligned: rightAligned) { print(line) }
    }

    /// Returns the rows with their last cells cut, so that a line does not go on in the next one. On
    /// no terminal nothing is cut. The first cell may have a colour, which takes no column.
    static func fitted(_ rows: [[String]]) -> [[String]] {
        guard let size = outputSize else { return rows }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.dropLast().enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], Colour.visibleCount(cell))
            }
        }
        let room = max(20, size.columns - widths.reduce(0) { $0 + $1 + 2 })
        return rows.map { row in
            guard let last = row.last, last.count > room else { return row }
            return row.dropLast() + [last.prefix(room - 1) + "…"]
        }
    }

    /// Returns the lines as columns. Every cell except the last of a line is padded to the widest
    /// of its column.
    static func table(_ rows: [[String]], rightAligned: Set<Int> = []) -> [String] {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            row.enumerated().map { column, cell -> String in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                if rightAligned.contains(column) { return padding + cell }
                return column == row.count - 1 ? cell : cell + padding
            }.joined(separator: "  ")
        }
    }
}
