import Glibc
import RecordModel
import Synchronization

/// A file or directory between open and release.
final class OpenHandle: Sendable {
    /// What a handle reads and writes. A rename can turn a scratch file into a record and back
    /// while somebody has it open; the handle then goes on with what its file has become.
    enum Backing: Sendable {
        case record(OpenRecord)
        case scratch(HostFile, ScratchID)
        case asset(OpenAsset)
        /// A file below `.recordfs` as it was when it was opened.
        case generated(ControlPath, GeneratedContent)
        case bytes([UInt8])
        /// `.error` of a type of others as it was when it was opened, as long as it has something to say.
        case errors(TypeID, [UInt8])
        /// The file of a share as it was when it was opened, as long as there is the share.
        case share(ShareFile, [UInt8])
        case events(EventCursor)
        /// Takes text and acts on it: `ctl`, the development schema.
        case command(CommandBuffer)
        case directory(DirectoryCursor)

        /// The file of which the kernel may have pages that were written; nil where it keeps none.
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

    /// Makes the kernel hand over what programs have written into mappings of files that are open: for
    /// each of them it does so before it drops the pages.
    package func pagesOfOpenFiles() -> [KernelNotice] {
        let handles = handles { _ in true }.filter(\.canWrite)
        return state.withLock { state in
            let numbers = handles.compactMap { handle in
                handle.current.node.flatMap(state.nodes.number(of:))
            }
            return Set(numbers).map { .content($0) }
        }
    }

    /// The handles that have the file open, found among all: renames of open files are rare.
    func handles(on matches: (OpenHandle.Backing) -> Bool) -> [OpenHandle] {
        let all = state.withLock { Array($0.handles.values) }
        return all.filter { matches($0.current) }
    }
}
