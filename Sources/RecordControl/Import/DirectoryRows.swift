import Glibc
package import RecordModel

/// The `.json` files of a directory as rows in the order of their names; each keeps its text.
package struct DirectoryRows: ImportRows {
    private let path: String
    private let names: [String]
    private var index = 0

    /// Counts files, not bytes: nothing is read before its turn.
    package var byteCount: Int? { names.count }

    /// Errors: `notFound`, `notDirectory`, `accessDenied`, `ioFailure`.
    package init(path: String) throws(RecordError) {
        guard let directory = opendir(path) else { throw FileReading.failure(path, errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                Array(bytes.prefix { $0 != 0 })
            }
            if case .record = EntryName(classifying: name) {
                names.append(String(decoding: name, as: UTF8.self))
            }
        }
        self.path = path
        self.names = names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
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
