package import Logging
package import RecordModel
package import RecordServerCore
package import RecordServerHTTP
import RecordServerSQLite
package import RecordWire

/// Makes the storage that the configuration names. Only this type knows the kinds of storage.
package enum StorageFactory {
    /// Opens the storage and brings it up to date, or makes it when there is none.
    ///
    /// - Throws: internalError with a reason for the operator.
    package static func open(
        _ configuration: ServerConfiguration, logger: Logger = Logger(label: "recordfs.storage")
    ) throws(ServerError) -> any OperatedStorage {
        switch configuration.storage {
        case .sqlite:
            try SQLiteStorage.open(
                path: DataDirectory(configuration.dataDirectory).databasePath,
                synchronous: configuration.durability == .full ? .full : .normal, logger: logger)
        }
    }

    /// Opens the store of the bytes of assets, or makes it when there is none.
    ///
    /// - Throws: internalError with a reason for the operator.
    package static func openAssets(
        _ configuration: ServerConfiguration
    ) throws(ServerError) -> any AssetStore {
        try AssetDirectory.open(DataDirectory(configuration.dataDirectory).assetPath)
    }

    /// Returns whether there is a storage already.
    package static func exists(_ configuration: ServerConfiguration) -> Bool {
        switch configuration.storage {
        case .sqlite: SQLiteStorage.exists(DataDirectory(configuration.dataDirectory).databasePath)
        }
    }

    /// Does everything that a restore would do, in a directory of its own that is removed
    /// afterwards, and looks for the bytes of every asset. With `deep` it reads them.
    ///
    /// - Throws: as `restore`.
    package static func tryRestore(
        _ backup: String, _ configuration: ServerConfiguration, keepsSessions: Bool = false,
        deep: Bool, clock: any WallClock = SystemClock()
    ) async throws(ServerError) -> (report: RestoreReport, findings: [Finding]) {
        switch configuration.storage {
        case .sqlite:
            try await SQLiteRestore.rehearse(
                backup, keepsSessions: keepsSessions, deep: deep, now: clock.now)
        }
    }

    /// Makes the data of a server from a backup.
    ///
    /// - Parameters:
    ///   - keepsSessions: leaves people signed in, also those whose session was ended since the
    ///     backup.
    ///   - clock: gives a time later than all times that the lost time can have given.
    /// - Throws: badRequest when `backup` is not a backup or there are data already; internalError
    ///   with a reason for the operator when the backup is damaged or incomplete.
    @discardableResult
    package static func restore(
        _ backup: String, to configuration: ServerConfiguration, keepsSessions: Bool = false,
        clock: any WallClock = SystemClock()
    ) async throws(ServerError) -> RestoreReport {
        switch configuration.storage {
        case .sqlite:
            try await SQLiteRestore.restore(
                backup, to: configuration.dataDirectory, keepsSessions: keepsSessions,
                now: clock.now)
        }
    }
}
