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
/// INVARIANT: `bytes` is the size of all texts, and each file is in `order` from `first` on, under
/// its number.
struct PastFiles: CheckedState {
    /// A file in the order of the additions.
    struct Place: Hashable {
        let file: RecordFile
        /// The number of the addition: a file may lose its name again after a failed commit.
        let number: Int
    }

    static let lifetime: Duration = .seconds(10)
    private static let countMax = 4096
    /// The limit for all texts, in bytes. The newest text stays at any size.
    private static let bytesMax = 8 << 20

    private(set) var files: [RecordFile: (replaced: ReplacedFile, since: Duration, number: Int)] =
        [:]
    /// The files in the order in which they were added. Those before `first` are removed.
    private(set) var order: [Place] = []
    private(set) var added = 0
    private(set) var first = 0
    private(set) var bytes = 0

    var size: Int { order.count }

    var violations: [String] {
        var found: [String] = []
        if bytes != files.values.reduce(0, { $0 + $1.replaced.text.count }) {
            found.append("the bytes of past files are counted wrongly")
        }
        let places = files.map { Place(file: $0.key, number: $0.value.number) }
        if !Set(order[first...]).isSuperset(of: places) {
            found.append("a past file is never removed")
        }
        return found
    }

    subscript(file: RecordFile) -> ReplacedFile? { files[file]?.replaced }

    /// - Parameter uptime: the current uptime.
    mutating func add(_ replaced: ReplacedFile, at uptime: Duration) {
        let file = replaced.entry.file
        remove(file)
        added += 1
        files[file] = (replaced, uptime, added)
        order.append(Place(file: file, number: added))
        bytes += replaced.text.count
        while files.count > 1, files.count > Self.countMax || bytes > Self.bytesMax {
            removeFirst()
        }
        if first > Self.countMax || order.count - first > 2 * Self.countMax {
            order = order[first...].filter(isKept)
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

    /// Returns whether the file was neither removed since, nor added again.
    private func isKept(_ place: Place) -> Bool { files[place.file]?.number == place.number }

    /// Returns whether a file can be removed, or was removed already.
    private func isOver(_ place: Place, _ uptime: Duration) -> Bool {
        guard isKept(place), let kept = files[place.file] else { return true }
        return kept.since + Self.lifetime <= uptime
    }

    private mutating func removeFirst() {
        if isKept(order[first]) { remove(order[first].file) }
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
