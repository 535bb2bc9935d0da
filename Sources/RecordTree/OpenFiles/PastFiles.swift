import RecordModel
import RecordStore
import Synchronization

/// Files that have just lost their names, with what they showed: the kernel may be about to open
/// one that it has looked up a moment ago, or a reader has it open and has not read yet.
///
/// That it forgets one says nothing: it may have looked the file up twice, and use the other answer
/// only now. So each stays for a time in which the kernel has long been told of the next file.
/// Bounded: the oldest go first.
struct PastFiles {
    static let lifetime: Duration = .seconds(10)
    private static let countMax = 4096
    /// Of texts, in bytes. The newest one stays whatever its size.
    private static let bytesMax = 8 << 20

    private var files: [RecordFile: (replaced: ReplacedFile, since: Duration)] = [:]
    /// In the order of their coming; those in front of `first` are gone.
    private var order: [RecordFile] = []
    private var first = 0
    private var bytes = 0

    subscript(file: RecordFile) -> ReplacedFile? { files[file]?.replaced }

    /// - Parameter uptime: that of now.
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

    /// Drops those whose time is over. Returns the bytes of their texts.
    mutating func removeOld(at uptime: Duration) -> Int {
        let before = bytes
        while first < order.count, isOver(order[first], uptime) { removeFirst() }
        if first == order.count {
            order = []
            first = 0
        }
        return before - bytes
    }

    /// Whether a file that came long ago can go, or has gone already.
    private func isOver(_ file: RecordFile, _ uptime: Duration) -> Bool {
        guard let kept = files[file] else { return true }
        return kept.since + Self.lifetime <= uptime
    }

    private mutating func removeFirst() {
        remove(order[first])
        first += 1
    }

    /// It has its name again, or never lost it.
    mutating func remove(_ file: RecordFile) {
        guard let old = files.removeValue(forKey: file) else { return }
        bytes -= old.replaced.text.count
    }
}

extension ReplacedFile {
    /// Whether an open that comes late shall meet it, as on other file systems. Where the daemon
    /// itself has changed what the name shows, the kernel looks the name up again instead.
    var isOpenable: Bool {
        switch effect {
        case .renamedOver: true
        case .replaced: author != .mount
        case .inPlace, .rewritten, .removed: false
        }
    }
}

extension Tree {
    /// Hears, before each commit, which files lose their names: who has one open keeps its text.
    /// After a commit that failed they have their names, and later saves go into them: what was
    /// kept for late readers would be old then.
    func filesReplaced(_ files: [ReplacedFile], _ moment: Replacement) {
        let (uptime, now) = (options.clock.uptime, now)
        state.withLock { state in
            for replaced in files {
                let file = replaced.entry.file
                switch moment {
                case .begins:
                    state.open[file]?.keep(replaced.text)
                    state.past.add(replaced, at: uptime)
                    state.readings.replaced(replaced, at: now)
                case .failed:
                    state.open[file]?.keepName()
                    state.past.remove(file)
                case .done: break
                }
            }
        }
        guard moment == .done else { return }
        for replaced in files where replaced.author.isProgram {
            dropUnsaved(replaced.entry.type, replaced.entry.stem)
        }
    }
}
