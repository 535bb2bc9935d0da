import Glibc
package import RecordModel

/// The place of a store's control socket: `control.sock` in its state directory.
///
/// Only this type passes a `sockaddr` to the system, and so only this type uses pointers.
package struct ControlAddress: Sendable {
    package static let fileName = "control.sock"

    package let directory: String

    package init(directory: String) {
        self.directory = directory
    }

    package var path: String { "\(directory)/\(Self.fileName)" }

    /// Returns a connection to the process that has the store. Returns nil when no process listens.
    ///
    /// Errors: `accessDenied` for another user's socket, `alreadyExists` when the file is no
    /// socket, `ioFailure`.
    package func connect() throws(RecordError) -> ControlSocket? {
        try withSocket { (socket, address) throws(RecordError) in
            if call(Glibc.connect, socket, address) == 0 { return socket }
            switch errno {
            case ENOENT, ENOTDIR: return nil
            case ECONNREFUSED:
                try checkKind()
                return nil
            case EACCES, EPERM:
                throw RecordError(.accessDenied, "\(path) belongs to another user.")
            case let code: throw failure("cannot be reached", code)
            }
        }
    }

    /// Returns a socket that listens there, for this user only. Call it with the store's lock held:
    /// it removes the socket of an earlier process, or an empty directory.
    ///
    /// Errors: `alreadyExists` when the file is no socket, which stays; `ioFailure`, `noSpace`.
    package func listen() throws(RecordError) -> ControlSocket {
        try withSocket { (socket, address) throws(RecordError) in
            try removeLeftover()
            guard call(Glibc.bind, socket, address) == 0 else {
                throw failure("cannot be made", errno)
            }
            // Other users may be able to open the directory. Until the socket listens, no one can
            // connect.
            guard chmod(path, 0o600) == 0, Glibc.listen(socket.descriptor, 64) == 0 else {
                throw failure("cannot be opened", errno)
            }
            return socket
        }
    }

    private func removeLeftover() throws(RecordError) {
        // A container engine creates a directory when the file that it is to mount does not exist.
        if rmdir(path) == 0 { return }
        try checkKind()
        unlink(path)
    }

    /// Checks that no file other than a socket has the name.
    private func checkKind() throws(RecordError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            let kind = status.st_mode & S_IFMT == S_IFDIR ? ": it is a directory" : ""
            throw RecordError(.alreadyExists, "\(path) is no socket\(kind); move it away.")
        }
    }

    /// Runs the body with a new socket and this address, whatever the length of the path.
    private func withSocket<T>(
        _ body: (ControlSocket, sockaddr_un) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure("cannot be opened", errno) }
        let end = ControlSocket(owning: descriptor)
        if let address = Self.address(path) { return try body(end, address) }
        // sun_path holds 107 bytes; a descriptor of the directory makes any path short.
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("cannot be opened", errno) }
        defer { close(folder) }
        guard let address = Self.address("/proc/self/fd/\(folder)/\(Self.fileName)") else {
            throw failure("cannot be named", ENAMETOOLONG)
        }
        return try body(end, address)
    }

    private static func address(_ path: String) -> sockaddr_un? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return address
    }

    private func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ socket: ControlSocket,
        _ address: sockaddr_un
    ) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                function(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    private func failure(_ what: String, _ code: Int32) -> RecordError {
        RecordError(
            code == ENOSPC ? .noSpace : .ioFailure,
            "The control socket \(path) \(what): \(String(cString: strerror(code))).", errno: code)
    }
}
