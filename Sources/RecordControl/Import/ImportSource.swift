import Glibc
package import RecordModel
package import RecordStore

/// Opens a file, a directory or standard input as rows.
package enum ImportSource {
    /// - Parameters:
    ///   - format: by the file's extension when nil.
    ///   - key: the member of a JSON file that has the rows.
    ///   - schema: how cells of a CSV file are read.
    /// Errors: `notFound`, `accessDenied`, `ioFailure`; `invalidArgument` when the format cannot be
    /// told or `key` does not fit it; `invalidJSON` for a JSON file that is none as a whole.
    package static func open(
        _ path: String, format: TransferFormat?, at key: String?, schema: RecordSchema
    ) throws(RecordError) -> any ImportRows {
        let kind = try kind(of: path)
        if kind == S_IFDIR { return try DirectoryRows(path: path) }
        guard let format = format ?? TransferFormat(path: path) else {
            throw RecordError(
                .invalidArgument, "its format cannot be told. Add --format json, ndjson or csv.")
        }
        guard key == nil || format == .json else {
            throw RecordError(.invalidArgument, "--at is for JSON files only.")
        }
        switch format {
        case .json: return try JSONRows(text: try readWholeFile(path), at: key)
        case .ndjson:
            return try LineRows(path: path, byteCount: kind == S_IFREG ? size(of: path) : nil)
        case .csv: return try CSVRows(text: try readWholeFile(path), schema: schema)
        }
    }

    private static func kind(of path: String) throws(RecordError) -> mode_t {
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
