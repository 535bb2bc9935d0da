package import Glibc
package import RecordModel

/// Writes a file beside its place and moves it there when it is complete. `-` is standard output.
package final class FileWriting {
    private static let flushLength = 256 << 10

    private let path: String
    private let temporaryPath: String
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private var isDone = false

    /// Opens the file for writing.
    ///
    /// Errors: `notFound`, `accessDenied`, `noSpace`, `ioFailure`.
    package init(path: String, mode: mode_t = 0o666) throws(RecordError) {
        self.path = path
        guard path != "-" else {
            temporaryPath = ""
            descriptor = 1
            return
        }
        // A device or pipe receives the bytes directly.
        var status = stat()
        let isOrdinary = stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
        temporaryPath = isOrdinary ? Self.temporaryPath(beside: path) : ""
        if !isOrdinary {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw FileReading.failure(path, errno) }
            return
        }
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            isDone = true
            throw FileReading.failure(path, errno)
        }
    }

    /// Returns a short path, because the name of the file itself may have the maximum length.
    private static func temporaryPath(beside path: String) -> String {
        let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
        let number = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        return "\(directory).\(getpid())-\(number).tmp"
    }

    deinit {
        guard path != "-", descriptor >= 0 else { return }
        close(descriptor)
        if !isDone, !temporaryPath.isEmpty { unlink(temporaryPath) }
    }

    /// Writes bytes.
    ///
    /// Errors: `noSpace`, `ioFailure`.
    package func write(_ bytes: some Sequence<UInt8>) throws(RecordError) {
        buffer += bytes
        if buffer.count >= Self.flushLength { try flush() }
    }

    /// Moves the complete file to its place. Errors: `noSpace`, `ioFailure`.
    package func finish() throws(RecordError) {
        try flush()
        guard !temporaryPath.isEmpty else { return }
        guard rename(temporaryPath, path) == 0 else { throw FileReading.failure(path, errno) }
        isDone = true
    }

    private func flush() throws(RecordError) {
        while !buffer.isEmpty {
            let count = Glibc.write(descriptor, buffer, buffer.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileReading.failure(path, errno)
            }
            buffer.removeFirst(count)
        }
    }
}

/// Replaces the content of a file with these bytes in one step. Errors: `noSpace`, `accessDenied`,
/// `ioFailure`.
package func writeWholeFile(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o666
) throws(RecordError) {
    let file = try FileWriting(path: path, mode: mode)
    try file.write(bytes)
    try file.finish()
}
