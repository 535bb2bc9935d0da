import CLinux
import Glibc
import RecordModel

/// The real files behind scratch names: one directory of the host for each directory of the mount.
///
/// Names, modes, times, links and locks are the host's own, so scratch does all that it does.
struct ScratchStorage: Sendable {
    /// The `scratch` directory of the state directory.
    let root: [UInt8]

    init(stateDirectory: String) {
        root = Array("\(stateDirectory)/scratch".utf8)
    }

    func path(_ relative: [UInt8]) -> [UInt8] { root + [UInt8(ascii: "/")] + relative }

    /// Makes the base directory of a mount's directory, when a first scratch name needs it.
    func prepareBase(of relative: [UInt8]) throws(RecordError) {
        let base = relative.prefix { $0 != UInt8(ascii: "/") }
        for path in [root, path(Array(base))] {
            guard withPath(path, { mkdir($0, 0o700) }) == 0 || errno == EEXIST else {
                throw .lastSystemError("mkdir", path)
            }
        }
    }

    func status(_ path: [UInt8]) throws(RecordError) -> stat? {
        var status = stat()
        if withPath(path, { lstat($0, &status) }) == 0 { return status }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw .lastSystemError("lstat", path)
    }

    /// The names in a directory, sorted, without `.` and `..`; empty when it was never made.
    func names(in path: [UInt8]) throws(RecordError) -> [[UInt8]] {
        guard let stream = withPath(path, { opendir($0) }) else {
            if errno == ENOENT { return [] }
            throw .lastSystemError("opendir", path)
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

    func remove(_ path: [UInt8], isDirectory: Bool) throws(RecordError) {
        guard withPath(path, { isDirectory ? rmdir($0) : unlink($0) }) == 0 else {
            throw .lastSystemError(isDirectory ? "rmdir" : "unlink", path)
        }
    }

    func makeDirectory(_ path: [UInt8], mode: UInt32) throws(RecordError) {
        guard withPath(path, { mkdir($0, mode) }) == 0 else {
            throw .lastSystemError("mkdir", path)
        }
    }

    func makeSymlink(_ path: [UInt8], target: [UInt8]) throws(RecordError) {
        let made = withPath(target) { target in withPath(path) { symlink(target, $0) } }
        guard made == 0 else { throw .lastSystemError("symlink", path) }
    }

    func target(ofSymlink path: [UInt8]) throws(RecordError) -> [UInt8] {
        var count = -1
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, filled in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                count = withPath(path) {
                    readlink($0, chars.baseAddress.unsafelyUnwrapped, chars.count)
                }
            }
            filled = max(count, 0)
        }
        guard count >= 0 else { throw .lastSystemError("readlink", path) }
        return target
    }

    func rename(_ path: [UInt8], to target: [UInt8], flags: UInt32) throws(RecordError) {
        let result = withPath(path) { path in
            withPath(target) { renameat2(AT_FDCWD, path, AT_FDCWD, $0, flags) }
        }
        guard result == 0 else { throw .lastSystemError("rename", path) }
    }

    /// Puts bytes at a path, all or nothing, with the modification time of what they were.
    func place(_ bytes: [UInt8], at path: [UInt8], modified: Timestamp) throws(RecordError) {
        let staging = self.root + Array("/.new-\(getpid())-\(UInt64.random(in: 0...(.max)))".utf8)
        do throws(RecordError) {
            let file = try HostFile(path: staging, flags: O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
            try file.writeAll(bytes)
            try file.setTimes(accessed: nil, modified: modified)
            try rename(staging, to: path, flags: 0)
        } catch {
            _ = withPath(staging) { unlink($0) }
            throw error
        }
    }
}

extension HostFile {
    func setTimes(accessed: Timestamp?, modified: Timestamp?) throws(RecordError) {
        var times = [
            accessed.map(timespec.init) ?? timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT_VALUE)),
            modified.map(timespec.init) ?? timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT_VALUE)),
        ]
        guard futimens(descriptor, &times) == 0 else { throw .lastSystemError("futimens") }
    }
}

/// UTIME_OMIT of <sys/stat.h>, a macro that Swift does not import.
let UTIME_OMIT_VALUE = (1 << 30) - 2
