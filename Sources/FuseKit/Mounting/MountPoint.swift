import CFuse3
import Glibc

/// A directory to mount on, or a mounted directory.
package enum MountPoint {
    /// Returns whether something was mounted at `path` whose process has died ("Transport endpoint
    /// is not connected").
    package static func isStale(_ path: String) -> Bool {
        // stat does not help here: the kernel may answer it from its cache for hours, also for a
        // dead process.
        var figures = statvfs()
        return statvfs(path, &figures) != 0 && isLostConnection(.last)
    }

    /// Returns whether a call has failed because no process serves the mount. The call that was
    /// running at the end of the connection is aborted. Later calls get the error that there is no
    /// connection.
    private static func isLostConnection(_ error: Errno) -> Bool {
        error == .ENOTCONN || error == .ECONNABORTED
    }

    /// Returns whether `path` is the root of a mount. This is read from the kernel's table, so that
    /// a hanging mount cannot block the caller.
    package static func isMounted(_ path: String) -> Bool { device(at: path) != nil }

    /// Returns the device number of the file system mounted at `path`, as `0:41`, the topmost if
    /// there are several. Does not call into the mount, as stat would.
    package static func device(at path: String) -> String? {
        let wanted = Array(path.utf8)
        return table().last { $0.path == wanted }?.device
    }

    /// Returns whether a file system with this device number is mounted anywhere.
    static func isMounted(device: String) -> Bool { table().contains { $0.device == device } }

    /// Returns the mounts of this process in the kernel's order, by their first fields: see
    /// proc(5).
    private static func table() -> [(path: [UInt8], device: String)] {
        guard let file = fopen("/proc/self/mountinfo", "r") else { return [] }
        defer { fclose(file) }
        var mounts: [(path: [UInt8], device: String)] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0 {
            guard let line else { break }
            let fields = String(cString: line).split(separator: " ", maxSplits: 5)
            if fields.count > 4 { mounts.append((unescaped(fields[4]), String(fields[2]))) }
        }
        return mounts
    }

    /// Unmounts `path`: directly as root, otherwise by fusermount3.
    /// - Parameter lazy: whether to unmount also while the file system is in use. It disappears at
    ///   once and ends with its last user.
    package static func unmount(_ path: String, lazy: Bool = false) throws(MountError) {
        if geteuid() == 0 {
            try unmountAsRoot(path, lazy: lazy)
        } else {
            try unmountByHelper(path, lazy: lazy)
        }
    }

    /// Checks that `path` is a directory on which a file system can be mounted.
    /// - Parameter allowsFiles: whether the directory may contain files, which the mount hides.
    package static func check(_ path: String, allowsFiles: Bool = false) throws(MountError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw missing(path, Errno.last) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw MountError(.notDirectory, "\(path) is not a directory")
        }
        guard !isMounted(path) else {
            throw MountError(
                .alreadyMounted, "something is mounted at \(path) already; unmount it first")
        }
        let isFit = allowsFiles ? true : try isEmpty(path)
        guard isFit else {
            throw MountError(
                .notEmpty, "\(path) is not empty; mounting there would hide what it holds")
        }
    }

    /// The path of fusermount3. Nil when it is not installed.
    package static var helper: String? {
        var folders = ["/usr/bin", "/bin", "/usr/local/bin"]
        if let path = getenv("PATH") {
            folders = String(cString: path).split(separator: ":").map(String.init) + folders
        }
        return folders.map { $0 + "/fusermount3" }.first { access($0, X_OK) == 0 }
    }

    private static func missing(_ path: String, _ error: Errno) -> MountError {
        switch error {
        case _ where isLostConnection(error):
            MountError(
                .stale, "\(path) is left over from a mount whose process has died; unmount it first"
            )
        case .ENOENT: MountError(.mountpointMissing, "\(path) does not exist; make it first")
        case .EACCES: MountError(.notPermitted, "\(path): permission denied")
        default: MountError(.failed, "\(path): \(error)")
        }
    }

    private static func isEmpty(_ path: String) throws(MountError) -> Bool {
        guard let directory = opendir(path) else {
            throw MountError(.notPermitted, "\(path) cannot be listed: \(Errno.last)")
        }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil, count < 3 { count += 1 }
        return count <= 2
    }

    /// Ends the connection of a mount that no process serves, which only root may do. Its users get
    /// errors.
    static func endConnection(_ path: String) {
        let force: Int32 = 1
        let noFollow: Int32 = 8
        // Without the permission the call has no effect: the mount stays stale, as after any crash.
        _ = umount2(path, force | noFollow)
    }

    private static func unmountAsRoot(_ path: String, lazy: Bool) throws(MountError) {
        // Glibc declares the flags as enumerators, which have another type in Swift on some
        // versions.
        let detach: Int32 = 2
        let noFollow: Int32 = 8
        guard umount2(path, noFollow | (lazy ? detach : 0)) != 0 else { return }
        let error = Errno.last
        switch error {
        case .EINVAL, .ENOENT: throw MountError(.notMounted, "nothing is mounted at \(path)")
        case .EBUSY: throw MountError(.busy, "\(path) is in use")
        case .EPERM: throw MountError(.notPermitted, "\(path): not permitted to unmount")
        default: throw MountError(.failed, "\(path): \(error)")
        }
    }

    private static func unmountByHelper(_ path: String, lazy: Bool) throws(MountError) {
        guard let helper else { throw helperMissing }
        guard isMounted(path) else {
            throw MountError(.notMounted, "nothing is mounted at \(path)")
        }
        let arguments = [helper, "-u", "-q"] + (lazy ? ["-z"] : []) + ["--", path]
        guard try spawn(arguments) == 0 else {
            throw MountError(.busy, "\(path) could not be unmounted: it is in use, or not yours")
        }
    }

    static var helperMissing: MountError {
        MountError(
            .helperMissing,
            "fusermount3 is not installed; on Debian and Ubuntu: sudo apt-get install fuse3")
    }

    /// Runs a program to its end. Returns its exit code, or -1 when a signal ended it.
    private static func spawn(_ arguments: [String]) throws(MountError) -> Int32 {
        var child = pid_t()
        var pointers = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        let error = posix_spawn(&child, arguments[0], nil, nil, pointers, environ)
        guard error == 0 else { throw MountError(.failed, "\(arguments[0]): \(Errno(error))") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -1
    }

    /// Decodes a field of a mount table, which writes space, tab, newline and backslash as three
    /// octal digits.
    private static func unescaped(_ field: Substring) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                result.append(code)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
