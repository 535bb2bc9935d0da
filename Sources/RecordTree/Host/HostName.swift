import CLinux
import Glibc
import RecordModel

/// A file of the host, as the descriptor of a directory and a path from there. In this way neither
/// the depth of a directory nor the place of the store counts against PATH_MAX.
///
/// With an empty path it is the descriptor's own file, which may have lost its name.
struct HostName: Sendable {
    let base: HostFile
    let path: [UInt8]

    /// The name of the file that a descriptor holds.
    init(_ file: HostFile) {
        base = file
        path = []
    }

    /// The length of the part of a path that one system call gets. A component has at most 255
    /// bytes.
    private static let pathMax = 3_500

    init(_ base: HostFile, _ path: [UInt8]) throws(RecordError) {
        guard path.count > Self.pathMax else {
            self.init(base: base, part: path)
            return
        }
        var base = base
        var rest = path[...]
        while rest.count > Self.pathMax,
            let end = rest.prefix(Self.pathMax).lastIndex(of: UInt8(ascii: "/"))
        {
            let part = HostName(base: base, part: Array(rest[..<end]))
            base = try part.open(pathOnly | O_DIRECTORY)
            rest = rest[(end + 1)...]
        }
        self.init(base: base, part: Array(rest))
    }

    private init(base: HostFile, part: [UInt8]) {
        self.base = base
        path = part
    }

    /// The directory that contains the name. INVARIANT: the path is not empty.
    var parent: HostName {
        let end = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
        return HostName(base: base, part: Array(path[..<end]))
    }

    /// Opens the file without following a symlink.
    func open(_ flags: Int32) throws(RecordError) -> HostFile {
        HostFile(descriptor: try descriptor(flags))
    }

    /// Opens the file and returns a descriptor that the caller closes. A new file is accessible
    /// only to the daemon's user. Never waits for the other end of a pipe.
    func descriptor(_ flags: Int32) throws(RecordError) -> Int32 {
        let mode: mode_t = 0o600
        let descriptor =
            if path.isEmpty {
                withPath(throughProc) { Glibc.open($0, flags | O_NONBLOCK | O_CLOEXEC, mode) }
            } else {
                withPath(path) {
                    openat(
                        base.descriptor, $0, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
                }
            }
        guard descriptor >= 0 else { throw .lastSystemError("open", path) }
        return descriptor
    }

    /// Returns a descriptor that keeps the file, even when its name changes or is removed. Needs no
    /// permission for it.
    func held() throws(RecordError) -> HostFile { path.isEmpty ? base : try open(pathOnly) }

    /// Returns the status of the file, or nil when it does not exist.
    func status() throws(RecordError) -> stat? {
        if path.isEmpty { return try base.status }
        var status = stat()
        let result = withPath(path) {
            fstatat(base.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW)
        }
        if result == 0 { return status }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw .lastSystemError("stat", path)
    }

    /// The path of the file for calls that take no descriptor of a directory, such as those on
    /// extended attributes.
    var throughProc: [UInt8] {
        let descriptor = Array("/proc/self/fd/\(base.descriptor)".utf8)
        return path.isEmpty ? descriptor : descriptor + [UInt8(ascii: "/")] + path
    }

    func remove(isDirectory: Bool) throws(RecordError) {
        let result = withPath(path) {
            unlinkat(base.descriptor, $0, isDirectory ? AT_REMOVEDIR : 0)
        }
        guard result == 0 else { throw .lastSystemError(isDirectory ? "rmdir" : "unlink", path) }
    }

    func rename(to target: HostName, flags: UInt32) throws(RecordError) {
        let result = withPath(path) { path in
            withPath(target.path) {
                renameat2(base.descriptor, path, target.base.descriptor, $0, flags)
            }
        }
        guard result == 0 else { throw .lastSystemError("rename", path) }
    }

    /// Gives the file that `base` holds another name.
    func link(as target: HostName) throws(RecordError) {
        let result = withPath(throughProc) { path in
            withPath(target.path) {
                linkat(AT_FDCWD, path, target.base.descriptor, $0, AT_SYMLINK_FOLLOW)
            }
        }
        guard result == 0 else { throw .lastSystemError("link", path) }
    }

    func makeDirectory() throws(RecordError) {
        guard withPath(path, { mkdirat(base.descriptor, $0, 0o700) }) == 0 else {
            throw .lastSystemError("mkdir", path)
        }
    }

    func makeSymlink(to target: [UInt8]) throws(RecordError) {
        let made = withPath(target) { target in
            withPath(path) { symlinkat(target, base.descriptor, $0) }
        }
        guard made == 0 else { throw .lastSystemError("symlink", path) }
    }

    /// Makes a pipe, a socket, or a device where the host allows it to the daemon.
    func makeNode(kind: UInt32, device: UInt64) throws(RecordError) {
        let made = withPath(path) { mknodat(base.descriptor, $0, kind | 0o600, dev_t(device)) }
        guard made == 0 else { throw .lastSystemError("mknod", path) }
    }

    /// Returns the target of a symlink.
    func target() throws(RecordError) -> [UInt8] {
        var count = -1
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, filled in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                count = withPath(path) {
                    readlinkat(
                        base.descriptor, $0, chars.baseAddress.unsafelyUnwrapped, chars.count)
                }
            }
            filled = max(count, 0)
        }
        guard count >= 0 else { throw .lastSystemError("readlink", path) }
        return target
    }

    /// Returns the names in a directory, sorted, without `.` and `..`. Returns none when the
    /// directory was never made.
    func names() throws(RecordError) -> [[UInt8]] {
        let descriptor: Int32
        do throws(RecordError) {
            descriptor = try self.descriptor(O_RDONLY | O_DIRECTORY)
        } catch  where error.systemErrno == ENOENT {
            return []
        }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            throw RecordError(.ioFailure, "the directory cannot be listed")
        }
        defer { closedir(stream) }
        var names: [[UInt8]] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw .lastSystemError("readdir", path) }
                break
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != [0x2e] && name != [0x2e, 0x2e] { names.append(name) }
        }
        return names.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

// Values of <fcntl.h> and <sys/stat.h>, which Swift's Glibc module leaves out without _GNU_SOURCE.
/// O_PATH: the descriptor represents the file, and opens nothing.
let pathOnly: Int32 = 0o10000000

/// AT_EMPTY_PATH: the call is about the descriptor's own file.
private let emptyPath: Int32 = 0x1000

/// RENAME_NOREPLACE and RENAME_EXCHANGE of <linux/fs.h>.
let renameNoReplace: UInt32 = 1
let renameExchange: UInt32 = 2

/// Changes of the file that `base` holds, even when it has another name now.
extension HostName {
    func setMode(_ mode: UInt32) throws(RecordError) {
        guard withPath(throughProc, { chmod($0, mode & 0o7777) }) == 0 else {
            throw .lastSystemError("chmod", path)
        }
    }

    /// - Parameter owner: and `group`: nil leaves it unchanged.
    func setOwner(_ owner: UInt32?, _ group: UInt32?) throws(RecordError) {
        let result = withPath([]) {
            fchownat(base.descriptor, $0, owner ?? .max, group ?? .max, emptyPath)
        }
        guard result == 0 else { throw .lastSystemError("chown", path) }
    }

    func setTimes(_ times: [timespec]) throws(RecordError) {
        let result = withPath([]) { utimensat(base.descriptor, $0, times, emptyPath) }
        guard result == 0 else { throw .lastSystemError("utimensat", path) }
    }
}
