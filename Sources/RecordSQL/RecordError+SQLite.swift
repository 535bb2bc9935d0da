import CSQLite
package import RecordModel

extension RecordError {
    /// Converts SQLite's result codes (https://www.sqlite.org/rescode.html) into our errors.
    ///
    /// The codes not named here are faults of this program (SQLITE_MISUSE, SQLITE_RANGE, a
    /// constraint that our own checks should have met first) or cannot come from a local file. They
    /// become `ioFailure`, because nothing was stored.
    package init(sqliteCode: Int32, message: String) {
        let cause = "(SQLite \(sqliteCode): \(message))"
        switch sqliteCode & 0xff {
        case SQLITE_FULL:
            self.init(.noSpace, "The disk of the store is full; free some space. \(cause)")
        // SQLite could not extend the index of the log.
        case SQLITE_IOERR where sqliteCode == SQLITE_IOERR | 19 << 8:
            self.init(.noSpace, "The disk of the store is full; free some space. \(cause)")
        case SQLITE_IOERR:
            self.init(.ioFailure, "The disk of the store failed. \(cause)")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            self.init(
                .corrupt,
                "The database is damaged. Keep a copy of its directory, then put all of a backup "
                    + "back; without one, `recordfs fsck --recover` saves what can be read. "
                    + "\(cause)")
        case SQLITE_BUSY, SQLITE_LOCKED:
            self.init(.timedOut, "Another process keeps the store busy; try again. \(cause)")
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            self.init(.readOnly, "The store cannot be written here. \(cause)")
        case SQLITE_CANTOPEN:
            self.init(
                .ioFailure, "The store cannot be opened; check its directory's rights. \(cause)")
        case SQLITE_TOOBIG:
            self.init(.tooLarge, "The value is too large for the store. \(cause)")
        case SQLITE_INTERRUPT, SQLITE_ABORT:
            self.init(.interrupted, "The work on the store was interrupted. \(cause)")
        default:
            self.init(.ioFailure, "The store cannot be used. \(cause)")
        }
    }
}
