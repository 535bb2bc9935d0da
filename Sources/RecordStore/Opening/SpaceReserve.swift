import Glibc
import RecordModel
import Synchronization

/// Disk space kept for the operations that have to work on a full disk: deletions, opening, moving
/// the log into the database. It is a file without content, which is removed when one of these
/// operations meets a full disk.
///
/// While the reserve is not whole, nothing else is written, so that it is restored as soon as there
/// is space.
final class SpaceReserve: Sendable {
    /// The bytes left free in addition when the reserve is made, so that the system can continue.
    private static let margin: Int64 = 256 << 10
    /// The free space below which opening a store may fail.
    private static let scarce: Int64 = 1 << 20

    private struct State {
        /// The bytes that are set aside.
        var reserved: Int64
        /// A counter that grows when a change begins. If another change has begun meanwhile, the
        /// result of the earlier one does not say how large the file is.
        var changes: UInt64 = 0
        /// The operations that use the space now.
        var users = 0
        /// The bytes that were set aside before they were returned to the disk the last time.
        var returned: Int64 = 0
    }

    private let path: String
    /// The number of bytes that there should be.
    private let target: Int64
    private let state: Mutex<State>

    init(path: String, bytes: Int64) {
        self.path = path
        var information = stat()
        let size = stat(path, &information) == 0 ? Int64(information.st_size) : 0
        target = min(bytes, Self.figures(path).total / 8)
        state = Mutex(State(reserved: size))
    }

    var isWhole: Bool { state.withLock(\.reserved) >= target }

    /// Indicates whether the disk is so full that opening may fail.
    var isNeeded: Bool {
        state.withLock(\.reserved) > 0 && Self.figures(path).available < Self.scarce
    }

    /// The largest length of the log, in pages of 4096 bytes, that fits into the reserve.
    var logPages: Int64 { max(64, min(4000, target / 4096 * 3 / 4)) }

    /// Returns the space to the disk, even space that was set aside and not counted. Returns false
    /// when there was none to return.
    @discardableResult
    func release() -> Bool {
        let (before, change) = begin()
        let isGiven = unlink(path) == 0 || (errno == ENOENT && before > 0)
        if isGiven {
            end(change, reserved: 0)
            if before > 0 { state.withLock { $0.returned = before } }
        }
        return isGiven
    }

    /// Returns the space to the disk for one operation. Nobody sets it aside again until the operation
    /// ends with `takeBack`: a save that is refused meanwhile, or the daemon's timer, would take the
    /// space from under it. Returns false when there was none, and then the operation has not begun.
    func lend() -> Bool {
        let isLent = state.withLock { state in
            state.users += 1
            return state.users > 1
        }
        if release() || isLent { return true }
        takeBack()
        return false
    }

    /// Ends an operation that `lend` began.
    func takeBack() { state.withLock { $0.users -= 1 } }

    private func begin() -> (reserved: Int64, change: UInt64) {
        state.withLock { state in
            state.changes += 1
            return (state.reserved, state.changes)
        }
    }

    /// Ends a change. No thread waits for the disk while it holds the lock. If changes overlap, the
    /// result of the change that began last is stored. The end of an earlier change makes the size
    /// unknown, so that the next change checks it again.
    private func end(_ change: UInt64, reserved: Int64) {
        state.withLock { $0.reserved = $0.changes == change ? reserved : 0 }
    }

    /// Sets the space aside again, or as much of it as is free. Returns false while the reserve is
    /// not whole.
    ///
    /// The space that was returned to the disk is set aside to the last byte: a margin each time would leave
    /// nothing after some deletions beside a program that fills the disk.
    @discardableResult
    func refill() -> Bool {
        if isWhole { return true }
        if state.withLock({ $0.users > 0 }) { return false }
        let (reserved, change) = begin()
        let free = reserved + Self.figures(path).available
        let returned = state.withLock(\.returned)
        let size = min(target, max(free - Self.margin, min(free, returned)))
        guard size > reserved, let allocated = allocate(size) else { return false }
        end(change, reserved: allocated)
        return allocated >= target
    }

    /// Makes the file `size` bytes long and returns its size. The size is smaller than `size` if
    /// another process took the space meanwhile, because ext4 keeps the space that it had found
    /// until then. Returns nil when the size cannot be found out.
    private func allocate(_ size: Int64) -> Int64? {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        if posix_fallocate(file, 0, off_t(size)) == 0 { return size }
        var information = stat()
        return fstat(file, &information) == 0 ? Int64(information.st_size) : nil
    }

    /// Returns the free and the total bytes of the disk, for this user.
    private static func figures(_ path: String) -> (available: Int64, total: Int64) {
        var figures = statvfs()
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        guard statvfs(String(path[..<slash]), &figures) == 0 else { return (.max, .max) }
        let block = Int64(clamping: figures.f_frsize)
        func bytes(_ blocks: Int64) -> Int64 {
            let (product, isTooLarge) = blocks.multipliedReportingOverflow(by: block)
            return isTooLarge ? .max : product
        }
        return (bytes(Int64(clamping: figures.f_bavail)), bytes(Int64(clamping: figures.f_blocks)))
    }
}
