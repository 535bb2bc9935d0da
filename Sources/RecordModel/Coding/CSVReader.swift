extension CSV {
    /// Reads rows out of bytes that arrive in pieces of any size.
    ///
    /// Append bytes with `append` and take rows with `next` until it returns nil, then append more.
    /// Call `finish` after the last piece and take the remaining rows. Blank lines are skipped,
    /// lines end with LF or CR LF, a byte order mark at the start is ignored.
    package struct Reader: Sendable {
        /// A quote that is never closed must not take the whole input into memory.
        private static let maximumRowBytes = 64 << 20

        private let delimiter: UInt8
        private var buffer: [UInt8] = []
        private var at = 0
        /// The offset of `buffer[0]` in the input.
        private var base = 0
        private var line = 1
        package private(set) var isFinished = false
        /// The number of cells of the row that was refused last, when the row certainly ends with
        /// its line. It is nil when a quote makes the end of the row uncertain, so that the
        /// following lines may be a part of it.
        package private(set) var refusedCellCount: Int?

        package init(delimiter: UInt8 = UInt8(ascii: ",")) {
            self.delimiter = delimiter
        }

        /// The number of bytes from the beginning of the next row. Append at least as many before
        /// the next try, so that a long row is not scanned again for each piece of it.
        package var pendingByteCount: Int { buffer.count - at }

        package mutating func append(_ bytes: some Collection<UInt8>) {
            if at > 1 << 16 {
                buffer.removeSubrange(..<at)
                base += at
                at = 0
            }
            buffer += bytes
        }

        package mutating func finish() { isFinished = true }

        /// Returns the next row. Returns nil when the input so far has no more whole rows.
        ///
        /// Errors: `invalidArgument` with the place of a malformed row. The call after that
        /// continues with the next line.
        package mutating func next() throws(RecordError) -> Row? {
            if base == 0, at == 0 {
                if buffer.count < 3, !isFinished { return nil }
                if buffer.starts(with: ByteOrderMark.utf8) { at = 3 }
            }
            while skipBlankLine() {}
            guard at < buffer.count else { return nil }
            var scan = RowScan(
                buffer: buffer, at: at, delimiter: delimiter, isFinished: isFinished)
            switch scan.row() {
            case .incomplete:
                guard pendingByteCount > Self.maximumRowBytes else { return nil }
                throw skipRow(scan, "the row has no end: look for a quote that is not closed")
            case .row:
                let row = Row(cells: scan.cells, line: line, end: base + scan.at)
                advance(to: scan.at)
                return row
            case .bad(let message):
                // Otherwise the rest of a line that has not arrived yet would be read as a row.
                if !isFinished, scan.recovery(from: at) == nil,
                    pendingByteCount <= Self.maximumRowBytes
                {
                    return nil
                }
                throw skipRow(scan, message)
            }
        }

        private mutating func skipRow(_ scan: RowScan, _ message: String) -> RecordError {
            let position = position(of: scan.at)
            refusedCellCount = scan.cellCountOfLine
            advance(to: scan.recovery(from: at) ?? buffer.count)
            return RecordError(.invalidArgument, message, at: position)
        }

        private mutating func skipBlankLine() -> Bool {
            if at < buffer.count, buffer[at] == 0x0A {
                advance(to: at + 1)
                return true
            }
            if at + 1 < buffer.count, buffer[at] == 0x0D, buffer[at + 1] == 0x0A {
                advance(to: at + 2)
                return true
            }
            return false
        }

        private mutating func advance(to end: Int) {
            line += buffer[at..<end].count(where: { $0 == 0x0A })
            at = end
        }

        private func position(of index: Int) -> TextPosition {
            let before = buffer[at..<index]
            let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? at
            return TextPosition(
                line: line + before.count(where: { $0 == 0x0A }), column: index - start + 1,
                offset: base + index)
        }
    }
}

/// One row, from its first byte to the end of its line.
private struct RowScan {
    enum Outcome {
        case row
        case incomplete
        case bad(String)
    }

    let buffer: [UInt8]
    var at: Int
    let delimiter: UInt8
    let isFinished: Bool
    private(set) var cells: [CSV.Cell] = []
    /// Indicates whether the last cell that was read has no quotes around it.
    private var isPlain = false

    init(buffer: [UInt8], at: Int, delimiter: UInt8, isFinished: Bool) {
        self.buffer = buffer
        self.at = at
        self.delimiter = delimiter
        self.isFinished = isFinished
    }

    mutating func row() -> Outcome {
        while true {
            isPlain = !(at < buffer.count && buffer[at] == UInt8(ascii: "\""))
            let problem = isPlain ? plain() : quoted()
            if let problem { return problem }
            guard at < buffer.count else { return isFinished ? .row : .incomplete }
            switch buffer[at] {
            case delimiter: at += 1
            case 0x0A:
                at += 1
                return .row
            case 0x0D:
                if at + 1 == buffer.count { return isFinished ? returnError : .incomplete }
                guard buffer[at + 1] == 0x0A else {
                    // The cell continues after the carriage return.
                    if isPlain { cells.removeLast() }
                    return returnError
                }
                at += 2
                return .row
            default:
                let mark = delimiter == 0x09 ? "a tab" : "\"\(Unicode.Scalar(delimiter))\""
                return .bad("expected \(mark) or the end of the line after a closing quote")
            }
        }
    }

    private var returnError: Outcome {
        .bad("a carriage return must stand before a line feed, or inside quotes")
    }

    private mutating func plain() -> Outcome? {
        let start = at
        while at < buffer.count {
            switch buffer[at] {
            case delimiter, 0x0A, 0x0D:
                cells.append(CSV.Cell(bytes: Array(buffer[start..<at]), isQuoted: false))
                return nil
            // Tables with tabs use quotes as plain characters: 7" is seven inches.
            case UInt8(ascii: "\"") where delimiter != 0x09:
                return .bad("a quote inside a cell: put the cell in quotes and double the quote")
            default: at += 1
            }
        }
        guard isFinished else { return .incomplete }
        cells.append(CSV.Cell(bytes: Array(buffer[start..<at]), isQuoted: false))
        return nil
    }

    private mutating func quoted() -> Outcome? {
        let open = at
        var content: [UInt8] = []
        at += 1
        var runStart = at
        while at < buffer.count {
            guard buffer[at] == UInt8(ascii: "\"") else {
                at += 1
                continue
            }
            content += buffer[runStart..<at]
            if at + 1 == buffer.count, !isFinished { return .incomplete }
            guard at + 1 < buffer.count, buffer[at + 1] == UInt8(ascii: "\"") else {
                at += 1
                cells.append(CSV.Cell(bytes: content, isQuoted: true))
                return nil
            }
            runStart = at + 1
            at += 2
        }
        guard isFinished else { return .incomplete }
        at = open
        return .bad("the quote that begins here is never closed")
    }

    /// The number of cells of the row when its quotes are plain characters from the error on. It is
    /// nil when the error is in a quoted cell.
    var cellCountOfLine: Int? {
        guard isPlain else { return nil }
        let end = buffer[at...].firstIndex(of: 0x0A) ?? buffer.count
        return cells.count + 1 + buffer[at..<end].count(where: { $0 == delimiter })
    }

    /// Returns the place after the line with the error. Returns nil when the end of that line has
    /// not arrived.
    func recovery(from start: Int) -> Int? {
        buffer[max(at, start)...].firstIndex(of: 0x0A).map { $0 + 1 }
    }
}
