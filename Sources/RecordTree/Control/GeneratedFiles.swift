import RecordModel
import RecordStore

/// The generated files that the tree keeps, so that sizes and times stay the same from `stat` to
/// the end of a read.
///
/// INVARIANT: an opened file has a handle.
struct GeneratedFiles: CheckedState {
    /// The number of bytes of exports that are kept for the next reader. The last export is always
    /// kept.
    private static let exportBytesMax: Int64 = 256 << 20

    /// The opened files. While a program has a file open, `stat` shows the content that was opened
    /// last: tar and rsync open first and then ask for the size.
    private(set) var opened: [ControlPath: (content: GeneratedContent, handles: Int)] = [:]
    /// Texts without their own time, each with the time since which it is unchanged.
    private(set) var kept: [ControlPath: GeneratedContent] = [:]
    private(set) var exports:
        [ControlPath: (stamp: ChangeStamp, content: GeneratedContent, use: Int)] =
            [:]
    private(set) var uses = 0

    var size: Int { opened.count }

    var violations: [String] {
        opened.values.contains { $0.handles < 1 } ? ["a file without handles is open"] : []
    }

    func shown(_ path: ControlPath) -> GeneratedContent? { opened[path]?.content }

    mutating func open(_ path: ControlPath, _ content: GeneratedContent) {
        opened[path] = (content, (opened[path]?.handles ?? 0) + 1)
    }

    mutating func close(_ path: ControlPath) {
        guard let (content, handles) = opened[path] else { return }
        opened[path] = handles > 1 ? (content, handles - 1) : nil
    }

    /// Returns the text with the time since which it is unchanged.
    mutating func keep(_ path: ControlPath, _ text: [UInt8], now: Timestamp)
        -> GeneratedContent
    {
        if let known = kept[path], case .bytes(text) = known.storage { return known }
        let content = GeneratedContent(text, modified: now)
        kept[path] = content
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
