import Glibc
import RecordControl
import RecordModel

/// The file in which the daemons of a user record the refused saves. Shells, panels and `recordfs
/// errors --follow` read it.
///
/// A line is `refused`, the path and the reason, or `saved` and the path when a later save of the
/// same file succeeded, with tabs between them.
struct RefusalLog: Sendable {
    /// The size from which the file begins again. No shell is so far behind.
    private static let limit: off_t = 256 << 10

    private let path: String

    init(path: String) { self.path = path }

    func append(_ words: [String]) {
        let line = Array((words.map(\.onOneLine).joined(separator: "\t") + "\n").utf8)
        var descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == ENOENT {
            do throws(RecordError) {
                try HostDirectory.make(HostDirectory.parent(of: path))
            } catch {
                return
            }
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size > Self.limit {
            // A new file: a reader that has the old one open reads its end, and then the new one.
            unlink(path)
            let new = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard new >= 0 else { return }
            close(descriptor)
            descriptor = new
        }
        // One write, so that lines of several daemons do not mix.
        _ = write(descriptor, line, line.count)
    }
}
