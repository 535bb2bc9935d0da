import Glibc
package import RecordWire
import Synchronization

/// The directory of a server's data: the files of its storage, the assets and the lock.
package struct DataDirectory: Sendable {
    package let path: String
    package var assetPath: String { path + "/assets" }

    package init(_ path: String) { self.path = path }

    /// Makes the directory and its parents, when they are missing, for this user alone.
    package func make() throws(ServerError) {
        try requireNoFile()
        var made = path.first == "/" ? "/" : ""
        for component in path.split(separator: "/") {
            made += component
            guard mkdir(made, 0o700) == 0 || errno == EEXIST || errno == EISDIR else {
                throw failure("cannot be made: \(Self.errorText)")
            }
            made += "/"
        }
        guard access(path, R_OK | W_OK | X_OK) == 0 else {
            throw failure("cannot be used: \(Self.errorText)")
        }
    }

    /// Throws an error when there is something at the path that is no directory.
    package func requireNoFile() throws(ServerError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return }
        throw ServerError(.badRequest, "\(path) is no directory. Name one with --data.")
    }

    /// Locks the directory. Other servers cannot use it while the lock lives; commands for users
    /// and keys need no lock.
    ///
    /// Errors: `tryAgainLater`, which names the other server.
    package func lock() throws(ServerError) -> DataDirectoryLock {
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be locked: \(Self.errorText)") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let reason =
                isTaken
                ? "is in use by another recordfs-server\(Self.holder(descriptor)). Stop it, or "
                    + "give this one a directory of its own with --data."
                : "cannot be locked: \(Self.errorText)"
            close(descriptor)
            throw ServerError(.tryAgainLater, "The directory \(path) \(reason)")
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
        return DataDirectoryLock(descriptor)
    }

    /// Returns the server that runs on the directory: its process, and the address at which it
    /// listens. Returns nil when there is none.
    package func runningServer() -> (process: Int32, address: String?)? {
        let descriptor = open(path + "/lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK else { return nil }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let lines = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            .split(separator: "\n")
        guard let first = lines.first, let process = Int32(first) else { return (0, nil) }
        return (process, lines.count > 1 ? String(lines[1]) : nil)
    }

    private static func holder(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let digits = buffer.prefix(max(0, count)).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
    }

    private func failure(_ what: String) -> ServerError {
        ServerError(.internalError, "The directory \(path) \(what)")
    }

    private static var errorText: String { String(cString: strerror(errno)) }
}

/// The right to be the server of a directory. It ends with this value, and with the process.
package final class DataDirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>
    fileprivate init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }
    deinit { release() }

    /// Notes the address at which the server of the directory listens, for the commands of its
    /// operator. Call it before the server may end, so that nobody closes the file meanwhile.
    package func note(address: String) {
        guard let open = descriptor.withLock(\.self) else { return }
        let text = Array("\(getpid())\n\(address)\n".utf8)
        _ = pwrite(open, text, text.count, 0)
    }

    /// Releases the lock. Calling it again is harmless.
    package func release() {
        let open = descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
        guard let open else { return }
        // Not by the close alone: a child process that is just beginning still has the open file.
        flock(open, LOCK_UN)
        close(open)
    }
}
