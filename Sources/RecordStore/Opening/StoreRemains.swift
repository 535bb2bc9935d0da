import Glibc
import RecordModel

/// The content of a state directory, before SQLite has opened it.
///
/// SQLite treats a missing or empty database as a new one and removes the log beside it. The mount
/// would then remove every asset file, because no row of a new database refers to them. So the
/// files decide first whether there is a store and whether a new one may be made.
extension StoreDirectory {
    /// Returns whether store.sqlite exists. Returns false where a new store can be made. Changes
    /// nothing.
    ///
    /// - Throws: corrupt when the database is missing and the rest of a store is not.
    func hasDatabase() throws(RecordError) -> Bool {
        if try Self.size(of: database) ?? 0 > 0 { return true }
        let remains = try self.remains()
        guard remains.isEmpty else {
            throw .lostStore("store.sqlite is missing or empty", in: self, remains)
        }
        return false
    }

    /// Returns the names of entries that only a store leaves, for a message. Empty in a directory
    /// without a store.
    func remains() throws(RecordError) -> [String] {
        var remains: [String] = []
        if try hasLog() { remains.append("store.sqlite-wal") }
        if try Self.holdsFiles(assets, except: "tmp") { remains.append("assets/") }
        if try Self.holdsFiles(scratch) { remains.append("scratch/") }
        return remains
    }

    /// Returns whether a name in the directory belongs to a store, to a command or an earlier start
    /// that did not finish, or to a separate file system.
    private static func isKnown(_ name: String) -> Bool {
        let names: Set<String> = [
            "lock", "reserve", "control.sock", "assets", "scratch", "scratch-trash", "imports",
            "mirror", "lost+found", "backup.json", "scratch-new",
        ]
        // Logs of mounts are here when the directory is also the directory of all logs.
        let isLog =
            name.hasPrefix("recordfs") && [".log", ".log.1"].contains { name.hasSuffix($0) }
        let isCopy = name.hasPrefix("put-") && pid_t(name.dropFirst(4)) != nil
        let isRecovered = name.hasPrefix("damaged-") || name.hasPrefix("unsent-")
        return names.contains(name) || name.hasPrefix("store.sqlite") || isLog || isCopy
            || isRecovered
    }

    /// Checks that a store can be made here. Errors: notEmpty where the directory has files that do
    /// not belong to a store.
    func checkIsFree() throws(RecordError) {
        guard Self.exists(path) else { return }
        let foreign = try AssetFiles.names(in: path).filter { !Self.isKnown($0) }.sorted()
        guard let first = foreign.first else { return }
        let others = foreign.count == 1 ? "" : " and \(foreign.count - 1) more"
        throw RecordError(
            .notEmpty,
            "\(path) is no store, and has other files: \(first)\(others). Nothing was changed. "
                + "Name an empty directory, or one that is not there yet, for a new store.")
    }

    /// Returns whether store.sqlite begins like a database.
    func hasDatabaseHeader() throws(RecordError) -> Bool {
        let magic = Array("SQLite format 3\0".utf8)
        let file = open(database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw RecordError.systemCall("open \(database)", errno) }
        defer { close(file) }
        var start = [UInt8](repeating: 0, count: magic.count)
        let count = pread(file, &start, start.count, 0)
        guard count >= 0 else { throw RecordError.systemCall("read \(database)", errno) }
        return start == magic
    }

    func hasLog() throws(RecordError) -> Bool { try Self.size(of: writeAheadLog) ?? 0 > 0 }

    private static func size(of path: String) throws(RecordError) -> Int64? {
        var information = stat()
        if stat(path, &information) == 0 { return Int64(information.st_size) }
        if errno == ENOENT || errno == ENOTDIR { return nil }
        throw RecordError.systemCall("look at \(path)", errno)
    }

    /// Returns whether anything except directories is somewhere below.
    static func holdsFiles(
        _ directory: String, except excluded: String? = nil
    ) throws(RecordError) -> Bool {
        guard exists(directory) else { return false }
        for name in try AssetFiles.names(in: directory) where name != excluded {
            let path = directory + "/" + name
            var information = stat()
            guard lstat(path, &information) == 0 else { continue }
            if information.st_mode & S_IFMT != S_IFDIR { return true }
            if try holdsFiles(path) { return true }
        }
        return false
    }
}

extension RecordError {
    /// The error when the database of a store is missing but other parts of the store are present.
    static func lostStore(
        _ what: String, in places: StoreDirectory, _ remains: [String]
    ) -> RecordError {
        RecordError(
            .corrupt,
            "\(what), but \(places.path) has \(remains.joined(separator: ", ")) of a store. "
                + "Nothing was changed. Put store.sqlite back from a backup; or, to start "
                + "with an empty store and keep the old files, move them away: mv \(places.path) \(places.path).lost"
        )
    }

    /// The error when the file is a database but not the one that belongs here.
    static func foreignDatabase(_ what: String, in places: StoreDirectory) -> RecordError {
        RecordError(
            .corrupt,
            "\(places.database) \(what). Nothing was changed. Put back a complete backup of \(places.path), "
                + "or run `recordfs fsck --recover --state \(places.path)`: it sets the "
                + "damaged database aside, writes the records that no server has to files, and makes "
                + "an empty store, into which the server's records are downloaded again. To start "
                + "without that, move the directory away: mv \(places.path) \(places.path).lost")
    }
}
