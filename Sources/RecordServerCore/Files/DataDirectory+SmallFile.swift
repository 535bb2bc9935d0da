import Glibc
package import RecordWire

extension DataDirectory {
    /// Returns the content of a file, or one byte more than `limit`. Returns nil when there is no
    /// file. The function never waits for anything except a regular file.
    package func smallFile(_ name: String, limit: Int) throws(ServerError) -> [UInt8]? {
        let path = path + "/" + name
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw ServerError.file("open", path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(.badRequest, "\(path) is no regular file.")
        }
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes[count...].withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            guard read >= 0 else { throw ServerError.file("read", path, errno) }
            guard read > 0 else { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }
}
