import RecordModel
import RecordStore
import RecordSync
import RecordTree

extension MountedSync: AssetFetcher {
    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        if let service {
            service.fetch(asset, offset: offset, count: count, answer)
        } else {
            NoAssetFetcher().fetch(asset, offset: offset, count: count, answer)
        }
    }

    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        if let service {
            service.bring(asset, answer)
        } else {
            NoAssetFetcher().bring(asset, answer)
        }
    }
}
