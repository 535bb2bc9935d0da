package import RecordModel
package import RecordWire

/// Removes assets that nothing refers to, once receipts for them have expired, and then files
/// that no database knows.
package struct AssetSweeper: Sendable {
    package let storage: any Storage
    package let directory: AssetDirectory
    /// How long a receipt is good.
    package let receiptSeconds: Int

    package init(storage: any Storage, directory: AssetDirectory, receiptSeconds: Int) {
        self.storage = storage
        self.directory = directory
        self.receiptSeconds = receiptSeconds
    }

    private static let batch = 200

    /// Removes the file of an upload that came to nothing, unless a database knows the content.
    func discard(_ hash: ContentHash) async throws(ServerError) {
        try await remove(try await unknown(among: [hash]))
    }

    /// To be called once at start: also removes files that a crash kept from being known.
    package func recover() async throws(ServerError) {
        try await settleDoomed()
        let folders = try await onFiles { directory throws(ServerError) in
            try directory.folders()
        }
        for folder in folders {
            let files = try await onFiles { directory throws(ServerError) in
                try directory.files(inFolder: folder)
            }
            try await remove(try await unknown(among: files))
        }
    }

    /// One round, safe beside uploads of the same content and beside other server processes.
    package func sweep(now: Timestamp) async throws(ServerError) {
        let limit = now.nanoseconds / 1_000_000 - Int64(receiptSeconds) * 1000
        while true {
            let removed = try await storage.write { transaction throws(ServerError) in
                let assets = try transaction.unreferencedAssets(before: limit, limit: Self.batch)
                for asset in assets {
                    try transaction.deleteAsset(asset.database, fileChecksum: asset.fileChecksum)
                }
                return assets.map(\.sha256)
            }
            try await remove(try await unknown(among: Array(Set(removed))))
            guard removed.count == Self.batch else { break }
        }
        try await settleDoomed()
    }

    /// A first look, so that files in use stay in their places.
    private func unknown(among hashes: [ContentHash]) async throws(ServerError) -> [ContentHash] {
        guard !hashes.isEmpty else { return [] }
        return try await storage.read { reader throws(ServerError) in
            var unknown: [ContentHash] = []
            for hash in hashes where try !reader.isContentKnown(hash) { unknown.append(hash) }
            return unknown
        }
    }

    private func remove(_ hashes: [ContentHash]) async throws(ServerError) {
        guard !hashes.isEmpty else { return }
        try await settle(
            try await onFiles { directory throws(ServerError) in
                var doomed: [DoomedAsset] = []
                for hash in hashes {
                    if let asset = try directory.doom(hash) { doomed.append(asset) }
                }
                return doomed
            })
    }

    private func settleDoomed() async throws(ServerError) {
        try await settle(
            try await onFiles { directory throws(ServerError) in try directory.doomed() })
    }

    private func settle(_ doomed: [DoomedAsset]) async throws(ServerError) {
        guard !doomed.isEmpty else { return }
        let unknown = Set(try await unknown(among: doomed.map(\.hash)))
        try await onFiles { directory throws(ServerError) in
            for asset in doomed {
                if unknown.contains(asset.hash) {
                    try directory.destroy(asset)
                } else {
                    try directory.pardon(asset)
                }
            }
        }
    }

    private func onFiles<Result: Sendable>(
        _ body: @escaping @Sendable (AssetDirectory) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let directory = directory
        return try await FileThreads.run { () throws(ServerError) in try body(directory) }
    }
}
