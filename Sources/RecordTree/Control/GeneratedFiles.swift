import RecordModel
import RecordStore
import Synchronization

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
        case .bytes(let bytes):
            guard offset >= 0, offset < size else { return .bytes([]) }
            let start = Int(offset)
            return .bytes(Array(bytes[start..<(start + min(count, bytes.count - start))]))
        case .file(let file): return .file(file, offset: offset, count: count)
        }
    }
}

/// The generated files that the tree keeps, so that sizes and times stay the same from `stat` to
/// the end of a read.
struct GeneratedFiles {
    /// The number of bytes of exports that are kept for the next reader. The last export is always
    /// kept.
    private static let exportBytesMax: Int64 = 256 << 20

    /// The opened files. While a program has a file open, `stat` shows the content that was opened
    /// last: tar and rsync open first and then ask for the size.
    private var opened: [ControlPath: (content: GeneratedContent, handles: Int)] = [:]
    /// Texts without their own time, each with the time since which it is unchanged.
    private var settled: [ControlPath: GeneratedContent] = [:]
    private var exports: [ControlPath: (stamp: ChangeStamp, content: GeneratedContent, use: Int)] =
        [:]
    private var uses = 0

    func shown(_ path: ControlPath) -> GeneratedContent? { opened[path]?.content }

    mutating func open(_ path: ControlPath, _ content: GeneratedContent) {
        opened[path] = (content, (opened[path]?.handles ?? 0) + 1)
    }

    mutating func close(_ path: ControlPath) {
        guard let (content, handles) = opened[path] else { return }
        opened[path] = handles > 1 ? (content, handles - 1) : nil
    }

    /// Returns the text with the time since which it is unchanged.
    mutating func settle(_ path: ControlPath, _ text: [UInt8], now: Timestamp)
        -> GeneratedContent
    {
        if let known = settled[path], case .bytes(text) = known.storage { return known }
        let content = GeneratedContent(text, modified: now)
        settled[path] = content
        return content
    }

    mutating func export(_ path: ControlPath, _ stamp: ChangeStamp) -> GeneratedContent? {
        guard let known = exports[path], known.stamp == stamp else { return nil }
        uses += 1
        exports[path]?.use = uses
        return known.content
    }

    /// Keeps an export. Returns the contents that are no longer kept: the caller closes their files
    /// outside of any lock.
    mutating func keep(_ path: ControlPath, _ stamp: ChangeStamp, _ content: GeneratedContent)
        -> [GeneratedContent]
    {
        var dropped: [GeneratedContent] = []
        if let old = exports.removeValue(forKey: path) { dropped.append(old.content) }
        uses += 1
        exports[path] = (stamp, content, uses)
        var total = exports.values.reduce(0) { $0 + $1.content.size }
        for (path, kept) in exports.sorted(by: { $0.value.use < $1.value.use }).dropLast()
        where total > Self.exportBytesMax {
            exports[path] = nil
            dropped.append(kept.content)
            total -= kept.content.size
        }
        return dropped
    }
}

extension Tree {
    /// Returns the current content of a generated file. Returns nil when its subject no longer
    /// exists.
    func generatedContent(_ path: ControlPath) throws(RecordError) -> GeneratedContent? {
        switch path {
        case .status: return settle(path, try statusText())
        case .metrics: return settle(path, try metricsText())
        case .schema(let isProduction):
            return settle(path, isProduction ? SchemaText.print([]) : try developmentSchema())
        case .error(let record):
            return try store.refusal(of: record).map {
                GeneratedContent(Array(Self.report($0).utf8), modified: $0.since)
            }
        case .meta(let record):
            guard let meta = try store.meta(of: record) else { return nil }
            return GeneratedContent(try metaText(meta), modified: meta.modified)
        case .version(let token):
            return try store.version(token).map { GeneratedContent($0.text, modified: $0.at) }
        case .trashed(let id):
            return try store.trashed(id).map {
                GeneratedContent($0.text, modified: $0.entry.deleted)
            }
        case .conflictFile(let conflict, let file): return try conflictContent(conflict, file)
        case .export(let type, let format): return try exported(path, type, format)
        default: return nil
        }
    }

    private func settle(_ path: ControlPath, _ text: [UInt8]) -> GeneratedContent {
        let now = now
        return state.withLock { $0.generated.settle(path, text, now: now) }
    }

    private func developmentSchema() throws(RecordError) -> [UInt8] {
        var types: [(RecordTypeName, RecordSchema)] = []
        for type in try store.schemaTypes() { types.append((type, try store.schema(of: type))) }
        return SchemaText.print(types)
    }

    /// Returns an export. It is kept in an unnamed file as long as its type does not change.
    private func exported(_ path: ControlPath, _ type: TypeID, _ format: TransferFormat)
        throws(RecordError) -> GeneratedContent?
    {
        guard let info = try store.type(type) else { return nil }
        // Read before the records: a change in between makes the stamp old, but never the text.
        let stamp = try store.changeStamp(of: type)
        if let kept = state.withLock({ $0.generated.export(path, stamp) }) { return kept }
        let content = try makeExport(info, format)
        let dropped = state.withLock { $0.generated.keep(path, stamp, content) }
        withExtendedLifetime(dropped) {}
        return content
    }

    private func makeExport(_ type: TypeInfo, _ format: TransferFormat)
        throws(RecordError) -> GeneratedContent
    {
        let file = try temporaryFile([])
        var offset: Int64 = 0
        var pending: [UInt8] = []
        func write() throws(RecordError) {
            try file.append(pending, at: offset)
            offset += Int64(pending.count)
            pending.removeAll(keepingCapacity: true)
        }
        var export = RecordExport(format: format, schema: try store.schema(of: type.name)) {
            (chunk: [UInt8]) throws(RecordError) in
            pending += chunk
            if pending.count >= 1 << 18 { try write() }
        }
        _ = try export.export(type.id, of: store)
        try write()
        return GeneratedContent(
            file, size: offset, modified: export.lastChange ?? type.modified)
    }
}

extension HostFile {
    fileprivate func append(_ bytes: [UInt8], at offset: Int64) throws(RecordError) {
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) { try write(buffer, offset: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
