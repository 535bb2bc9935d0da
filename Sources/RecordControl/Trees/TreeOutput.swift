import Glibc
import RecordModel

/// The target of an export of a tree. Paths are relative, with the bytes that they have on a mount.
protocol TreeOutput {
    func directory(_ path: [UInt8]) throws(RecordError)
    func file(_ path: [UInt8], _ bytes: [UInt8], _ modified: Timestamp) throws(RecordError)
    func file(
        _ path: [UInt8], copyOf source: String, size: Int, _ modified: Timestamp
    ) throws(RecordError)
    func finish() throws(RecordError)
}

/// Writes files into a new directory, or an empty one.
final class DirectoryWriting: TreeOutput {
    private let root: String

    /// Creates the directory.
    ///
    /// Errors: `notEmpty`, `accessDenied`, `noSpace`, `ioFailure`.
    init(path: String) throws(RecordError) {
        root = path
        if mkdir(path, 0o777) != 0 {
            guard errno == EEXIST else { throw FileReading.failure(path, errno) }
            guard let directory = opendir(path) else { throw FileReading.failure(path, errno) }
            defer { closedir(directory) }
            while let entry = readdir(directory) {
                let first = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix(3)) }
                let isItself = first == [0x2E, 0, first[2]] || first == [0x2E, 0x2E, 0]
                guard isItself else {
                    throw RecordError(.notEmpty, "\(path) is not empty. Name a new directory.")
                }
            }
        }
    }

    func directory(_ path: [UInt8]) throws(RecordError) {
        let full = place(path)
        guard mkdir(full, 0o777) == 0 || errno == EEXIST else {
            throw FileReading.failure(full, errno)
        }
    }

    func file(_ path: [UInt8], _ bytes: [UInt8], _ modified: Timestamp) throws(RecordError) {
        let full = place(path)
        try writeWholeFile(bytes, to: full)
        date(full, modified)
    }

    func file(
        _ path: [UInt8], copyOf source: String, size: Int, _ modified: Timestamp
    ) throws(RecordError) {
        let full = place(path)
        try copyFile(source, to: full)
        date(full, modified)
    }

    func finish() throws(RecordError) {}

    private func place(_ path: [UInt8]) -> String {
        root + "/" + String(decoding: path, as: UTF8.self)
    }

    /// Sets the time of a file. A failure is no reason to give up the written data.
    private func date(_ path: String, _ time: Timestamp) {
        let seconds = time.milliseconds / 1000
        let nanoseconds = Int(time.milliseconds % 1000) * 1_000_000
        let spec = timespec(tv_sec: Int(seconds), tv_nsec: nanoseconds)
        let times = [spec, spec]
        _ = utimensat(AT_FDCWD, path, times, 0)
    }
}
