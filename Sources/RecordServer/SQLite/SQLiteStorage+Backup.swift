import Dispatch
import RecordModel
import RecordSQL
package import RecordWire

import class GRDB.Database
import class GRDB.DatabaseQueue

extension SQLiteStorage {
    private static let backupQueue = DispatchQueue(label: "recordfs.backup")

    /// Copies the database as it is at one point in time, and every asset that it refers to, into
    /// an empty or new directory, while the server goes on writing.
    ///
    /// The directory is a data directory of a server, complete once it holds `records.sqlite`; to
    /// use it, restore it (`StorageFactory.restore`). It holds all secrets of the server.
    ///
    /// - Throws: badRequest when the directory is not empty, internalError with a reason for the
    ///   operator.
    @discardableResult
    package func backup(
        to directory: String, assets: AssetDirectory
    ) async throws(ServerError) -> BackupSummary {
        let outcome: Result<BackupSummary, ServerError> = await withCheckedContinuation {
            continuation in
            Self.backupQueue.async {
                continuation.resume(
                    returning: Result { () throws(ServerError) in
                        try self.backUp(BackupFiles(path: directory), assets)
                    })
            }
        }
        return try outcome.get()
    }

    /// The assets come first: what the sweeper removes between the two copies has a second name by
    /// then. What came after the first look is young, and the sweeper leaves it.
    private func backUp(
        _ files: BackupFiles, _ assets: AssetDirectory
    ) throws(ServerError) -> BackupSummary {
        try files.create()
        let copier = AssetCopier(
            source: assets, target: try Self.assetDirectory(files.assets))
        try AssetRows.each(database) { (row) throws(ServerError) in
            _ = try copier.bring(row.hash)
        }
        let (copy, bytes) = try DatabaseCopy.make(of: database, at: files.unfinishedDatabase)
        var count = 0
        try AssetRows.each(copy) { (row) throws(ServerError) in
            if try copier.bring(row.hash) {
                count += 1
            } else if row.isReferenced {
                throw ServerError(
                    .internalError, "The asset \(row.hash) is missing in \(assets.path).")
            }
        }
        try DatabaseCopy.close(copy)
        try files.finish()
        return BackupSummary(databaseBytes: bytes, assetCount: count)
    }

    static func assetDirectory(_ path: String) throws(ServerError) -> AssetDirectory {
        do throws(RecordError) {
            return try AssetDirectory(path: path)
        } catch {
            throw ServerError(.internalError, error.message)
        }
    }
}
