import Logging
import RecordModel
import RecordSQL

extension StoreUpkeep {
    /// Throws noSpace for a write that only adds data, while the reserve is used up.
    func checkSpace() throws(RecordError) {
        guard let reserve = store.reserve, !reserve.isWhole, !reserve.refill() else { return }
        throw RecordError(
            .noSpace,
            "The disk of the store is full; free some space. Removing records and unmounting work.")
    }

    /// Moves the log into the database, so that its file becomes short, and sets the reserve aside
    /// again. Called after a write that met a full disk, or that used the reserve.
    ///
    /// Only a write that frees space uses the reserve: another process that is filling the disk
    /// takes any space that is released, and a refused save is tried again and again.
    func relieve() {
        _ = shortenLog()
        store.reserve?.refill()
    }

    /// Keeps the log short in relation to the free space, and keeps the reserve in place. The
    /// process that has the store open calls this from time to time.
    package func keepSpace() {
        guard let writer = store.writer, let log = store.log, let reserve = store.reserve else {
            return
        }
        let pages = reserve.logPages
        do throws(RecordError) {
            try writer.use { connection throws(RecordError) in
                let old = try connection.first("PRAGMA wal_autocheckpoint") { $0.int64(0) } ?? 0
                if pages != old {
                    try connection.run("PRAGMA wal_autocheckpoint = \(pages)")
                }
            }
        } catch {
            store.options.logger.error("The log is not kept short", metadata: ["error": "\(error)"])
        }
        if log.length > max(pages * 4096, Int64(ConnectionOptions.logBytesKept)) {
            _ = shortenLog()
        }
        reserve.refill()
    }

    /// Moves the log into the database. Returns whether all of the log is in the database now and
    /// its file is empty.
    func shortenLog() -> Bool {
        guard let writer = store.writer else { return false }
        do throws(RecordError) {
            return try writer.use { connection throws(RecordError) in
                // It does not wait for a reader in another process, because it is called again
                // later.
                try connection.run("PRAGMA busy_timeout = 50")
                defer { resetBusyTimeout(connection) }
                let isBusy = try connection.first("PRAGMA wal_checkpoint(TRUNCATE)") {
                    $0.bool(0)
                }
                return isBusy == false
            }
        } catch {
            store.options.logger.warning(
                "The log cannot be moved into the database", metadata: ["error": "\(error)"])
            return false
        }
    }

    private func resetBusyTimeout(_ connection: SQLConnection) {
        do throws(RecordError) {
            try connection.run("PRAGMA busy_timeout = 10000")
        } catch {
            store.options.logger.error("The busy timeout is lost", metadata: ["error": "\(error)"])
        }
    }
}
