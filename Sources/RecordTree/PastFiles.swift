import RecordModel
import RecordStore
import Synchronization

/// Files that have just lost their names, with what they showed: the kernel may be about to open
/// one that it has looked up a moment ago, or a reader has it open and has not read yet.
///
/// Bounded: the oldest go first, and each goes when the kernel forgets it.
struct PastFiles {
    private static let countMax = 4096
    /// Of texts, in bytes. The newest one stays whatever its size.
    private static let bytesMax = 8 << 20

    private var files: [RecordFile: ReplacedFile] = [:]
    /// In the order of their coming; those in front of `first` are gone.
    private var order: [RecordFile] = []
    private var first = 0
    private var bytes = 0

    subscript(file: RecordFile) -> ReplacedFile? { files[file] }

    mutating func add(_ replaced: ReplacedFile) {
        let file = replaced.entry.file
        remove(file)
        files[file] = replaced
        order.append(file)
        bytes += replaced.text.count
        while files.count > 1, files.count > Self.countMax || bytes > Self.bytesMax {
            remove(order[first])
            first += 1
        }
        if first > Self.countMax || order.count - first > 2 * Self.countMax {
            order = order[first...].filter { files[$0] != nil }
            first = 0
        }
    }

    mutating func remove(_ file: RecordFile) {
        guard let old = files.removeValue(forKey: file) else { return }
        bytes -= old.text.count
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
    func filesReplaced(_ files: [ReplacedFile]) {
        state.withLock { state in
            for file in files {
                state.open[file.entry.file]?.keep(file.text)
                state.past.add(file)
            }
        }
    }
}
