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
            case .record(let open): .record(open.state.withLock(\.file))
            case .scratch(_, let id): .scratch(id)
            case .asset(let open): .asset(open.state.withLock(\.id))
            case .generated, .bytes, .errors, .share, .events, .command, .directory: nil
            }
        }
    }

    let number: HandleNumber
    let canWrite: Bool
    let appends: Bool
    let backing: Mutex<Backing>

    init(_ number: HandleNumber, _ backing: Backing, flags: Int32) {
        self.number = number
        self.canWrite = flags & O_ACCMODE != O_RDONLY
        self.appends = flags & O_APPEND != 0
        self.backing = Mutex(backing)
    }

    var current: Backing { backing.withLock { $0 } }
}

extension Tree {
    func addHandle(_ backing: OpenHandle.Backing, flags: Int32) -> HandleNumber {
        state.withLock { state in
            let number = HandleNumber(rawValue: state.nextHandle)
            state.nextHandle += 1
            state.handles[number] = OpenHandle(number, backing, flags: flags)
            return number
        }
    }

    func handle(_ number: HandleNumber) throws(RecordError) -> OpenHandle {
        guard let handle = state.withLock({ $0.handles[number] }) else {
            throw RecordError(.stale, "the file is not open")
        }
        return handle
    }

    /// Returns notices that make the kernel hand over the data that programs have written into
    /// mappings of open files. For each notice the kernel does so before it drops the pages.
    package func pagesOfOpenFiles() -> [KernelNotice] {
        let handles = handles { _ in true }.filter(\.canWrite)
        return state.withLock { state in
            let numbers = handles.compactMap { handle in
                handle.current.node.flatMap(state.nodes.number(of:))
            }
            return Set(numbers).map { .content($0) }
        }
    }

    /// Returns the handles that have the file open. All handles are searched, because renames of
    /// open files are rare.
    func handles(on matches: (OpenHandle.Backing) -> Bool) -> [OpenHandle] {
        let all = state.withLock { Array($0.handles.values) }
        return all.filter { matches($0.current) }
    }
}
