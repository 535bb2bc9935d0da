import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// An asset of a change that is to be sent.
struct OutgoingAsset: Sendable {
    struct Place: Hashable, Sendable {
        let record: RecordName
        let field: FieldName
        /// The index in a list.
        let index: Int?
    }

    let place: Place
    let type: RecordTypeName
    let hash: ContentHash
    /// The size in bytes.
    let size: Int64
    let fileExtension: Text?
    /// Indicates whether the field on the server already has this asset. Then its checksum is
    /// enough.
    let isThere: Bool
    /// The bytes of a long value, which has no file here.
    var content: [UInt8]?

    /// The value to put into the record. For bytes that were uploaded, the server's answer replaces
    /// it.
    var wire: WireAsset { complete(WireAsset(hash, size: size)) }

    func complete(_ asset: WireAsset) -> WireAsset {
        var asset = asset
        asset.sha256 = nil
        asset.downloadURL = nil
        asset.fileExtension = fileExtension
        return asset
    }
}

extension OutboxClaim {
    /// Returns the assets in the fields that are sent.
    ///
    /// Errors: unavailable for bytes that never arrived.
    func assets(_ store: RecordStore) throws(RecordError) -> [OutgoingAsset] {
        var assets = longValues(store)
        guard let document, document.fields.contains(where: { !$0.value.assets.isEmpty }) else {
            return assets
        }
        let entries = try store.assets.assets(of: row.record)
        for name in changedFields {
            let known = baseDocument?[name]?.assets ?? []
            for (index, value) in document[name]?.assets ?? [] {
                let entry = entries.first { $0.field == name && $0.index == index }
                // The entry may be of a later save.
                guard let hash = value.sha256 ?? entry?.hash else {
                    throw RecordError(
                        .unavailable, "The bytes of \(value.fileName) were never stored here.")
                }
                let size = entry?.hash == hash ? entry?.size : store.assets.sizeOfAsset(hash)
                assets.append(
                    OutgoingAsset(
                        place: OutgoingAsset.Place(
                            record: row.name, field: name, index: index),
                        type: store.model.serverType(of: row.type), hash: hash,
                        size: size ?? value.size ?? 0,
                        fileExtension: value.sentExtension,
                        isThere: known.contains { $0.asset.sha256 == hash }))
            }
        }
        return assets
    }
}

extension OutboxClaim {
    private func longValues(_ store: RecordStore) -> [OutgoingAsset] {
        twins(hasExtensions: false).compactMap { twin, value in
            guard let bytes = value?.longBytes else { return nil }
            var asset = OutgoingAsset(
                place: OutgoingAsset.Place(record: row.name, field: twin, index: nil),
                type: store.model.serverType(of: row.type), hash: SHA256.hash(bytes),
                size: Int64(bytes.count),
                fileExtension: nil, isThere: false)
            asset.content = bytes
            return asset
        }
    }
}

extension FieldValue {
    /// The assets of the value, with their indexes in a list.
    fileprivate var assets: [(index: Int?, asset: AssetValue)] {
        switch self {
        case .asset(let value): [(nil, value)]
        case .list(let elements):
            elements.enumerated().compactMap { index, element in
                if case .asset(let value) = element { (index, value) } else { nil }
            }
        default: []
        }
    }
}

extension AssetValue {
    /// The extension to send. Nil when there is none. An extension that the server would refuse is
    /// sent in the form that a file name shows.
    fileprivate var sentExtension: Text? {
        let bytes = FileExtension.shown(fileExtension)
        return bytes.isEmpty ? nil : Text(utf8: bytes)
    }
}
