import CLinux
import Glibc
import RecordModel

/// A descriptor of a file of the host. It is closed with its last owner.
package final class HostFile: Sendable {
    package let descriptor: Int32
    init(descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// Opens a path without following a symlink at its end, and without waiting for the other end
    /// of a pipe.
    convenience init(path: [UInt8], flags: Int32, mode: mode_t = 0o600) throws(RecordError) {
        let descriptor = withPath(path) {
            open($0, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
        }
        guard descriptor >= 0 else { throw .lastSystemError("open", path) }
        self.init(descriptor: descriptor)
    }

    var status: stat {
        get throws(RecordError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .lastSystemError("fstat") }
            return status
        }
    }

    func read(offset: Int64, count: Int) throws(RecordError) -> [UInt8] {
        var failure: RecordError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled,
                    off_t(offset) + off_t(filled))
                if got < 0 {
                    if errno == EINTR { continue }
                    failure = .lastSystemError("read")
                    return
                }
                if got == 0 { return }
                filled += got
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func readAll() throws(RecordError) -> [UInt8] {
        try read(offset: 0, count: Int(status.st_size))
    }

    /// Writes all of the bytes or throws. A write that stops halfway is an error, and the file gets
    /// its earlier size back: a program that repeats the write at the end does not write anything
    /// twice.
    func write(_ data: UnsafeRawBufferPointer, offset: Int64) throws(RecordError) {
        let size = try status.st_size
        do throws(RecordError) {
            try writeSome(data, offset: offset)
        } catch {
            let reason = error
            if try status.st_size > size { try truncate(to: Int64(size)) }
            throw reason
        }
    }

    private func writeSome(_ data: UnsafeRawBufferPointer, offset: Int64) throws(RecordError) {
        var done = 0
        while done < data.count {
            let wrote = pwrite(
                descriptor, data.baseAddress?.advanced(by: done), data.count - done,
                off_t(offset) + off_t(done))
            if wrote < 0 {
                if errno == EINTR { continue }
                throw .lastSystemError("write")
            }
            done += wrote
        }
    }

    func writeAll(_ bytes: [UInt8]) throws(RecordError) {
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) {
                try write(buffer, offset: 0)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Copies the first bytes of another file into this one. The kernel copies them: where the file
    /// system shares blocks between files, nothing is copied at all.
    func copy(from source: HostFile, count: Int64) throws(RecordError) {
        var (from, to) = (off_t(0), off_t(0))
        while from < count {
            let rest = Int(min(count - Int64(from), 1 << 30))
            let copied = copy_file_range(source.descriptor, &from, descriptor, &to, rest, 0)
            if copied == 0 { return }
            if copied < 0 {
                if errno == EINTR { continue }
                return try copyBytes(of: source, from: Int64(from), to: count)
            }
        }
    }

    /// Copies bytes on file systems between which the kernel does not copy.
    private func copyBytes(of source: HostFile, from start: Int64, to end: Int64)
        throws(RecordError)
    {
        var done = start
        while done < end {
            let chunk = try source.read(offset: done, count: Int(min(1 << 20, end - done)))
            if chunk.isEmpty { return }
            var failure: RecordError?
            chunk.withUnsafeBytes { bytes in
                do throws(RecordError) { try write(bytes, offset: done) } catch { failure = error }
            }
            if let failure { throw failure }
            done += Int64(chunk.count)
        }
    }

    func truncate(to size: Int64) throws(RecordError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .lastSystemError("truncate") }
    }

    func synchronize(dataOnly: Bool) throws(RecordError) {
        guard (dataOnly ? fdatasync(descriptor) : fsync(descriptor)) == 0 else {
            throw .lastSystemError("fsync")
        }
    }
}

/// Calls `body` with a path as a C string.
func withPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    (path + [0]).withUnsafeBufferPointer { buffer in
        buffer.withMemoryRebound(to: CChar.self) { body($0.baseAddress.unsafelyUnwrapped) }
    }
}

/// UTIME_OMIT of <sys/stat.h>, a macro that Swift does not import.
let UTIME_OMIT_VALUE = (1 << 30) - 2

/// UTIME_NOW of <sys/stat.h>.
let UTIME_NOW_VALUE = (1 << 30) - 1

extension RecordError {
    /// Returns the error of the system call that has just failed. Its errno is passed on unchanged.
    static func lastSystemError(_ call: String, _ path: [UInt8] = []) -> RecordError {
        let number = errno
        let reason = String(cString: strerror(number))
        let subject = path.isEmpty ? "" : " \(String(decoding: path, as: UTF8.self))"
        return RecordError(.system, "\(call)\(subject): \(reason)", errno: number)
    }
}

extension stat {
    var attributes: Attributes {
        Attributes(
            inode: UInt64(st_ino), mode: st_mode, links: UInt32(clamping: st_nlink), owner: st_uid,
            group: st_gid, size: Int64(st_size), blocks: Int64(st_blocks),
            accessed: st_atim.timestamp, modified: st_mtim.timestamp,
            changed: st_ctim.timestamp, device: UInt64(st_rdev))
    }
    var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isSymlink: Bool { st_mode & S_IFMT == S_IFLNK }
}

extension timespec {
    var timestamp: Timestamp {
        Timestamp(seconds: Int64(tv_sec), nanoseconds: Int64(tv_nsec))
    }
}

extension timespec {
    init(_ timestamp: Timestamp) {
        self.init(tv_sec: time_t(timestamp.seconds), tv_nsec: Int(timestamp.subsecond))
    }
}

extension HostFile {
    convenience init(path: HostName, flags: Int32) throws(RecordError) {
        self.init(descriptor: try path.descriptor(flags))
    }

    func setTimes(accessed: Timestamp?, modified: Timestamp?) throws(RecordError) {
        var times = [
            accessed.map(timespec.init) ?? timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT_VALUE)),
            modified.map(timespec.init) ?? timespec(tv_sec: 0, tv_nsec: Int(UTIME_OMIT_VALUE)),
        ]
        guard futimens(descriptor, &times) == 0 else { throw .lastSystemError("futimens") }
    }
}
