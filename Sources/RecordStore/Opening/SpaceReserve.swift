import Glibc
import RecordModel
import Synchronization

/// Disk space kept for what has to work when there is none: deletes, opening, moving the log into
/// the database. A file without content that is removed when one of these meets a full disk.
///
/// While it is not whole nothing else is written, so that it comes back as soon as there is room.
final class SpaceReserve: Sendable {
    /// Left free beside it when it is made, so that the system can go on.
    private static let margin: Int64 = 256 << 10
    /// Below this a store may not be able to open.
    private static let scarce: Int64 = 1 << 20

    private struct State {
        /// Bytes that are set aside.
        var reserved: Int64
        /// Goes up with each change that has begun: one whose end comes after the begin of another says
        /// nothing of what is there.
        var changes: UInt64 = 0
    }

    private let path: String
    /// How many bytes there should be.
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

    /// Whether the disk is so full that opening may fail.
    var isNeeded: Bool {
        state.withLock(\.reserved) > 0 && Self.figures(path).available < Self.scarce
    }

    /// How long the log may get, in pages of 4096 bytes, so that the reserve holds it.
    var logPages: Int64 { max(64, min(4000, target / 4096 * 3 / 4)) }

    /// Gives the space to the disk, also what was set aside and not counted. False when there was
    /// none to give.
    @discardableResult
    func release() -> Bool {
        let (before, change) = begin()
        let isGiven = unlink(path) == 0 || (errno == ENOENT && before > 0)
        if isGiven { end(change, reserved: 0) }
        return isGiven
    }

    private func begin() -> (reserved: Int64, change: UInt64) {
        state.withLock { state in
            state.changes += 1
            return (state.reserved, state.changes)
        }
    }

    /// Nobody waits for the disk with the lock held: of two changes at once what the last one to begin
    /// has found stands, and of an earlier one that nothing is known, so that the next looks again.
    private func end(_ change: UInt64, reserved: Int64) {
        state.withLock { $0.reserved = $0.changes == change ? reserved : 0 }
    }

    /// Sets the space aside again, or as much of it as there is. False while it is not whole.
    @discardableResult
    func restore() -> Bool {
        if isWhole { return true }
        let (reserved, change) = begin()
        let free = Self.figures(path).available - Self.margin
        let size = min(target, reserved + free)
        guard size > reserved, let allocated = allocate(size) else { return false }
        end(change, reserved: allocated)
        return allocated >= target
    }

    /// How large the file is then: less than `size` when somebody else took the space meanwhile, for
    /// ext4 leaves what it had found until then. Nil when that cannot be told.
    private func allocate(_ size: Int64) -> Int64? {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return nil }
        defer { close(file) }
        if posix_fallocate(file, 0, off_t(size)) == 0 { return size }
        var information = stat()
        return fstat(file, &information) == 0 ? Int64(information.st_size) : nil
    }

    /// Of the disk, for this user.
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
