import RecordModel
import RecordStore
import RecordWire

/// An asset of a change that is to be sent.
struct OutgoingAsset: Sendable {
    struct Place: Hashable, Sendable {
        let record: RecordName
        let field: FieldName
        /// In a list.
        let index: Int?
    }

    let place: Place
    let type: RecordTypeName
    let hash: ContentHash
    /// In bytes.
    let size: Int64
    let fileExtension: Text?
    /// Whether the field has it on the server: then its checksum is enough.
    let isThere: Bool
    /// The bytes of a long value, which have no file here.
    var content: [UInt8]?

    /// What goes into the record, but for what the server says of bytes that were brought.
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
    /// The assets in the fields that are sent.
    ///
    /// Errors: unavailable for bytes that never came.
    func assets(_ store: RecordStore) throws(RecordError) -> [OutgoingAsset] {
        var assets = longValues
        guard let document, document.fields.contains(where: { !$0.value.assets.isEmpty }) else {
            return assets
        }
        let entries = try store.assets(of: row.record)
        for name in changedFields {
            let known = baseDocument?[name]?.assets ?? []
            for (index, value) in document[name]?.assets ?? [] {
                let entry = entries.first { $0.field == name && $0.index == index }
                // The entry may be of a later save.
                guard let hash = value.sha256 ?? entry?.hash else {
                    throw RecordError(
                        .unavailable, "The bytes of \(value.fileName) were never stored here.")
                }
                let size = entry?.hash == hash ? entry?.size : store.sizeOfAsset(hash)
                assets.append(
                    OutgoingAsset(
                        place: OutgoingAsset.Place(
                            record: row.name, field: name, index: index),
                        type: row.type, hash: hash, size: size ?? value.size ?? 0,
                        fileExtension: value.sentExtension,
                        isThere: known.contains { $0.asset.sha256 == hash }))
            }
        }
        return assets
    }
}

extension OutboxClaim {
    private var longValues: [OutgoingAsset] {
        twins(hasExtensions: false).compactMap { twin, value in
            guard let bytes = value?.longBytes else { return nil }
            var asset = OutgoingAsset(
                place: OutgoingAsset.Place(record: row.name, field: twin, index: nil),
                type: row.type, hash: SHA256.hash(bytes), size: Int64(bytes.count),
                fileExtension: nil, isThere: false)
            asset.content = bytes
            return asset
        }
    }
}

extension FieldValue {
    /// With their places in a list.
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
    /// Nil for none; one that the server would refuse goes as a name shows it.
    fileprivate var sentExtension: Text? {
        let bytes = FileExtension.shown(fileExtension)
        return bytes.isEmpty ? nil : Text(utf8: bytes)
    }
}
