import Glibc
package import RecordModel
import RecordSQL
package import RecordServerCore
package import RecordWire

/// Makes a data directory of a server from a backup.
///
/// Everything that was written after the backup is lost, and clients have to find that out: see
/// `RestoreRenewal`. Everything that was removed after the backup is back, and the operator has to
/// find that out: see `RestoreReport`.
package enum SQLiteRestore {
    /// Restores a backup.
    ///
    /// - Parameters:
    ///   - directory: empty or new. It holds nothing until everything is there.
    ///   - keepsSessions: leaves people signed in, also those whose session was ended since the
    ///     backup.
    ///   - now: the time of the server's clock, see `RestoreRenewal`.
    /// - Throws: badRequest when `backup` is not a backup or `directory` is not empty;
    ///   internalError with a reason for the operator when the backup is damaged or incomplete.
    @discardableResult
    package static func restore(
        _ backup: String, to directory: String, keepsSessions: Bool = false,
        now: Timestamp = SystemClock().now
    ) async throws(ServerError) -> RestoreReport {
        let (source, target) = (BackupFiles(path: backup), BackupFiles(path: directory))
        let copy = try await BackupThread.run { () throws(ServerError) in
            try begin(source, target)
        }
        let assets = try await BackupThread.run { () throws(ServerError) in
            (
                source: try AssetDirectory.open(source.assets),
                target: try AssetDirectory.open(target.assets)
            )
        }
        try await bringAssets(copy, from: assets.source, to: assets.target)
        try await assets.target.sync()
        return try await BackupThread.run { () throws(ServerError) in
            let report = try renew(copy, keepsSessions: keepsSessions, now)
            copy.close()
            try target.finish()
            return report
        }
    }

    /// Restores a backup into a directory that is removed afterwards. It does not copy the bytes of
    /// assets, but only looks for them.
    package static func rehearse(
        _ backup: String, keepsSessions: Bool, deep: Bool, now: Timestamp
    ) async throws(ServerError) -> (report: RestoreReport, findings: [Finding]) {
        let source = BackupFiles(path: backup)
        let place = try ScratchDirectory()
        defer { place.remove() }
        let target = BackupFiles(path: place.path)
        let copy = try await BackupThread.run { () throws(ServerError) in
            try begin(source, target)
        }
        let assets = try await BackupThread.run { () throws(ServerError) in
            try AssetDirectory.open(source.assets)
        }
        let findings = try await AssetInspection.run(copy, assets, deep: deep)
        return try await BackupThread.run { () throws(ServerError) in
            let report = try renew(copy, keepsSessions: keepsSessions, now)
            copy.close()
            return (report, findings)
        }
    }

    /// Copies the database to its place, under its unfinished name.
    private static func begin(
        _ source: BackupFiles, _ target: BackupFiles
    ) throws(ServerError) -> SQLQueue {
        guard access(source.database, F_OK) == 0 else {
            throw ServerError(
                .badRequest, "\(source.path) is no complete backup: it has no records.sqlite.")
        }
        try DataDirectory(target.path).makeEmpty()
        let copy = try copyDatabase(source, target)
        try check(copy)
        return copy
    }

    private static func renew(
        _ copy: SQLQueue, keepsSessions: Bool, _ now: Timestamp
    ) throws(ServerError) -> RestoreReport {
        do throws(RecordError) {
            return try copy.write { connection throws(RecordError) in
                try RestoreRenewal(connection: connection, now: now)
                    .renew(keepsSessions: keepsSessions)
                return try RestoreReport.read(connection)
            }
        } catch {
            throw DatabaseCopy.failure("written", error)
        }
    }

    private static func copyDatabase(
        _ source: BackupFiles, _ target: BackupFiles
    ) throws(ServerError) -> SQLQueue {
        let original: SQLQueue
        do throws(RecordError) {
            original = try SQLQueue(path: source.database)
        } catch {
            throw DatabaseCopy.failure("opened", error)
        }
        let (copy, _) = try DatabaseCopy.make(of: original, at: target.unfinishedDatabase)
        original.close()
        return copy
    }

    private static func check(_ copy: SQLQueue) throws(ServerError) {
        let (verdict, isNewer): (String, Bool)
        do throws(RecordError) {
            (verdict, isNewer) = try copy.use { connection throws(RecordError) in
                let verdict = try connection.first("PRAGMA quick_check(1)") { $0.string(0) }
                let isNewer = try SQLiteTables.migrations.areNewer(connection)
                if !isNewer { try SQLiteTables.migrations.apply(to: connection) }
                return (verdict ?? "", isNewer)
            }
        } catch {
            throw DatabaseCopy.failure("checked", error)
        }
        guard verdict == "ok" else {
            throw ServerError(.internalError, "The backup's database is damaged: \(verdict)")
        }
        guard !isNewer else {
            throw ServerError(
                .internalError,
                "The backup was made by a newer recordfs-server; install that version.")
        }
    }

    /// Copies the assets. Uploads that nothing referred to yet may be missing: their rows are
    /// deleted.
    private static func bringAssets(
        _ copy: SQLQueue, from source: any AssetStore, to target: any AssetStore
    ) async throws(ServerError) {
        var forgotten: [ContentHash] = []
        try await AssetRows.each(copy) { (row) throws(ServerError) in
            if try await target.bring(row.hash, from: source),
                try await target.find(row.hash)?.size == row.size
            {
                return
            }
            guard !row.isReferenced else {
                throw ServerError(
                    .internalError,
                    "The backup's asset \(row.hash) is missing or incomplete. `recordfs-server restore "
                        + "--dry-run` lists all that are.")
            }
            forgotten.append(row.hash)
        }
        try await BackupThread.run { [forgotten] () throws(ServerError) in
            try forget(forgotten, copy)
        }
    }

    private static func forget(
        _ assets: [ContentHash], _ copy: SQLQueue
    ) throws(ServerError) {
        do throws(RecordError) {
            try copy.write { connection throws(RecordError) in
                for hash in assets {
                    try connection.run(
                        "DELETE FROM assets WHERE sha256 = ?", [.text(hash.hex)])
                }
            }
        } catch {
            throw DatabaseCopy.failure("written", error)
        }
    }
}
