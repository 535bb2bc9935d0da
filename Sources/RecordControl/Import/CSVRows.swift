import RecordModel

/// The rows of a CSV file with a header line that names the fields.
///
/// An empty cell without quotes is no value, and neither is a cell that a short row lacks. The
/// cells are read first as texts, for a survey. Then they are read in the way that the whole column
/// and the schema require.
struct CSVRows: ImportRows {
    /// The names of the header, each only once, without the one of types.
    let keys: [Text]
    /// The types that an export wrote into the header.
    let types: [Text: FieldType]
    /// Indicates whether an export wrote the file.
    let isExport: Bool
    let byteCount: Int?

    private let input: TextReading
    private var reader: CSV.Reader
    private let columns: [CSVColumn.Reading]?
    private let width: Int
    /// The column whose header has the types. It has no cells.
    private let typesColumn: Int?
    private var hasEnded = false

    /// Reads the header.
    ///
    /// - Parameter columns: nil to read each cell as text.
    /// Errors: `invalidArgument` when there is no header, or for another encoding; `ioFailure`.
    init(
        _ input: TextReading, byteCount: Int?, delimiter: UInt8,
        columns: [CSVColumn.Reading]? = nil
    ) throws(RecordError) {
        self.input = input
        self.byteCount = byteCount
        self.columns = columns
        reader = CSV.Reader(delimiter: delimiter)
        do throws(RecordError) {
            var header = try Self.row(&reader, input)
            if let first = header, CSVDialect.isDelimiterLine(first) {
                header = try Self.row(&reader, input)
            }
            guard let header else {
                throw RecordError(.invalidArgument, "it has no header line that names fields")
            }
            width = header.cells.count
            typesColumn = header.cells.firstIndex { $0.bytes.starts(with: TypeHints.prefix) }
            types = TypeHints.parse(header: typesColumn.map { header.cells[$0].bytes } ?? [])
            keys = Self.keys(header.cells)
            isExport = keys.contains { $0.utf8.elementsEqual(RecordNaming.nameKey) }
        } catch {
            guard error.position != nil else { throw error }
            throw RecordError(.invalidArgument, "the header line: \(error.message)")
        }
    }

    mutating func next() throws(RecordError) -> ImportRow? {
        guard !hasEnded else { return nil }
        do {
            guard let row = try Self.row(&reader, input) else { return nil }
            var found = ImportRow(
                line: row.line, key: nil, content: content(row), end: row.end)
            found.isShort = row.cells.count < width
            found.raw = raw(row)
            return found
        } catch {
            // An error without a place in the text is an error of the file itself.
            guard let position = error.position else { throw error }
            return refused(error, position)
        }
    }

    /// Returns the row for a refused line. A line whose only error is a quote inside a cell is left
    /// out alone. When quotes do not match, the end of the row is unknown, and the following text
    /// may belong to it: nothing of it becomes a record.
    private mutating func refused(_ error: RecordError, _ position: TextPosition) -> ImportRow {
        if reader.refusedCellCount == width {
            return ImportRow(
                line: position.line, key: nil, content: .bad(error), end: position.offset)
        }
        hasEnded = true
        let rest = RecordError(
            error.code,
            "\(error.message). The import ends here, for what follows may belong to this cell: "
                + "correct the quotes and import the file again", at: position)
        var row = ImportRow(
            line: position.line, key: nil, content: .bad(rest), end: position.offset)
        row.endsSource = true
        return row
    }

    private static func row(
        _ reader: inout CSV.Reader, _ input: TextReading
    ) throws(RecordError) -> CSV.Row? {
        while true {
            if let row = try reader.next() { return row }
            if reader.isFinished { return nil }
            let wanted = max(reader.pendingByteCount, 1)
            var added = 0
            while added < wanted {
                let chunk = try input.chunk()
                if chunk.isEmpty {
                    reader.finish()
                    break
                }
                reader.append(chunk)
                added += chunk.count
            }
        }
    }

    /// Returns the names of the columns. A column without a name is named after its place. A second
    /// column with the same name gets a number.
    private static func keys(_ cells: [CSV.Cell]) -> [Text] {
        var taken = Set(cells.map { Text(utf8: $0.bytes) })
        var seen: Set<Text> = []
        return cells.enumerated().map { place, cell in
            var key = Text(utf8: cell.bytes)
            if !key.isEmpty, seen.insert(key).inserted { return key }
            let base = key.isEmpty ? "column_\(place + 1)" : "\(key)_2"
            key = Text(base)
            var number = 3
            while !taken.insert(key).inserted {
                key = Text("\(base)_\(number)")
                number += 1
            }
            seen.insert(key)
            return key
        }
    }

    private func content(_ row: CSV.Row) -> ImportRow.Content {
        guard row.cells.count <= width else {
            return .bad(
                RecordError(
                    .invalidRecord, "the row has \(row.cells.count) cells, the header \(width)"))
        }
        var members: [JSONMember] = []
        members.reserveCapacity(row.cells.count)
        for (place, cell) in row.cells.enumerated() where hasValue(cell, place) {
            do {
                let value = try CSVColumn.value(
                    cell.bytes, columns?[place] ?? .text, isExport: isExport && columns != nil)
                members.append(JSONMember(key: keys[place], value: value))
            } catch {
                return .bad(
                    RecordError(.invalidRecord, "column \"\(keys[place])\": \(error.message)"))
            }
        }
        return .fields(members)
    }

    private func hasValue(_ cell: CSV.Cell, _ place: Int) -> Bool {
        place != typesColumn && (!cell.bytes.isEmpty || cell.isQuoted)
    }

    /// Returns the cells as they are written, without regard to the schema.
    private func raw(_ row: CSV.Row) -> [JSONMember]? {
        guard columns != nil, row.cells.count <= width else { return nil }
        return zip(keys, row.cells).enumerated().compactMap { place, pair in
            guard hasValue(pair.1, place) else { return nil }
            return JSONMember(key: pair.0, value: .string(Text(utf8: pair.1.bytes)))
        }
    }
}
