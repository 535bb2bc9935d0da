import RecordModel
import RecordWire
import Synchronization

/// The server's receipts for uploaded bytes, kept until the record that contains the bytes is saved
/// on the server. When the answer to that save is lost, the bytes need not be sent again.
final class AssetReceipts: Sendable {
    /// Much shorter than the time for which a server accepts its receipts.
    private static let life = Duration.seconds(600)

    private struct Key: Hashable {
        let zone: ZoneID
        let record: RecordName
        let field: FieldName
        let hash: ContentHash
    }

    private struct Receipt {
        let asset: WireAsset
        let since: ContinuousClock.Instant
    }

    private let all = Mutex<[Key: Receipt]>([:])

    func find(_ asset: OutgoingAsset, _ zone: ZoneID) -> WireAsset? {
        all.withLock { all in
            guard let receipt = all[Self.key(asset, zone)] else { return nil }
            return receipt.since.duration(to: .now) < Self.life ? receipt.asset : nil
        }
    }

    func keep(_ wire: WireAsset, of asset: OutgoingAsset, _ zone: ZoneID) {
        all.withLock { all in
            let now = ContinuousClock.now
            all = all.filter { $0.value.since.duration(to: now) < Self.life }
            all[Self.key(asset, zone)] = Receipt(asset: wire, since: now)
        }
    }

    func forget(_ record: RecordName, _ zone: ZoneID) {
        all.withLock { all in
            guard !all.isEmpty else { return }
            all = all.filter { $0.key.record != record || $0.key.zone != zone }
        }
    }

    private static func key(_ asset: OutgoingAsset, _ zone: ZoneID) -> Key {
        Key(zone: zone, record: asset.place.record, field: asset.place.field, hash: asset.hash)
    }
}
