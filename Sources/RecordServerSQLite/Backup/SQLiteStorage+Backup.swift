import Dispatch
import RecordModel
import RecordSQL
package import RecordServerCore
package import RecordWire

/// The thread of backups and restores, which wait for a disk for a long time.
enum BackupThread {
    private static let queue = DispatchQueue(label: "recordfs.backup")

    static func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let outcome: Result<Value, ServerError> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(
                    returning: Result { () throws(ServerError) in try body() })
            }
        }
        return try outcome.get()
    }
}

extension SQLiteStorage {
    /// Makes a data directory of a server, which is complete once it holds `records.sqlite`. To use
    /// it, restore it (`StorageFactory.restore`). It holds all secrets of the server.
    ///
    /// The assets come first: an asset that the sweeper removes between the two copies has a second
    /// name by then. An asset that came after the first look is young, and the sweeper leaves it.
    @discardableResult
    package func backup(
        to directory: String, assets: any AssetStore
    ) async throws(ServerError) -> BackupSummary {
        let files = BackupFiles(path: directory)
        let target = try await BackupThread.run { () throws(ServerError) in
            try DataDirectory(files.path).makeEmpty()
            return try AssetDirectory.open(files.assets)
        }
        try await AssetRows.each(database) { (row) throws(ServerError) in
            _ = try await target.bring(row.hash, from: assets)
        }
        let database = database
        let (copy, bytes) = try await BackupThread.run { () throws(ServerError) in
            try DatabaseCopy.make(of: database, at: files.unfinishedDatabase)
        }
        var count = 0
        try await AssetRows.each(copy) { (row) throws(ServerError) in
            if try await target.bring(row.hash, from: assets) {
                count += 1
            } else if row.isReferenced {
                throw ServerError(.internalError, "The bytes of the asset \(row.hash) are missing.")
            }
        }
        try await target.sync()
        try await BackupThread.run { () throws(ServerError) in
            copy.close()
            try files.finish()
        }
        return BackupSummary(databaseBytes: bytes, assetCount: count)
    }
}
