import RecordModel

/// The rows of a CSV file with a header line that names the fields.
///
/// An empty cell without quotes is no value; so is one that a short row has not. Read first as each
/// cell looks, for a survey, then as the whole column, and the schema, say.
struct CSVRows: ImportRows {
    enum Column {
        case text
        /// Numbers, and nested values as an export writes them.
        case json
    }

    /// The names of the header, each only once.
    let keys: [Text]
    let byteCount: Int?

    private let input: TextReading
    private var reader: CSV.Reader
    private let columns: [Column]?

    /// - Parameter columns: nil to read each cell as it looks.
    /// Errors: `invalidArgument` when there is no header, or for another encoding; `ioFailure`.
    init(
        _ input: TextReading, byteCount: Int?, delimiter: UInt8, columns: [Column]? = nil
    ) throws(RecordError) {
        self.input = input
        self.byteCount = byteCount
        self.columns = columns
        reader = CSV.Reader(delimiter: delimiter)
        do throws(RecordError) {
            guard let header = try Self.row(&reader, input) else {
                throw RecordError(.invalidArgument, "it has no header line that names fields")
            }
            keys = Self.keys(header.cells)
        } catch {
            guard error.position != nil else { throw error }
            throw RecordError(.invalidArgument, "the header line: \(error.message)")
        }
    }

    mutating func next() throws(RecordError) -> ImportRow? {
        do {
            guard let row = try Self.row(&reader, input) else { return nil }
            var found = ImportRow(
                line: row.line, key: nil, content: content(row), end: row.end)
            found.isShort = row.cells.count < keys.count
            return found
        } catch {
            // Without a place in the text the file itself is at fault.
            guard let position = error.position else { throw error }
            return ImportRow(
                line: position.line, key: nil, content: .bad(error), end: position.offset)
        }
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

    /// A column without a name is called by its place, a second one of a name numbered.
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
        guard row.cells.count <= keys.count else {
            return .bad(
                RecordError(
                    .invalidRecord,
                    "the row has \(row.cells.count) cells, the header \(keys.count)"))
        }
        var members: [JSONMember] = []
        members.reserveCapacity(row.cells.count)
        for (place, cell) in row.cells.enumerated() where !cell.bytes.isEmpty || cell.isQuoted {
            do {
                let value = try value(cell.bytes, columns?[place])
                members.append(JSONMember(key: keys[place], value: value))
            } catch {
                return .bad(
                    RecordError(.invalidRecord, "column \"\(keys[place])\": \(error.message)"))
            }
        }
        return .fields(members)
    }

    private func value(_ cell: [UInt8], _ column: Column?) throws(RecordError) -> JSONValue {
        switch column {
        case .text: .text(cell)
        case .json: cell.isEmpty ? .null : try JSONParser.parse(cell)
        case nil: Self.looks(cell)
        }
    }

    /// `007` and `+1` are text, as codes and telephone numbers are.
    private static func looks(_ cell: [UInt8]) -> JSONValue {
        let isTagged = cell.starts(with: #"{"$"#.utf8)
        guard isTagged || cell.allSatisfy(isNumeric) else { return .text(cell) }
        do {
            let value = try JSONParser.parse(cell)
            switch value {
            case .number, .object: return value
            default: return .text(cell)
            }
        } catch {
            return .text(cell)
        }
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
            UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// How a column is read of which the survey knows all cells, and the schema perhaps the type.
    static func column(_ evidence: TypeEvidence, as type: FieldType?) -> Column {
        switch type {
        case .string, .timestamp: evidence.isTagged ? .json : .text
        case .some: .json
        case nil: evidence.isNumeric || evidence.isTagged ? .json : .text
        }
    }
}
