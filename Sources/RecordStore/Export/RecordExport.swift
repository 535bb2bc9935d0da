package import RecordModel

/// The file formats of import and export.
package enum TransferFormat: String, Sendable, CaseIterable {
    case json, ndjson, csv

    /// Returns the format of a file by its name. Returns nil for another extension.
    package init?(path: String) {
        let name = path.split(separator: "/").last ?? ""
        switch name.split(separator: ".").last.map({ $0.lowercased() }) {
        case "json", "geojson": self = .json
        case "ndjson", "jsonl": self = .ndjson
        case "csv", "tsv", "tab": self = .csv
        default: return nil
        }
    }
}

/// Writes the records of a type as one file. Each row is the record's fields, preceded by the
/// decoded name of its file as `$name`, so that an import of the file makes the same files.
package struct RecordExport {
    /// The member that carries the record name in a file of many records.
    package static let nameMember = "$name"
    /// The member of the first row, or the column without cells, that has the types of the fields
    /// whose values do not show them: dates in plain text, whole numbers of a DOUBLE.
    package static let typesMember = "$types"

    private let format: TransferFormat
    private let schema: RecordSchema
    private let hasModel: Bool
    private let output: ([UInt8]) throws(RecordError) -> Void
    private var count = 0
    /// Fields whose type an import would mistake for another one, with their types.
    private var hints: [RecordSchema.Field] = []
    /// The time of the type's last change, in the state that was written.
    package private(set) var lastChange: Timestamp?

    /// - Parameter output: takes the next bytes of the file.
    package init(
        format: TransferFormat, schema: RecordSchema,
        output: @escaping ([UInt8]) throws(RecordError) -> Void
    ) {
        self.format = format
        // A model has other names and forms, and an import of the file reads them back by the model.
        self.schema = schema.shown
        hasModel = schema.mapping != nil
        self.output = output
    }

    /// Writes all saved records in the state of one moment, and returns their number.
    ///
    /// Errors: those of `output` and of the store.
    package mutating func export(
        _ type: TypeID, of store: RecordStore, onProgress: (Int) -> Void = { _ in }
    ) throws(RecordError) -> Int {
        var writer = self
        try writer.findHints(type, store)
        try writer.begin()
        let lastChange = try store.withNamedRecords(in: type) {
            (entry, name, text) throws(RecordError) in
            // A shortened stem gives no name.
            try writer.write(entry.stem.decoded ?? name, text)
            if writer.count % 500 == 0 { onProgress(writer.count) }
        }
        try writer.end()
        self = writer
        self.lastChange = lastChange
        return count
    }

    /// Examines all values in the same way as an import.
    private mutating func findHints(_ type: TypeID, _ store: RecordStore) throws(RecordError) {
        guard !hasModel else { return }
        var evidence: [Text: FieldEvidence] = [:]
        let names = schema.fields.map { Text(utf8: $0.name.bytes) }
        for name in names { evidence[name] = FieldEvidence(isTable: format == .csv) }
        let (schema, format) = (schema, format)
        try store.withNamedRecords(in: type) { (_, _, text) throws(RecordError) in
            for member in try JSONParser.parse(text).object ?? [] {
                let type = schema.type(of: FieldName(bytes: member.key.utf8))
                let cell = format == .csv ? Self.cell(member.value, type) : nil
                evidence[member.key]?.add(member.value, cell)
            }
        }
        hints = schema.fields.filter { field in
            guard let found = evidence[Text(utf8: field.name.bytes)], found.hasValues else {
                return false
            }
            return found.type != field.type
        }
    }

    private func begin() throws(RecordError) {
        switch format {
        case .json: try output(Array("[".utf8))
        case .ndjson: break
        case .csv: try output(CSV.line(columns + typesColumn))
        }
    }

    /// The header of a column for which no row has a cell.
    private var typesColumn: [[UInt8]] {
        guard !hints.isEmpty else { return [] }
        let words = hints.map { "\($0.name)=\($0.type.name)" }.joined(separator: " ")
        return [Array("\(Self.typesMember) \(words)".utf8)]
    }

    private var typesOfFirstRow: [JSONMember] {
        guard count == 0, !hints.isEmpty else { return [] }
        let types = hints.map {
            JSONMember(key: Text(utf8: $0.name.bytes), value: JSONValue($0.type.name))
        }
        return [JSONMember(key: Text(Self.typesMember), value: .object(types))]
    }

    private func end() throws(RecordError) {
        if format == .json { try output(Array((count == 0 ? "]\n" : "\n]\n").utf8)) }
    }

    private mutating func write(_ name: RecordName, _ text: [UInt8]) throws(RecordError) {
        let members = try JSONParser.parse(text).object ?? []
        let name = JSONMember(key: Text(Self.nameMember), value: .string(Text(utf8: name.bytes)))
        let named = [name] + (format == .csv ? [] : typesOfFirstRow) + members
        switch format {
        case .json:
            let separator = Array((count == 0 ? "\n" : ",\n").utf8)
            try output(separator + JSONValue.object(named).serialized())
        case .ndjson: try output(JSONValue.object(named).serialized() + [UInt8(ascii: "\n")])
        case .csv: try output(CSV.line(cells(named) + typesColumn.map { _ in nil }))
        }
        count += 1
    }

    private var columns: [[UInt8]] {
        [Array(Self.nameMember.utf8), Array("$parent".utf8)] + schema.fields.map { $0.name.bytes }
    }

    private func cells(_ members: [JSONMember]) -> [[UInt8]?] {
        var values: [[UInt8]: JSONValue] = [:]
        for member in members { values[member.key.utf8] = member.value }
        return columns.map { name in
            values[name].flatMap { Self.cell($0, schema.type(of: FieldName(bytes: name))) }
        }
    }

    /// Returns the cell of a value. Text stays as it is. Any other value is written as JSON, so
    /// that nested values survive; so is text where the type does not distinguish it from them. The
    /// result is nil for no value, which CSV distinguishes from an empty text.
    private static func cell(_ value: JSONValue, _ type: FieldType?) -> [UInt8]? {
        switch value {
        case .null: nil
        case .string(let text) where type != .json: CSVColumn.cell(text.utf8)
        default: value.serialized()
        }
    }
}

/// The type that an import would see in the values of a field.
private struct FieldEvidence {
    private var values = TypeEvidence()
    private var column: CSVColumn?
    private(set) var hasValues = false

    init(isTable: Bool) { column = isTable ? CSVColumn(isExport: true) : nil }

    /// Adds a value.
    ///
    /// - Parameter cell: the cell in a table.
    mutating func add(_ value: JSONValue, _ cell: [UInt8]?) {
        guard !value.isNull else { return }
        hasValues = true
        if let cell { column?.add(cell) } else { values.add(value) }
    }

    var type: FieldType? { column.map(\.type) ?? values.type }
}
