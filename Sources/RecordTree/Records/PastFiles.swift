import RecordModel
import RecordStore

/// Files that have just lost their names, with the text that they showed. The kernel may be about
/// to open a file that it has just looked up, or a reader has the file open and has not read it
/// yet.
///
/// That the kernel forgets a file proves nothing: it may have looked the file up twice, and use the
/// other answer only now. Therefore each file stays for a time within which the kernel surely
/// learns of the next file. The memory is bounded: the oldest files are removed first.
///
/// INVARIANT: `bytes` is the size of all texts, and each file is in `order` from `first` on.
struct PastFiles: CheckedState {
    static let lifetime: Duration = .seconds(10)
    private static let countMax = 4096
    /// The limit for all texts, in bytes. The newest text stays at any size.
    private static let bytesMax = 8 << 20

    private(set) var files: [RecordFile: (replaced: ReplacedFile, since: Duration)] = [:]
    /// The files in the order in which they were added. Those before `first` are removed.
    private(set) var order: [RecordFile] = []
    private(set) var first = 0
    private(set) var bytes = 0

    var size: Int { order.count }

    var violations: [String] {
        var found: [String] = []
        if bytes != files.values.reduce(0, { $0 + $1.replaced.text.count }) {
            found.append("the bytes of past files are counted wrongly")
        }
        if !Set(order[first...]).isSuperset(of: files.keys) {
            found.append("a past file is never removed")
        }
        return found
    }

    subscript(file: RecordFile) -> ReplacedFile? { files[file]?.replaced }

    /// - Parameter uptime: the current uptime.
    mutating func add(_ replaced: ReplacedFile, at uptime: Duration) {
        let file = replaced.entry.file
        remove(file)
        files[file] = (replaced, uptime)
        order.append(file)
        bytes += replaced.text.count
        while files.count > 1, files.count > Self.countMax || bytes > Self.bytesMax {
            removeFirst()
        }
        if first > Self.countMax || order.count - first > 2 * Self.countMax {
            order = order[first...].filter { files[$0] != nil }
            first = 0
        }
    }

    /// Removes the files whose time is over. Returns the number of bytes of their texts.
    mutating func removeOld(at uptime: Duration) -> Int {
        let before = bytes
        while first < order.count, isOver(order[first], uptime) { removeFirst() }
        if first == order.count {
            order = []
            first = 0
        }
        return before - bytes
    }

    /// Returns whether a file can be removed, or was removed already.
    private func isOver(_ file: RecordFile, _ uptime: Duration) -> Bool {
        guard let kept = files[file] else { return true }
        return kept.since + Self.lifetime <= uptime
    }

    private mutating func removeFirst() {
        remove(order[first])
        first += 1
    }

    /// Removes a file that has its name again, or never lost it.
    mutating func remove(_ file: RecordFile) {
        guard let old = files.removeValue(forKey: file) else { return }
        bytes -= old.replaced.text.count
    }
}

extension ReplacedFile {
    /// Indicates whether a late open gets this file, as on other file systems. Where the daemon
    /// itself has changed the file of the name, the kernel looks the name up again instead.
    var isOpenable: Bool {
        switch effect {
        case .renamedOver: true
        case .replaced: author != .mount
        case .inPlace, .rewritten, .removed: false
        }
    }
}
