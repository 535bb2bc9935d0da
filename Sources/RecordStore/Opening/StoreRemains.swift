import Glibc
import RecordModel

/// What is in a state directory before SQLite has looked at it.
///
/// SQLite takes a missing or empty database for a new one and throws the log beside it away; the
/// mount would then throw away every asset file, which no row of a new database refers to. So
/// whether there is a store, and whether a new one may be made, is decided from the files first.
extension StoreDirectory {
    /// Whether store.sqlite is there; false where a new store can be made. Touches nothing.
    ///
    /// - Throws: corrupt where the database is gone and the rest of a store is not.
    func hasDatabase() throws(RecordError) -> Bool {
        if try Self.size(of: database) ?? 0 > 0 { return true }
        let remains = try self.remains()
        guard remains.isEmpty else {
            throw .lostStore("store.sqlite is missing or empty", in: self, remains)
        }
        return false
    }

    /// Names of what only a store leaves, for a message; empty in a directory without a store.
    func remains() throws(RecordError) -> [String] {
        var remains: [String] = []
        if try hasLog() { remains.append("store.sqlite-wal") }
        if try Self.holdsFiles(assets, except: "tmp") { remains.append("assets/") }
        if try Self.holdsFiles(scratch) { remains.append("scratch/") }
        return remains
    }

    /// Whether a name in the directory is of a store, of a command or an earlier start that did not
    /// come to its end, or of a file system of its own.
    private static func isKnown(_ name: String) -> Bool {
        let names: Set<String> = [
            "lock", "reserve", "control.sock", "assets", "scratch", "scratch-trash", "imports",
            "lost+found",
        ]
        // Logs of mounts are here when the directory is that of all logs.
        let isLog =
            name.hasPrefix("recordfs") && [".log", ".log.1"].contains { name.hasSuffix($0) }
        let isCopy = name.hasPrefix("put-") && pid_t(name.dropFirst(4)) != nil
        let isRecovered = name.hasPrefix("damaged-") || name.hasPrefix("unsent-")
        return names.contains(name) || name.hasPrefix("store.sqlite") || isLog || isCopy
            || isRecovered
    }

    /// Errors: notEmpty where a store would be made among files that are no store's.
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

    /// Whether store.sqlite begins as databases do.
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

    /// Whether anything but directories is somewhere below.
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
    /// The database of a store is gone, and other parts of it are there.
    static func lostStore(
        _ what: String, in places: StoreDirectory, _ remains: [String]
    ) -> RecordError {
        RecordError(
            .corrupt,
            "\(what), but \(places.path) has \(remains.joined(separator: ", ")) of a store. "
                + "Nothing was changed. Put store.sqlite back from a backup; or, to start anew "
                + "and keep what is there, move it away: mv \(places.path) \(places.path).lost")
    }

    /// The file is a database, and not the one that belongs here.
    static func foreignDatabase(_ what: String, in places: StoreDirectory) -> RecordError {
        RecordError(
            .corrupt,
            "\(places.database) \(what). Nothing was changed. Put a backup of \(places.path) back, "
                + "all of it; or run `recordfs fsck --recover --state \(places.path)`: it sets the "
                + "damaged database aside, writes the records that no server has to files, and makes "
                + "an empty store, into which the server's records come again. To start anew without "
                + "that, move the directory away: mv \(places.path) \(places.path).lost")
    }
}
