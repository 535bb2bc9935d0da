import RecordModel

/// The content of a generated file: `stat` and all programs that have opened it see the same text.
struct GeneratedContent: Sendable {
    enum Storage: Sendable {
        case bytes([UInt8])
        case file(HostFile)
    }

    let storage: Storage
    let size: Int64
    let modified: Timestamp
    /// Indicates whether the content is about records that others share. The share may end while a
    /// program reads the file.
    var isOfOthers = false

    init(_ bytes: [UInt8], modified: Timestamp) {
        storage = .bytes(bytes)
        size = Int64(bytes.count)
        self.modified = modified
    }

    init(_ file: HostFile, size: Int64, modified: Timestamp) {
        storage = .file(file)
        self.size = size
        self.modified = modified
    }

    func read(offset: Int64, count: Int) -> ReadResult {
        switch storage {
        case .bytes(let bytes): return .bytes(bytes.bytes(at: offset, count: count))
        case .file(let file): return .file(file, offset: offset, count: count)
        }
    }
}
