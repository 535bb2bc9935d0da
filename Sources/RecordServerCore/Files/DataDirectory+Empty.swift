import Glibc
package import RecordWire

extension DataDirectory {
    /// Makes the directory, or uses one that is empty.
    package func makeEmpty() throws(ServerError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw ServerError(.badRequest, "\(path) is no directory; name an empty or new one.")
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw ServerError.file("make", path, errno)
        }
        guard try AssetDirectory.names(in: path).isEmpty else {
            throw ServerError(.badRequest, "\(path) is not empty; name an empty or new directory.")
        }
    }
}
