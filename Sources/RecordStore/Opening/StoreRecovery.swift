import FoundationEssentials
import Glibc
package import RecordModel
import RecordSQL

import struct GRDB.Configuration
import class GRDB.DatabaseQueue

/// What was done with a damaged store, in words.
package struct StoreRecovery: Sendable {
    /// The damaged files, as they were.
    package let aside: String
    /// The records that no server is known to have, as files; nil when there were none.
    package internal(set) var unsent: String?
    package internal(set) var unsentCount = 0
    /// How many records could be read that a server has, and sends again.
    package internal(set) var sentCount = 0
    /// What could not be read, one sentence each.
    package internal(set) var losses: [String] = []
}

extension RecordStore {
    /// Sets a damaged database aside with what belongs to its rows, makes an empty store in its place, and
    /// writes the records that can be read of the damaged one, and that no server is known to have, to files.
    /// Asset files stay in their place.
    ///
    /// - Parameter name: what the new directories in the state directory end with.
    /// - Throws: storeLocked while somebody uses the store; notFound where no database is; noSpace and other
    ///   errors of files, in which case the damaged store is where it was, or in `aside`.
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
        // First of all, while nothing was changed: a disk that is full for it changes nothing.
        let found = try salvage(places, directory + "/unsent-" + name)
        recovery.losses = found.losses
        recovery.sentCount = found.sentCount
        recovery.unsentCount = found.unsentCount
        if found.unsentCount > 0 { recovery.unsent = directory + "/unsent-" + name }
        try setAside(places, aside)
        try places.create()
        try places.createDatabase()
        do {
            try openWriter(places, ChangeMoment()).close()
        } catch {
            throw RecordError(storeError: error)
        }
        try StoreDirectory.sync(directory)
        return recovery
    }

    /// Local files belong to numbers of directories of the damaged database.
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
        // Opening a store removes what is left there.
        let copy = places.assetsInProgress + "/recovery-\(getpid())"
        var salvage = Salvage(folder: folder, assets: AssetFiles(places: places))
        defer { removeCopy(copy) }
        for hasLog in [true, false] {
            do {
                try copyDatabase(places, to: copy, withLog: hasLog)
                let queue = try DatabaseQueue(
                    path: copy, configuration: Configuration())
                try queue.inDatabase { try salvage.read(SQLConnection($0)) }
                try queue.close()
                return salvage
            } catch {
                let error = RecordError(storeError: error)
                guard error.code == .corrupt || error.code == .ioFailure else { throw error }
                salvage.losses.append(
                    hasLog
                        ? "store.sqlite cannot be read with its log: \(error.message)"
                        : "store.sqlite cannot be read: \(error.message)")
            }
        }
        return salvage
    }

    /// The originals stay untouched: SQLite would put the log into them.
    private static func copyDatabase(
        _ places: StoreDirectory, to copy: String, withLog: Bool
    ) throws {
        removeCopy(copy)
        let files = FileManager.default
        try files.copyItem(atPath: places.database, toPath: copy)
        if withLog, StoreDirectory.exists(places.writeAheadLog) {
            try files.copyItem(atPath: places.writeAheadLog, toPath: copy + "-wal")
        }
    }

    private static func removeCopy(_ copy: String) {
        for end in ["", "-wal", "-shm"] { unlink(copy + end) }
    }
}
