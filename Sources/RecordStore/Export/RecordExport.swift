package import RecordModel

/// The file formats of import and export.
package enum TransferFormat: String, Sendable, CaseIterable {
    case json, ndjson, csv

    /// The format of a file by its name; nil for another extension.
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

/// Writes the records of a type as one file: each row is the record's fields, with the name that its
/// file has, decoded, as `$name` before them, so that an import of the file makes the same files.
package struct RecordExport {
    /// The member that carries the record name in a file of many records.
    package static let nameMember = "$name"

    private let format: TransferFormat
    private let schema: RecordSchema
    private let output: ([UInt8]) throws(RecordError) -> Void
    private var count = 0
    /// When the type had last changed, as of what was written.
    package private(set) var lastChange: Timestamp?

    /// - Parameter output: takes the next bytes of the file.
    package init(
        format: TransferFormat, schema: RecordSchema,
        output: @escaping ([UInt8]) throws(RecordError) -> Void
    ) {
        self.format = format
        self.schema = schema
        self.output = output
    }

    /// Writes all saved records as one moment had them; returns their number.
    ///
    /// Errors: those of `output` and of the store.
    package mutating func export(
        _ type: TypeID, of store: RecordStore, onProgress: (Int) -> Void = { _ in }
    ) throws(RecordError) -> Int {
        var writer = self
        try writer.begin()
        let lastChange = try store.withNamedRecords(in: type) {
            (entry, name, text) throws(RecordError) in
            // A shortened one says no name.
            try writer.write(entry.stem.decoded ?? name, text)
            if writer.count % 500 == 0 { onProgress(writer.count) }
        }
        try writer.end()
        self = writer
        self.lastChange = lastChange
        return count
    }

    private func begin() throws(RecordError) {
        switch format {
        case .json: try output(Array("[".utf8))
        case .ndjson: break
        case .csv: try output(CSV.line(columns))
        }
    }

    private func end() throws(RecordError) {
        if format == .json { try output(Array((count == 0 ? "]\n" : "\n]\n").utf8)) }
    }

    private mutating func write(_ name: RecordName, _ text: [UInt8]) throws(RecordError) {
        let members = try JSONParser.parse(text).object ?? []
        let named =
            [JSONMember(key: Text(Self.nameMember), value: .string(Text(utf8: name.bytes)))]
            + members
        switch format {
        case .json:
            let separator = Array((count == 0 ? "\n" : ",\n").utf8)
            try output(separator + JSONValue.object(named).serialized())
        case .ndjson: try output(JSONValue.object(named).serialized() + [UInt8(ascii: "\n")])
        case .csv: try output(CSV.line(cells(named)))
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

    /// Text as it is; anything else as JSON, so that nested values survive, and text too where the
    /// type does not tell it from them. No value is nil, which CSV tells from an empty text.
    private static func cell(_ value: JSONValue, _ type: FieldType?) -> [UInt8]? {
        switch value {
        case .null: nil
        case .string(let text) where type != .json: text.utf8
        default: value.serialized()
        }
    }
}
