import Glibc
import RecordModel

/// A copy of the data from a pipe, in a file without a name, so that it can be read twice.
final class Spool {
    private let descriptor: Int32

    /// A path to the copy. It is valid while this object lives.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Copies all of `source` (`-` is standard input) into the directory for temporary files:
    /// `TMPDIR`, or /var/tmp, which is on a disk.
    ///
    /// Errors: `noSpace`, `accessDenied`, `ioFailure`.
    init(of source: String) throws(RecordError) {
        let input = try FileReading(path: source)
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        var template = Array("\(directory)/recordfs-import-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw FileReading.failure(directory, errno) }
        unlink(template)
        while true {
            let chunk = try input.chunk()
            if chunk.isEmpty { return }
            try write(chunk, directory)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private func write(_ bytes: [UInt8], _ directory: String) throws(RecordError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw FileReading.failure(directory, errno)
            }
        }
    }
}
