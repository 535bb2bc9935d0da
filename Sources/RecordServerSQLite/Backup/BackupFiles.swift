import Glibc
import RecordServerCore
import RecordWire

/// The files of a data directory, which are also those of a backup: a database and its assets.
struct BackupFiles: Sendable {
    let path: String

    var database: String { DataDirectory(path).databasePath }
    /// The name of the database until everything is in its place.
    var unfinishedDatabase: String { database + ".part" }
    var assets: String { path + "/assets" }

    /// Gives the database its name, after the assets are in place. From then on the directory is
    /// complete.
    func finish() throws(ServerError) {
        guard rename(unfinishedDatabase, database) == 0 else {
            throw ServerError.file("rename", unfinishedDatabase, errno)
        }
        try AssetDirectory.sync(directory: path)
    }
}
