package import RecordModel

/// The rows of a CSV file with a header line that names the fields.
///
/// An empty cell without quotes is no value. A column that the schema knows is read as its type; of
/// an unknown one the whole column decides: numbers when all cells are, else text.
package struct CSVRows: ImportRows {
    private enum Column {
        case text
        /// Numbers, and nested values as an export writes them.
        case json
    }

    private enum Row {
        case cells(CSV.Row)
        case bad(RecordError, end: Int)
    }

    private let rows: [Row]
    private let names: [Text]
    private let columns: [Column]
    private var index = 0

    package let byteCount: Int?

    /// Errors: `invalidArgument` when there is no header, or it names a field twice.
    package init(text: [UInt8], schema: RecordSchema) throws(RecordError) {
        byteCount = text.count
        var rows = Self.read(text)
        guard case .cells(let header) = rows.first else {
            throw RecordError(.invalidArgument, "the file has no header line that names fields.")
        }
        rows.removeFirst()
        names = header.cells.map { Text(utf8: Self.fieldName($0.bytes)) }
        var seen: Set<Text> = []
        for name in names {
            guard !name.isEmpty, seen.insert(name).inserted else {
                throw RecordError(
                    .invalidArgument,
                    "the header has \(name.isEmpty ? "an empty name" : "\"\(name)\" twice").")
            }
        }
        self.rows = rows
        var columns: [Column] = []
        for (column, name) in names.enumerated() {
            let type = schema.type(of: FieldName(bytes: name.utf8))
            columns.append(Self.column(type, Self.cells(of: column, rows)))
        }
        self.columns = columns
    }

    package mutating func next() throws(RecordError) -> ImportRow? {
        guard index < rows.count else { return nil }
        index += 1
        switch rows[index - 1] {
        case .cells(let row):
            return ImportRow(line: row.line, key: nil, content: content(row), end: row.end)
        case .bad(let error, let end):
            return ImportRow(
                line: error.position?.line ?? 1, key: nil, content: .bad(error), end: end)
        }
    }

    private static func read(_ text: [UInt8]) -> [Row] {
        var reader = CSV.Reader()
        reader.append(text)
        reader.finish()
        var rows: [Row] = []
        while true {
            do {
                guard let row = try reader.next() else { return rows }
                rows.append(.cells(row))
            } catch {
                rows.append(.bad(error, end: error.position?.offset ?? 0))
            }
        }
    }

    private static func cells(of column: Int, _ rows: [Row]) -> [[UInt8]] {
        rows.compactMap { row in
            guard case .cells(let row) = row, column < row.cells.count,
                !row.cells[column].bytes.isEmpty
            else { return nil }
            return row.cells[column].bytes
        }
    }

    private func content(_ row: CSV.Row) -> ImportRow.Content {
        guard row.cells.count == names.count else {
            return .bad(
                RecordError(
                    .invalidRecord,
                    "the row has \(row.cells.count) cells, the header \(names.count)."))
        }
        var members: [JSONMember] = []
        for (column, cell) in row.cells.enumerated() where !cell.bytes.isEmpty || cell.isQuoted {
            do {
                let value = try value(cell.bytes, columns[column])
                members.append(JSONMember(key: names[column], value: value))
            } catch {
                return .bad(RecordError(.invalidRecord, "\(names[column]): \(error.message)"))
            }
        }
        return .fields(members)
    }

    private func value(_ cell: [UInt8], _ column: Column) throws(RecordError) -> JSONValue {
        switch column {
        case .text: .text(cell)
        case .json: cell.isEmpty ? .null : try JSONParser.parse(cell)
        }
    }

    /// Characters that no field name has become `_`, so that `First name` is a field.
    private static func fieldName(_ cell: [UInt8]) -> [UInt8] {
        if cell.first == UInt8(ascii: "$") { return cell }
        var name = cell.map { byte -> UInt8 in
            let scalar = Unicode.Scalar(byte)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            return isLetter || ("0"..."9").contains(scalar) ? byte : UInt8(ascii: "_")
        }
        if let first = name.first, first < UInt8(ascii: "A") || first == UInt8(ascii: "_") {
            name = Array("f_".utf8) + name
        }
        return name
    }

    private static func column(_ type: FieldType?, _ cells: [[UInt8]]) -> Column {
        switch type {
        case .string, .timestamp: isTagged(cells) ? .json : .text
        case .some: .json
        case nil: !cells.isEmpty && cells.allSatisfy(isNumber) || isTagged(cells) ? .json : .text
        }
    }

    /// Whether every cell is a tagged value such as `{"$timestamp": ...}`.
    private static func isTagged(_ cells: [[UInt8]]) -> Bool {
        !cells.isEmpty && cells.allSatisfy { $0.starts(with: #"{"$"#.utf8) }
    }

    /// `007` and `+1` are text, as codes and telephone numbers are.
    private static func isNumber(_ cell: [UInt8]) -> Bool {
        do {
            if case .number = try JSONParser.parse(cell) { return true }
            return false
        } catch {
            return false
        }
    }
}
