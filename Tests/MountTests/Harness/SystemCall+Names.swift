import CTestSystem
import Glibc

extension SystemCall {
    private static func check(_ result: Int32, _ call: String) throws {
        guard result == 0 else { throw SystemCallError(call) }
    }

    static func makeDirectory(_ path: String) throws {
        try check(mkdir(path, 0o755), "mkdir \(path)")
    }

    /// As `mkdir -p`.
    static func makeDirectories(_ path: String) throws {
        var built = ""
        for part in path.split(separator: "/") {
            built += "/" + part
            if mkdir(built, 0o755) != 0, errno != EEXIST { throw SystemCallError("mkdir \(built)") }
        }
    }

    static func removeDirectory(_ path: String) throws { try check(rmdir(path), "rmdir \(path)") }
    static func unlink(_ path: String) throws { try check(Glibc.unlink(path), "unlink \(path)") }

    static func rename(_ from: String, _ to: String) throws {
        try check(Glibc.rename(from, to), "rename \(from) \(to)")
    }

    /// renameat2 with RENAME_NOREPLACE (1), RENAME_EXCHANGE (2) or RENAME_WHITEOUT (4).
    static func rename(_ from: String, _ to: String, flags: UInt32) throws {
        try check(test_rename(from, to, flags), "renameat2 \(from) \(to)")
    }

    static func link(_ from: String, _ to: String) throws {
        try check(Glibc.link(from, to), "link")
    }

    static func symlink(to target: String, at path: String) throws {
        try check(Glibc.symlink(target, path), "symlink \(path)")
    }

    static func readLink(_ path: String) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { raw in
            raw.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(path, $0, text.count) } ?? -1
            }
        }
        guard count >= 0 else { throw SystemCallError("readlink") }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    static func truncate(_ path: String, _ size: Int) throws {
        try check(Glibc.truncate(path, size), "truncate \(path)")
    }

    static func truncate(_ descriptor: Int32, _ size: Int) throws {
        try check(ftruncate(descriptor, size), "ftruncate")
    }

    static func changeMode(_ path: String, _ mode: mode_t) throws {
        try check(chmod(path, mode), "chmod \(path)")
    }

    static func changeOwner(_ path: String, _ user: uid_t, _ group: gid_t) throws {
        try check(chown(path, user, group), "chown \(path)")
    }

    static func setModified(_ path: String, seconds: Int, nanoseconds: Int = 0) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        try check(utimensat(AT_FDCWD, path, [time, time], 0), "utimensat \(path)")
    }

    static func makeNode(_ path: String, _ mode: mode_t) throws {
        try check(mknod(path, mode, 0), "mknod \(path)")
    }

    /// The value of an extended attribute as text; nil when there is none of that name.
    static func attribute(_ path: String, _ name: String) throws -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes {
            test_getxattr(path, name, $0.baseAddress, $0.count)
        }
        if count < 0, errno == ENODATA { return nil }
        guard count >= 0 else { throw SystemCallError("getxattr \(name)") }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    static func setAttribute(_ path: String, _ name: String, _ value: [UInt8]) throws {
        try check(
            value.withUnsafeBytes { test_setxattr(path, name, $0.baseAddress, $0.count) },
            "setxattr \(name)")
    }

    static func attributeNames(_ path: String) throws -> [String] {
        var buffer = [CChar](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBufferPointer {
            test_listxattr(path, $0.baseAddress, $0.count)
        }
        guard count >= 0 else { throw SystemCallError("listxattr") }
        return buffer.prefix(count).split(separator: 0).map {
            String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
