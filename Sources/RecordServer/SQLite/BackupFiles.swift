import Glibc
import RecordModel
import RecordWire

/// The files of a data directory, which are also those of a backup: a database and its assets.
struct BackupFiles: Sendable {
    let path: String

    var database: String { DataDirectory(path).databasePath }
    /// The name of the database until everything is in its place.
    var unfinishedDatabase: String { database + ".part" }
    var assets: String { path + "/assets" }

    /// Makes the directory, or uses one that is empty.
    func create() throws(ServerError) {
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
            throw ServerError(.badRequest, "\(path) is no directory; name an empty or new one.")
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Self.failure("make", path, errno)
        }
        guard try AssetDirectory.names(in: path).isEmpty else {
            throw ServerError(.badRequest, "\(path) is not empty; name an empty or new directory.")
        }
    }

    /// Gives the database its name, after the assets are in place. From then on the directory is
    /// complete.
    func finish() throws(ServerError) {
        guard rename(unfinishedDatabase, database) == 0 else {
            throw Self.failure("rename", unfinishedDatabase, errno)
        }
        try AssetDirectory.sync(directory: path)
    }

    static func failure(_ verb: String, _ path: String, _ code: Int32) -> ServerError {
        ServerError(
            code == ENOSPC ? .tryAgainLater : .internalError,
            "Cannot \(verb) \(path): \(String(cString: strerror(code))).")
    }
}
