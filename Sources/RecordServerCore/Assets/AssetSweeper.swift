package import RecordModel
package import RecordWire

/// Removes assets that nothing refers to. It does so when receipts for them have expired, and the
/// same time after their last record gave them up. Then it removes contents that no database knows.
package struct AssetSweeper: Sendable {
    package let storage: any Storage
    package let assets: any AssetStore
    /// The time for which a receipt is valid. Bytes that a record had are kept for the same time,
    /// because a machine that edited the record without them may ask for them (assets/rereference).
    package let receiptSeconds: Int

    package init(storage: any Storage, assets: any AssetStore, receiptSeconds: Int) {
        self.storage = storage
        self.assets = assets
        self.receiptSeconds = receiptSeconds
    }

    private static let batch = 200

    /// Removes the bytes of failed uploads and of forgotten assets, unless a database knows the
    /// content.
    func discard(_ hashes: [ContentHash]) async throws(ServerError) {
        guard !hashes.isEmpty else { return }
        try await assets.remove(hashes, unless: known)
    }

    /// Recovers after a start. Call it once. It also removes contents whose uploads were
    /// interrupted by a crash before a row knew them.
    package func recover() async throws(ServerError) {
        try await assets.endRemovals(unless: known)
        var last: ContentHash?
        while true {
            let contents = try await assets.list(after: last, limit: 1_000)
            guard let end = contents.last else { return }
            last = end
            try await assets.remove(contents, unless: known)
        }
    }

    /// Runs one round. It may run beside uploads of the same content and beside other server
    /// processes.
    package func sweep(now: Timestamp) async throws(ServerError) {
        let limit = now.nanoseconds / 1_000_000 - Int64(receiptSeconds) * 1000
        while true {
            let removed = try await storage.write { transaction throws(ServerError) in
                let assets = try transaction.unreferencedAssets(before: limit, limit: Self.batch)
                try transaction.deleteAssets(assets)
                return assets.map(\.sha256)
            }
            try await assets.remove(Array(Set(removed)), unless: known)
            guard removed.count == Self.batch else { break }
        }
        try await assets.endRemovals(unless: known)
    }

    /// Returns those of some contents that any database of the server knows.
    @Sendable private func known(
        _ hashes: [ContentHash]
    ) async throws(ServerError) -> Set<ContentHash> {
        guard !hashes.isEmpty else { return [] }
        return try await storage.read { reader throws(ServerError) in
            var known: Set<ContentHash> = []
            for hash in hashes where try reader.isContentKnown(hash) { known.insert(hash) }
            return known
        }
    }
}
