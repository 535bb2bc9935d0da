package import RecordModel
package import RecordWire

/// Removes assets that nothing refers to, once receipts for them have expired, and then files
/// that no database knows.
package struct AssetSweeper: Sendable {
    package let storage: any Storage
    package let directory: AssetDirectory

    package init(storage: any Storage, directory: AssetDirectory) {
        self.storage = storage
        self.directory = directory
    }

    /// One round, safe beside uploads of the same content and beside other server processes.
    package func sweep(now: Timestamp) async throws(ServerError) {}
}
