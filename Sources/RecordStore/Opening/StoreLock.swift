import Glibc
import RecordModel
import Synchronization

/// The lock that makes one process the store's writer: flock on a file that names its pid.
final class StoreLock: Sendable {
    /// The open file of the lock. Negative once the lock is released.
    private let descriptor: Mutex<Int32>

    private init(descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    /// Takes the lock. Errors: storeLocked, whose message names the process that holds the lock.
    static func take(_ path: String) throws(RecordError) -> StoreLock {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(descriptor)
            Glibc.close(descriptor)
            guard code == EWOULDBLOCK else { throw RecordError.systemCall("lock \(path)", code) }
            throw RecordError(
                .storeLocked, "Process \(owner) has the store open; stop it, or use its mount.")
        }
        let text = Array("\(getpid())\n".utf8)
        // In this order a full disk, which has the old text, accepts the new one.
        let written =
            pwrite(descriptor, text, text.count, 0) == text.count
            && ftruncate(descriptor, off_t(text.count)) == 0
        guard written else {
            let code = errno
            Glibc.close(descriptor)
            throw RecordError.systemCall("write \(path)", code)
        }
        return StoreLock(descriptor: descriptor)
    }

    private static func owner(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(0, count)).prefix { $0 >= 48 && $0 <= 57 }
        return digits.isEmpty ? "(unknown)" : String(decoding: digits, as: UTF8.self)
    }

    var isHeld: Bool { descriptor.withLock { $0 >= 0 } }

    /// Releases the lock. Repeated calls do nothing.
    func release() {
        let old = descriptor.withLock { value in
            let old = value
            value = -1
            return old
        }
        guard old >= 0 else { return }
        // Not by the close alone: a child process that is just beginning still has the open file.
        flock(old, LOCK_UN)
        Glibc.close(old)
    }

    deinit { release() }
}

extension StoreLock {
    /// Indicates whether a process has the lock. Taking it to see would be in the way of a process
    /// that begins; so the kernel's list says it.
    static func isTaken(_ path: String) -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        let owner = owner(descriptor)
        guard let locks = read("/proc/locks") else { return kill(pid_t(owner) ?? 0, 0) == 0 }
        // 1: FLOCK  ADVISORY  WRITE 715 fe:01:133424 0 EOF
        return locks.split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            guard words.count > 5, words.contains("FLOCK") else { return false }
            return words.contains { $0 == owner }
                && words.contains { $0.hasSuffix(":\(status.st_ino)") }
        }
    }

    private static func read(_ path: String) -> String? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? String(decoding: text, as: UTF8.self) : nil }
            text += buffer.prefix(count)
        }
    }
}
