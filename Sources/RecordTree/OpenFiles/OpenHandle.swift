import Glibc
import RecordModel
import Synchronization

/// A file or directory between open and release.
final class OpenHandle: Sendable {
    /// The file that a handle reads and writes. A rename can turn a scratch file into a record and
    /// back while a program has it open. The handle then continues with the new kind of file.
    enum Backing: Sendable {
        case record(OpenRecord)
        case scratch(HostFile, ScratchID)
        case asset(OpenAsset)
        /// A file below `.recordfs` with its content at the time of the open.
        case generated(ControlPath, GeneratedContent)
        case bytes([UInt8])
        /// `.error` of a type of others with its content at the time of the open, as long as it has
        /// a content.
        case errors(TypeID, [UInt8])
        /// The file of a share with its content at the time of the open, as long as the share
        /// exists.
        case share(ShareFile, [UInt8])
        case events(EventCursor)
        /// A file that takes text and acts on it: `ctl`, the development schema.
        case command(CommandBuffer)
        case directory(DirectoryCursor)

        /// The file of which the kernel may have written pages. Nil where the kernel keeps none.
        var node: Node? {
            switch self {
            case .record(let open): .record(open.file)
            case .scratch(_, let id): .scratch(id)
            case .asset(let open): .asset(open.id)
            case .generated, .bytes, .errors, .share, .events, .command, .directory: nil
            }
        }
    }

    let number: HandleNumber
    let canWrite: Bool
    let appends: Bool
    private let state: Mutex<(backing: Backing, isReleased: Bool)>

    init(_ number: HandleNumber, _ backing: Backing, flags: Int32) {
        self.number = number
        self.canWrite = flags & O_ACCMODE != O_RDONLY
        self.appends = flags & O_APPEND != 0
        state = Mutex((backing, false))
    }

    var current: Backing { state.withLock(\.backing) }

    /// Continues with another file. Returns false when the handle was released meanwhile: nothing
    /// was changed, and the caller closes the file that it opened for the handle.
    func become(_ file: Backing) -> Bool {
        state.withLock { state in
            guard !state.isReleased else { return false }
            state.backing = file
            return true
        }
    }

    /// Ends the handle. Returns the file to close.
    func release() -> Backing {
        state.withLock { state in
            state.isReleased = true
            return state.backing
        }
    }
}

extension OpenHandle.Backing {
    func isScratch(_ id: ScratchID) -> Bool {
        if case .scratch(_, id) = self { true } else { false }
    }

    func isAsset(_ open: OpenAsset) -> Bool {
        if case .asset(let it) = self { it === open } else { false }
    }

    func isRecord(_ open: OpenRecord) -> Bool {
        if case .record(let it) = self { it === open } else { false }
    }
}
