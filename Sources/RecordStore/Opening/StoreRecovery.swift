import FoundationEssentials
import Glibc
package import RecordModel
import RecordSQL

/// A report of the recovery of a damaged store.
package struct StoreRecovery: Sendable {
    /// The directory with the damaged files, unchanged.
    package let aside: String
    /// The directory with the records that no server is known to have, as files. Nil when there
    /// were none.
    package internal(set) var unsent: String?
    package internal(set) var unsentCount = 0
    /// The number of records that could be read and that a server has. The server sends them again.
    package internal(set) var sentCount = 0
    /// The data that could not be read, one sentence each.
    package internal(set) var losses: [String] = []
}

extension RecordStore {
    /// Moves a damaged database and the files that belong to its rows to another directory, and
    /// makes an empty store in its place. Writes to files the records of the damaged database that
    /// can be read and that no server is known to have. Asset files stay in their place.
    ///
    /// - Parameter name: the end of the names of the new directories in the state directory.
    /// - Throws: storeLocked while another process uses the store; notFound where there is no
    ///   database; noSpace and other errors of files. After these the damaged store is where it
    ///   was, or in `aside`.
    package static func recover(
        directory: String, name: String
    ) throws(RecordError) -> StoreRecovery {
        let places = StoreDirectory(path: directory)
        guard StoreDirectory.exists(places.database) else {
            throw RecordError(.notFound, "\(places.database) is not there. Nothing was changed.")
        }
        let lock = try StoreLock.take(places.lock)
        defer { lock.release() }
        let aside = directory + "/damaged-" + name
        try places.create()
        var recovery = StoreRecovery(aside: aside)
        // This is the first step, while nothing has changed yet: if the disk is too full for it,
        // nothing changes.
        let found = try salvage(places, directory + "/unsent-" + name)
        recovery.losses = found.losses
        recovery.sentCount = found.sentCount
        recovery.unsentCount = found.unsentCount
        if found.unsentCount > 0 { recovery.unsent = directory + "/unsent-" + name }
        try setAside(places, aside)
        try places.create()
        try places.createDatabase()
        try openWriter(places, ChangeMoment()).close()
        try StoreDirectory.sync(directory)
        return recovery
    }

    /// Moves the damaged database away, together with the local files: they belong to numbers of
    /// directories of that database.
    private static func setAside(
        _ places: StoreDirectory, _ aside: String
    ) throws(RecordError) {
        guard mkdir(aside, 0o700) == 0 else {
            throw RecordError.systemCall("make the directory \(aside)", errno)
        }
        let names = [
            "store.sqlite-shm", "store.sqlite-wal", "scratch", "scratch-trash", "store.sqlite",
        ]
        for name in names where StoreDirectory.exists("\(places.path)/\(name)") {
            guard rename("\(places.path)/\(name)", "\(aside)/\(name)") == 0 else {
                throw RecordError.systemCall("move \(name) to \(aside)", errno)
            }
        }
        try StoreDirectory.sync(aside)
    }

    private static func salvage(
        _ places: StoreDirectory, _ folder: String
    ) throws(RecordError) -> Salvage {
        // Opening a store removes the files that were left there.
        let copy = places.assetsInProgress + "/recovery-\(getpid())"
        var salvage = Salvage(folder: folder, assets: AssetFiles(places: places))
        defer { removeCopy(copy) }
        for hasLog in [true, false] {
            do throws(RecordError) {
                try copyDatabase(places, to: copy, withLog: hasLog)
                let queue = try SQLQueue(path: copy)
                defer { queue.close() }
                try queue.use { connection throws(RecordError) in try salvage.read(connection) }
                return salvage
            } catch {
                guard error.code == .corrupt || error.code == .ioFailure else { throw error }
                salvage.losses.append(
                    hasLog
                        ? "store.sqlite cannot be read with its log: \(error.message)"
                        : "store.sqlite cannot be read: \(error.message)")
            }
        }
        return salvage
    }

    /// Copies the database. The originals stay untouched, because SQLite would move the log into
    /// them.
    private static func copyDatabase(
        _ places: StoreDirectory, to copy: String, withLog: Bool
    ) throws(RecordError) {
        removeCopy(copy)
        do {
            let files = FileManager.default
            try files.copyItem(atPath: places.database, toPath: copy)
            if withLog, StoreDirectory.exists(places.writeAheadLog) {
                try files.copyItem(atPath: places.writeAheadLog, toPath: copy + "-wal")
            }
        } catch let error as CocoaError where error.code == .fileWriteOutOfSpace {
            throw RecordError(
                .noSpace, "The disk has no space for a copy of the store; free some space.")
        } catch {
            throw RecordError(.ioFailure, "The store cannot be copied: \(error)")
        }
    }

    private static func removeCopy(_ copy: String) {
        for end in ["", "-wal", "-shm"] { unlink(copy + end) }
    }
}
