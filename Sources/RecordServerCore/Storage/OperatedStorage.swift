package import RecordWire

/// A storage with the operations that an operator needs. Only `StorageFactory` knows the kinds of
/// storage.
package protocol OperatedStorage: Storage {
    /// Copies everything as it is at one point in time, with every asset that a record refers to,
    /// into an empty or new directory. The server goes on writing meanwhile.
    /// `StorageFactory.restore` reads the copy.
    ///
    /// - Throws: badRequest when the directory is not empty, internalError with a reason for the
    ///   operator.
    @discardableResult
    func backup(to directory: String, assets: any AssetStore) async throws(ServerError)
        -> BackupSummary

    /// Checks that the storage is intact and has the bytes of all assets that it refers to. With
    /// `deep` it reads all of them.
    func inspect(assets: any AssetStore, deep: Bool) async throws(ServerError) -> [Finding]

    /// Ends all accesses after those that have begun. Later accesses fail. Calling it again is
    /// harmless.
    func shutDown() async throws(ServerError)
}

package struct BackupSummary: Hashable, Sendable {
    package let databaseBytes: Int64
    package let assetCount: Int

    package init(databaseBytes: Int64, assetCount: Int) {
        self.databaseBytes = databaseBytes
        self.assetCount = assetCount
    }
}
