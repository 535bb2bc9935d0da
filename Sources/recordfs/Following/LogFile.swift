import Glibc
import RecordModel

/// A log to which another process appends, and which it replaces by a new one.
final class LogFile {
    private let path: String
    private var descriptor: Int32
    /// The beginning of a line that has not ended.
    private var rest: [UInt8] = []

    /// Opens the log.
    ///
    /// Errors: notFound, ioFailure.
    init(_ path: String) throws(RecordError) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw RecordError(
                errno == ENOENT ? .notFound : .ioFailure,
                errno == ENOENT
                    ? "there is no log: no daemon of this store was started by recordfs mount."
                    : "cannot be read: \(String(cString: strerror(errno))).")
        }
    }

    deinit { close(descriptor) }

    /// Returns the lines that were added since the last call, without line ends. When the log was
    /// replaced, the end of the old one is first.
    func newLines() throws(RecordError) -> [[UInt8]] {
        var lines = try read()
        if let new = replacement() {
            close(descriptor)
            descriptor = new
            if !rest.isEmpty { lines.append(rest) }
            rest = []
            lines += try read()
        }
        return lines
    }

    private func read() throws(RecordError) -> [[UInt8]] {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count >= 0 else {
                throw RecordError(
                    .ioFailure, "cannot be read: \(String(cString: strerror(errno))).")
            }
            guard count > 0 else { break }
            rest += buffer[..<count]
        }
        var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Array(lines.removeLast())
        return lines.map(Array.init)
    }

    /// Opens the file that has the name now. Returns nil when it is the same one.
    private func replacement() -> Int32? {
        var here = stat()
        var there = stat()
        guard fstat(descriptor, &here) == 0, stat(path, &there) == 0,
            here.st_ino != there.st_ino || here.st_dev != there.st_dev
        else { return nil }
        let new = open(path, O_RDONLY | O_CLOEXEC)
        return new >= 0 ? new : nil
    }
}
