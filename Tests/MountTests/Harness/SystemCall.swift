import CTestSystem
import Glibc

/// A system call that failed, with its errno as a tool would see it.
struct SystemCallError: Error, Equatable, CustomStringConvertible {
    let call: String
    let code: Int32

    init(_ call: String, _ code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var description: String { "\(call): \(String(cString: strerror(code))) (errno \(code))" }
}

/// What `lstat` says of a file.
struct FileStatus: Equatable {
    enum Kind: Equatable { case file, directory, link, other }
    let kind: Kind
    let inode: UInt64
    let size: Int64
    let mode: UInt32
    let links: UInt64
    /// Seconds and nanoseconds.
    let modified: [Int]
}

/// The system calls of a test, one Swift function each.
///
/// They run in the test's own process, so that the errno of each step is seen, which a tool hides.
enum SystemCall {
    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o644) throws -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw SystemCallError("open \(path)") }
        return descriptor
    }

    static func close(_ descriptor: Int32) throws {
        guard Glibc.close(descriptor) == 0 else { throw SystemCallError("close") }
    }

    /// Writes all of `bytes` at the file position.
    static func write(_ descriptor: Int32, _ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw SystemCallError("write") }
            rest = rest.dropFirst(count)
        }
    }

    static func write(_ descriptor: Int32, _ bytes: [UInt8], at offset: Int) throws {
        let count = bytes.withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, $0.count, offset)
        }
        guard count == bytes.count else { throw SystemCallError("pwrite") }
    }

    static func read(_ descriptor: Int32, count: Int, at offset: Int) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, offset) }
        guard got >= 0 else { throw SystemCallError("pread") }
        return Array(buffer.prefix(got))
    }

    static func readFile(_ path: String) throws -> [UInt8] {
        let descriptor = try open(path, O_RDONLY)
        defer { Glibc.close(descriptor) }
        var bytes: [UInt8] = []
        while true {
            let chunk = try read(descriptor, count: 65_536, at: bytes.count)
            if chunk.isEmpty { return bytes }
            bytes += chunk
        }
    }

    static func readText(_ path: String) throws -> String {
        String(decoding: try readFile(path), as: UTF8.self)
    }

    /// Truncates or makes the file, writes and closes it, as `cat > path` does.
    static func writeFile(_ path: String, _ bytes: [UInt8], sync: Bool = false) throws {
        let descriptor = try open(path, O_WRONLY | O_CREAT | O_TRUNC)
        do {
            try write(descriptor, bytes)
            if sync { try fsync(descriptor) }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        try close(descriptor)
    }

    static func writeFile(_ path: String, _ text: String, sync: Bool = false) throws {
        try writeFile(path, Array(text.utf8), sync: sync)
    }

    static func fsync(_ descriptor: Int32) throws {
        guard Glibc.fsync(descriptor) == 0 else { throw SystemCallError("fsync") }
    }

    /// Makes what happened in a directory durable, and waiting deletes in it final.
    static func syncDirectory(_ path: String) throws {
        let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
        defer { Glibc.close(descriptor) }
        try fsync(descriptor)
    }

    static func status(_ path: String) throws -> FileStatus {
        var value = stat()
        guard lstat(path, &value) == 0 else { throw SystemCallError("lstat \(path)") }
        let kind: FileStatus.Kind =
            switch value.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        return FileStatus(
            kind: kind, inode: UInt64(value.st_ino), size: Int64(value.st_size),
            mode: value.st_mode & 0o7777, links: UInt64(value.st_nlink),
            modified: [value.st_mtim.tv_sec, value.st_mtim.tv_nsec])
    }

    static func exists(_ path: String) -> Bool { (try? status(path)) != nil }

    /// The names in a directory without `.` and `..`, in the order of readdir.
    static func list(_ path: String) throws -> [String] {
        guard let stream = opendir(path) else { throw SystemCallError("opendir \(path)") }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw SystemCallError("readdir \(path)") }
        return names
    }
}
