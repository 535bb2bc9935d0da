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
        /// The file of a share as it was when it was opened, as long as there is the share.
        case share(ShareFile, [UInt8])
        case events(EventCursor)
        /// Takes text and acts on it: `ctl`, the development schema.
        case command(CommandBuffer)
        case directory(DirectoryCursor)
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

    /// The handles that have the file open, found among all: renames of open files are rare.
    func handles(on matches: (OpenHandle.Backing) -> Bool) -> [OpenHandle] {
        let all = state.withLock { Array($0.handles.values) }
        return all.filter { matches($0.current) }
    }
}
