package import RecordModel
package import RecordStore

/// Downloads the bytes of assets that are not on this machine.
package protocol AssetFetcher: Sendable {
    /// Downloads a range of an asset. Calls back once, from any thread, with the bytes or with the
    /// error. Never blocks the caller.
    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void)

    /// Downloads an asset into the store, however long it takes while bytes arrive. Calls back as
    /// `fetch`.
    ///
    /// - Returns: a function that ends the wait. It does nothing after the answer.
    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void
}

/// The fetcher without a server: every download fails.
package struct NoAssetFetcher: AssetFetcher {
    package init() {}
    package func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        answer(.failure(Self.error))
    }

    package func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        answer(.failure(Self.error))
        return {}
    }

    private static let error = RecordError(
        .unavailable, "the bytes are not on this machine, and no server is set up to fetch them")
}
