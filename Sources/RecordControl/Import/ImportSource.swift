import Glibc
package import RecordModel
package import RecordStore

/// A file, a directory or standard input, whose rows can be read as often as needed.
///
/// Lines and tables are read in pieces. The text of one JSON document is in memory once.
package struct ImportSource {
    package struct Options: Sendable {
        /// The format. When it is nil, the file's extension decides.
        package var format: TransferFormat?
        /// The member of a JSON file that has the rows.
        package var key: String?
        /// The encoding. When it is nil, it is UTF-8 or the encoding of a byte order mark.
        package var encoding: String?
        /// The character that separates the cells of a table. When it is nil, it is detected.
        package var delimiter: UInt8?

        package init() {}
    }

    private enum Kind {
        case directory(DirectoryRows)
        case json(JSONRows)
        case lines(path: String, byteCount: Int?)
        case table(path: String, byteCount: Int?, delimiter: UInt8)
    }

    private let kind: Kind
    private let encoding: String?
    /// The copy of a pipe, which it keeps open.
    private let spool: Spool?

    /// Opens the source.
    ///
    /// Errors: `notFound`, `accessDenied`, `noSpace`, `ioFailure`; `invalidArgument` when the
    /// format cannot be determined, an option does not fit it, or the text has another encoding;
    /// `invalidJSON` for a JSON file that is not valid as a whole.
    package init(_ path: String, _ options: Options = Options()) throws(RecordError) {
        encoding = options.encoding
        let mode = try Self.mode(of: path)
        if mode == S_IFDIR {
            try Self.refuse(options.encoding, "--encoding", "not for directories")
            kind = .directory(try DirectoryRows(path: path))
            spool = nil
            return
        }
        let format = try Self.format(path, options)
        let spool = mode == S_IFREG || format == .json ? nil : try Spool(of: path)
        self.spool = spool
        let place = spool?.path ?? path
        // A file in another encoding does not have the length of the text that is read.
        let byteCount = options.encoding == nil ? Self.size(of: place) : nil
        switch format {
        case .json:
            kind = .json(
                try JSONRows(text: try Self.text(of: path, encoding), at: options.key))
        case .ndjson: kind = .lines(path: place, byteCount: byteCount)
        case .csv:
            let sample = try TextReading(path: place, encoding: encoding, checksUTF8: true).chunk()
            kind = .table(
                path: place, byteCount: byteCount,
                delimiter: options.delimiter ?? CSVDialect.delimiter(of: sample))
        }
    }

    /// The delimiter of a table.
    package var delimiter: UInt8? {
        if case .table(_, _, let delimiter) = kind { delimiter } else { nil }
    }

    /// Indicates whether a comma can come before a fraction in this table.
    private var hasDecimalCommas: Bool { delimiter.map { $0 != UInt8(ascii: ",") } ?? false }

    var isDirectory: Bool {
        if case .directory = kind { true } else { false }
    }

    /// The files of a directory that are no records.
    package var skipped: [SkippedFile] {
        if case .directory(let rows) = kind { rows.skipped } else { [] }
    }

    /// Returns the rows from the beginning. Without a plan, each cell of a table is read as its own
    /// text suggests.
    ///
    /// Errors: as for `init`, when the file changed since.
    package func rows(_ plan: ImportPlan? = nil) throws(RecordError) -> any ImportRows {
        switch kind {
        case .directory(let rows): return rows
        case .json(let rows): return rows
        case .lines(let path, let byteCount):
            let input = try TextReading(path: path, encoding: encoding, checksUTF8: false)
            return LineRows(input, byteCount: byteCount)
        case .table(let path, let byteCount, let delimiter):
            let input = try TextReading(path: path, encoding: encoding, checksUTF8: true)
            guard let plan else {
                return try CSVRows(input, byteCount: byteCount, delimiter: delimiter)
            }
            return try CSVRows(
                input, byteCount: byteCount, delimiter: delimiter, columns: plan.columns)
        }
    }

    /// Returns the common properties of the rows, for a target with this schema. It reads the
    /// source once.
    ///
    /// Errors: as for `rows`, and errors that make the source unreadable, such as a line of a table
    /// that is not in the encoding.
    package func survey(
        schema: RecordSchema, nameField: String? = nil
    ) throws(RecordError) -> ImportPlan {
        var rows = try rows()
        var survey = ImportSurvey(
            table: rows as? CSVRows, hasDecimalCommas: hasDecimalCommas, schema: schema,
            nameField: nameField)
        // Nothing is stored of a source that cannot be read to its end.
        while let row = try rows.next() { survey.add(row) }
        return try survey.plan()
    }

    private static func format(
        _ path: String, _ options: Options
    ) throws(RecordError) -> TransferFormat {
        guard let format = options.format ?? TransferFormat(path: path) else {
            throw RecordError(
                .invalidArgument, "its format cannot be told. Add --format json, ndjson or csv.")
        }
        if format != .json { try refuse(options.key, "--at", "for JSON files only") }
        if format != .csv { try refuse(options.delimiter, "--delimiter", "for CSV files only") }
        return format
    }

    private static func refuse(
        _ option: (some Any)?, _ name: String, _ reason: String
    ) throws(RecordError) {
        if option != nil { throw RecordError(.invalidArgument, "\(name) is \(reason).") }
    }

    private static func text(of path: String, _ encoding: String?) throws(RecordError) -> [UInt8] {
        let input = try TextReading(path: path, encoding: encoding, checksUTF8: false)
        var text: [UInt8] = []
        while true {
            let chunk = try input.chunk()
            if chunk.isEmpty { return text }
            text += chunk
        }
    }

    private static func mode(of path: String) throws(RecordError) -> mode_t {
        if path == "-" { return S_IFIFO }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw FileReading.failure(path, errno)
        }
        return status.st_mode & S_IFMT
    }

    private static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
