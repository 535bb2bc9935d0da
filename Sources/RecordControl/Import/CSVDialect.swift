import RecordModel

/// Finds the delimiter of a CSV file from its beginning.
enum CSVDialect {
    /// The delimiters that are tried. If two fit equally well, the first is used.
    static let delimiters = [
        UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|"),
    ]
    private static let sampleRows = 100
    private static let delimiterMark = Array("sep=".utf8)

    /// Returns the delimiter that a first line `sep=;` names, as spreadsheets write and read it.
    static func named(in sample: [UInt8]) -> UInt8? {
        var line = sample.prefix { $0 != 0x0A && $0 != 0x0D }
        if line.first == UInt8(ascii: "\""), line.last == UInt8(ascii: "\"") {
            line = line.dropFirst().dropLast()
        }
        guard line.count == 5, isMark(line.prefix(4)), let delimiter = line.last else { return nil }
        return delimiter
    }

    /// Returns whether a first row is such a line, which the delimiter itself divides.
    static func isDelimiterLine(_ row: CSV.Row) -> Bool {
        guard row.line == 1, let first = row.cells.first, isMark(first.bytes.prefix(4)) else {
            return false
        }
        return first.bytes.count == 5 && row.cells.count == 1
            || first.bytes.count == 4 && row.cells.count == 2 && row.cells[1].bytes.isEmpty
    }

    private static func isMark(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == delimiterMark
    }

    /// Returns the delimiter that divides the most rows into as many cells as the header, two or
    /// more. Returns the comma when there is none.
    static func delimiter(of sample: [UInt8]) -> UInt8 {
        if let named = named(in: sample) { return named }
        var best: (delimiter: UInt8, fitting: Int, cells: Int)?
        for delimiter in delimiters {
            guard let (fitting, cells) = measure(sample, delimiter), cells > 1 else { continue }
            if let best, (best.fitting, best.cells) >= (fitting, cells) { continue }
            best = (delimiter, fitting, cells)
        }
        return best?.delimiter ?? delimiters[0]
    }

    /// Returns, for the first rows, the number per thousand that have as many cells as the header,
    /// and that number of cells. Returns nil without a header.
    private static func measure(_ sample: [UInt8], _ delimiter: UInt8) -> (Int, Int)? {
        var reader = CSV.Reader(delimiter: delimiter)
        reader.append(sample)
        var header: Int?
        var (fitting, rows) = (0, 0)
        while rows < sampleRows {
            do {
                guard let row = try reader.next() else { break }
                let width = header ?? row.cells.count
                header = width
                fitting += row.cells.count == width ? 1 : 0
            } catch {
                // This delimiter does not fit the row.
                if header == nil { return nil }
            }
            rows += 1
        }
        guard let header else { return oneLine(sample, delimiter) }
        return (fitting * 1000 / rows, header)
    }

    /// Measures a file that consists of a header without a line end.
    private static func oneLine(_ sample: [UInt8], _ delimiter: UInt8) -> (Int, Int)? {
        guard !sample.isEmpty, !sample.contains(0x0A) else { return nil }
        return (1000, sample.count(where: { $0 == delimiter }) + 1)
    }
}
