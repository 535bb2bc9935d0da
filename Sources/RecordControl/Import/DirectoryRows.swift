import Glibc
package import RecordModel

/// A file of a directory that an import skips.
package struct SkippedFile: Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        case directory
        /// The file of a large field of a record in the same directory.
        case largeField
        case hidden
        case otherEnding
    }

    package let name: String
    package let reason: Reason
}

/// The `.json` files of a directory as rows in the order of their names. Each keeps its text.
package struct DirectoryRows: ImportRows {
    private let path: String
    private let names: [String]
    private var index = 0
    /// The files that are no records, in the order of their names.
    package let skipped: [SkippedFile]

    /// The number of files, not of bytes: a file is read only when it is needed.
    package var byteCount: Int? { names.count }

    /// Lists the directory.
    ///
    /// Errors: `notFound`, `notDirectory`, `accessDenied`, `ioFailure`; `invalidArgument` when no
    /// file in it is a record.
    package init(path: String) throws(RecordError) {
        guard let directory = opendir(path) else { throw FileReading.failure(path, errno) }
        defer { closedir(directory) }
        var found: [(name: [UInt8], isDirectory: Bool)] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                Array(bytes.prefix { $0 != 0 })
            }
            if name == Array(".".utf8) || name == Array("..".utf8) { continue }
            found.append((name, entry.pointee.d_type == UInt8(DT_DIR)))
        }
        found.sort { $0.name.lexicographicallyPrecedes($1.name) }
        let all = Set(found.map(\.name))
        var names: [String] = []
        var skipped: [SkippedFile] = []
        for (name, isDirectory) in found {
            let text = String(decoding: name, as: UTF8.self)
            if let reason = Self.reason(name, isDirectory, beside: all) {
                skipped.append(SkippedFile(name: text, reason: reason))
            } else {
                names.append(text)
            }
        }
        guard !names.isEmpty else {
            throw RecordError(
                .invalidArgument,
                "the directory has no .json file. An export of a zone or a database comes in with "
                    + "recordfs import --all.")
        }
        self.path = path
        self.names = names
        self.skipped = skipped
    }

    /// Returns the reason why the file is no record. Returns nil for a record.
    /// `john.doe@example.com.json` is a record, unless there is a record `john.doe.json` beside it
    /// whose large field it is.
    private static func reason(
        _ name: [UInt8], _ isDirectory: Bool, beside all: Set<[UInt8]>
    ) -> SkippedFile.Reason? {
        if isDirectory { return .directory }
        switch EntryName(classifying: name) {
        case .record: return nil
        case .asset(let stem, _, _, _):
            guard name.count > 5, name.suffix(5).elementsEqual(".json".utf8),
                !all.contains(stem.fileName)
            else { return .largeField }
            return nil
        case .scratch: return name.first == UInt8(ascii: ".") ? .hidden : .otherEnding
        }
    }

    package mutating func next() throws(RecordError) -> ImportRow? {
        guard index < names.count else { return nil }
        let file = names[index]
        index += 1
        let stem = Stem(bytes: Array(file.utf8.dropLast(5)))
        let key = stem.decoded ?? RecordName(bytes: stem.bytes)
        var content: ImportRow.Content
        do {
            content = .text(try readWholeFile("\(path)/\(file)"))
        } catch {
            content = .bad(error)
        }
        return ImportRow(line: 1, file: file, key: key, content: content, end: index)
    }
}
