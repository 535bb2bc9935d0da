import Glibc
import Logging
package import RecordModel
import RecordSQL

/// The database that shows the records to questions in SQL is a copy of them. It lives no longer
/// than it is used, and never longer than what it shows.
extension StoreUpkeep {
    /// The time after its last use from which on it is removed, in seconds.
    private static let mirrorRest = 3600

    /// Removes the mirror when nobody has used it for an hour.
    func removeUnusedMirror() {
        var information = stat()
        guard stat(store.places.mirrorDirectory + "/mirror.sqlite", &information) == 0,
            Glibc.time(nil) - information.st_mtim.tv_sec > Self.mirrorRest
        else { return }
        removeMirror()
    }

    /// Removes the mirror. A question that reads it now still gets its answer.
    func removeMirror() {
        do throws(RecordError) {
            for name in try AssetFiles.names(in: store.places.mirrorDirectory) {
                try LocalFile.remove(store.places.mirrorDirectory + "/" + name)
            }
        } catch {
            guard error.code != .notFound, access(store.places.mirrorDirectory, F_OK) == 0 else {
                return
            }
            store.options.logger.error(
                "The tables of recordfs sql cannot be removed; remove them by hand",
                metadata: [
                    "error": "\(error)", "directory": "\(store.places.mirrorDirectory)",
                ])
        }
    }

    // MARK: Its needs

    /// Returns the path of that database. Its directory is made when it is missing.
    package func mirrorPath() throws(RecordError) -> String {
        let directory = store.places.mirrorDirectory
        if mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw RecordError.systemCall("make the directory \(directory)", errno)
        }
        return directory + "/mirror.sqlite"
    }

    /// Returns the numbers by which the file of the database is known.
    package func databaseFile() throws(RecordError) -> (device: Int64, inode: Int64) {
        var information = stat()
        guard stat(store.places.database, &information) == 0 else {
            throw RecordError.systemCall("look at \(store.places.database)", errno)
        }
        return (
            Int64(truncatingIfNeeded: information.st_dev),
            Int64(truncatingIfNeeded: information.st_ino)
        )
    }

    /// Returns the database as a URI that another connection can attach, to read.
    package func databaseToAttach() throws(RecordError) -> String { store.places.readOnlyDatabase }

    /// Returns the records whose deletions wait.
    package func recordsThatWait() throws(RecordError) -> Set<RecordID> {
        Set(
            try store.read { connection throws(RecordError) in
                try connection.all("SELECT id FROM record WHERE waiting_since IS NOT NULL") {
                    RecordID($0.int64(0))
                }
            })
    }

    /// Returns the number of saved records of each type.
    package func recordCounts() throws(RecordError) -> [TypeID: Int64] {
        let rows = try store.read { connection throws(RecordError) in
            try connection.all(
                "SELECT type_id, COUNT(*) FROM record WHERE state = 0 GROUP BY type_id"
            ) { (TypeID($0.int64(0)), $0.int64(1)) }
        }
        return Dictionary(rows) { $1 }
    }
}
