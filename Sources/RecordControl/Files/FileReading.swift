import Glibc
package import RecordModel

/// Reads a file in pieces; `-` is standard input.
final class FileReading {
    static let chunkLength = 256 << 10

    let path: String
    private let descriptor: Int32
    private let owns: Bool

    /// Opens the file.
    ///
    /// Errors: `notFound`, `accessDenied`, `isDirectory`, `ioFailure`.
    init(path: String) throws(RecordError) {
        self.path = path
        owns = path != "-"
        descriptor = owns ? open(path, O_RDONLY | O_CLOEXEC) : 0
        guard descriptor >= 0 else { throw Self.failure(path, errno) }
    }

    deinit { if owns { close(descriptor) } }

    /// Returns the next bytes. They are empty at the end.
    func chunk() throws(RecordError) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: Self.chunkLength)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count >= 0 {
                buffer.removeLast(buffer.count - count)
                return buffer
            }
            if errno != EINTR { throw Self.failure(path, errno) }
        }
    }

    static func failure(_ path: String, _ code: Int32) -> RecordError {
        let kind: RecordError.Code =
            switch code {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM: .accessDenied
            case EISDIR: .isDirectory
            case ENOSPC: .noSpace
            default: .ioFailure
            }
        return RecordError(kind, "\(path): \(String(cString: strerror(code))).", errno: code)
    }
}

/// Copies a file. `-` is standard input or output. The copy appears only when it is complete.
///
/// Errors: those of `open`, `read`, `write` and `rename`.
package func copyFile(_ source: String, to target: String) throws(RecordError) {
    let input = try FileReading(path: source)
    let output = try FileWriting(path: target)
    while true {
        let chunk = try input.chunk()
        if chunk.isEmpty { break }
        try output.write(chunk)
    }
    try output.finish()
}

/// Returns all bytes of a file. When it is longer than `limit`, returns more than `limit` of them.
/// `-` is standard input. Errors: those of `open` and `read`.
package func readWholeFile(
    _ path: String, limit: Int = .max
) throws(RecordError) -> [UInt8] {
    let file = try FileReading(path: path)
    var bytes: [UInt8] = []
    while bytes.count <= limit {
        let chunk = try file.chunk()
        if chunk.isEmpty { return bytes }
        bytes += chunk
    }
    return bytes
}
