#if canImport(Glibc)
import Glibc
#endif

/// A small file that a command reads, or standard input.
enum InputFile {
    /// Reads the file, or standard input for `-`; at most `limit` bytes.
    static func read(_ path: String, limit: Int) throws -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path)
            }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else {
                throw CommandFailure("\(path) is larger than \(limit) bytes.")
            }
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure("\(path): \(String(cString: strerror(errno)))")
    }
}
