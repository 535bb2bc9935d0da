package import RecordModel
package import RecordStore
import Synchronization

/// Brings the bytes of assets that are not on this machine.
package protocol AssetFetcher: Sendable {
    /// Brings a range of an asset. Calls back once, from any thread: with the bytes, or with what
    /// hinders it. Never blocks the caller.
    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void)
}

/// Without a server there is nowhere to fetch from.
package struct NoAssetFetcher: AssetFetcher {
    package init() {}
    package func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        answer(
            .failure(
                RecordError(
                    .unavailable,
                    "the bytes of \(asset.stem)@\(asset.field) are not on this machine, and no "
                        + "server is set up to fetch them from")))
    }
}

extension Tree {
    /// The answer to a read of bytes that are not here: without holding a worker.
    func fetch(_ open: OpenAsset, offset: Int64, count: Int) -> ReadResult {
        .deferred { [self] answer in
            let key = open.key
            do throws(RecordError) {
                guard let entry = try store.asset(key.record, key.field, key.index) else {
                    throw RecordError(.stale, "the asset is gone")
                }
                if entry.isDownloaded, let file = try storedContent(of: entry) {
                    open.state.withLock { if $0.file == nil { $0.file = file } }
                    answer(.success(.file(file, offset: offset, count: count)))
                    return
                }
                options.fetcher.fetch(entry, offset: offset, count: count) { [events] result in
                    if case .failure(let error) = result {
                        events.note(failure: error, of: "\(entry.stem)@\(entry.field)")
                    }
                    answer(result.map(ReadResult.bytes))
                }
            } catch {
                answer(.failure(error))
            }
        }
    }
}
