package import RecordWire

/// A storage with what an operator does with it. Only `StorageFactory` knows which there are.
package protocol OperatedStorage: Storage {
    /// Copies everything as it is at one point in time, with every asset that is referred to, into
    /// an empty or new directory, while the server goes on writing. `StorageFactory.restore` takes
    /// it.
    ///
    /// - Throws: badRequest when the directory is not empty, internalError with a reason for the
    ///   operator.
    @discardableResult
    func backup(to directory: String, assets: any AssetStore) async throws(ServerError)
        -> BackupSummary

    /// Looks whether the storage is whole, and has the bytes of all assets that it refers to. `deep` reads
    /// all of it.
    func inspect(assets: any AssetStore, deep: Bool) async throws(ServerError) -> [Finding]

    /// Ends all accesses after those that have begun. Later ones fail. Harmless when repeated.
    func shutDown() async throws(ServerError)
}

package struct BackupSummary: Hashable, Sendable {
    package let databaseBytes: Int64
    package let assetCount: Int
}
