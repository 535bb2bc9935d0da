import RecordModel
import RecordSQL

/// A large field that a record's text has: a row of `asset`.
struct ExpectedAsset {
    let field: FieldName
    /// The place in the list. -1 for a field that is no list.
    let index: Int64
    /// The value in the text. Nil for a long string or bytes value, whose bytes are in the text.
    let value: AssetValue?
    let size: Int64

    var place: AssetPosition { AssetPosition(field: field, index: index) }

    static func all(in document: RecordDocument, limits: RecordLimits) -> [ExpectedAsset] {
        document.fields.flatMap { field -> [ExpectedAsset] in
            switch field.value {
            case .asset(let value):
                return [ExpectedAsset(field: field.name, index: -1, value: value, size: 0)]
            case .list(let values):
                return values.enumerated().compactMap { index, value in
                    guard case .asset(let asset) = value else { return nil }
                    return ExpectedAsset(
                        field: field.name, index: Int64(index), value: asset, size: 0)
                }
            case .string(let text) where text.utf8.count > limits.shownValueBytes:
                return [long(field.name, text.utf8.count)]
            case .bytes(let bytes) where bytes.count > limits.shownValueBytes:
                return [long(field.name, bytes.count)]
            default: return []
            }
        }
    }

    private static func long(_ field: FieldName, _ size: Int) -> ExpectedAsset {
        ExpectedAsset(field: field, index: -1, value: nil, size: Int64(size))
    }
}

/// The place of an asset in a record; the index is -1 for a field that is no list.
struct AssetPosition: Hashable {
    let field: FieldName
    let index: Int64

    init(field: FieldName, index: Int64) {
        self.field = field
        self.index = index
    }

    init(_ asset: AssetEntry) {
        self.init(field: asset.field, index: Int64(asset.index ?? -1))
    }
}

private struct FoundContent {
    let hash: ContentHash
    let size: Int64
    /// Indicates whether these are the bytes that the text names, as far as it says.
    let isClaimed: Bool
}

/// The places that the bytes of a record's assets may come from.
private struct AssetSources {
    /// The rows that the record has.
    let rows: [AssetPosition: AssetEntry]
    /// The assets that the text named for these rows.
    let old: [ExpectedAsset]
    /// The files from a version, the trash, a renamed record, or a file that was just written.
    let known: [KeptAsset]

    func given(_ key: AssetPosition) -> KeptAsset? {
        known.first { $0.field == key.field && $0.index == key.index }
    }

    func size(of hash: ContentHash) -> Int64? {
        rows.values.first { $0.hash == hash }?.size
    }

    /// Returns the row of the element with that file name, which need not be at its old place.
    func row(named name: Text, _ key: AssetPosition) -> AssetEntry? {
        let named = old.filter { $0.field == key.field && $0.value?.fileName == name }
        let element = named.first { $0.index == key.index } ?? named.first
        return element.flatMap { rows[$0.place] }
    }
}

/// An asset that the text names at one place, with the known facts about its bytes.
private struct WantedAsset {
    let key: AssetPosition
    let kind: AssetEntry.Kind
    let hash: ContentHash?
    let size: Int64
    let fileExtension: [UInt8]
    /// Indicates whether the file at the place, if there is one, stays the same file.
    let keepsPlace: Bool
}

extension AssetWriting {
    /// Makes the rows of `asset` match the assets in the text, with the bytes of `AssetSources`.
    /// Where it finds no bytes, they are still to arrive. A row stays with its bytes: it moves with
    /// them inside its list, and bytes that replace others get a separate row.
    ///
    /// - Parameter old: the document that the rows belong to.
    func attachAssets(
        of document: RecordDocument, replacing old: RecordDocument?, to record: RecordID,
        _ new: RecordWriting.NewState, hadAssets: Bool
    ) throws(RecordError) -> (any: Bool, anyMissing: Bool) {
        let expected = ExpectedAsset.all(in: document, limits: transaction.store.options.limits)
        guard hadAssets || !expected.isEmpty else { return (false, false) }
        var rows: [AssetPosition: AssetEntry] = [:]
        for row in try transaction.connection.records.assets(of: record) {
            rows[AssetPosition(row)] = row
        }
        let sources = AssetSources(
            rows: rows,
            old: old.map { ExpectedAsset.all(in: $0, limits: transaction.store.options.limits) }
                ?? [],
            known: new.knownAssets)
        var anyMissing = false
        var wanted: [WantedAsset] = []
        for asset in expected {
            let key = asset.place
            let found = try asset.value.flatMap { (value) throws(RecordError) in
                new.withheld.contains(key)
                    ? nil : try content(of: value, key, record, new.place, sources)
            }
            if asset.value != nil, found?.isClaimed != true { anyMissing = true }
            let isSame =
                asset.value == nil
                ? rows[key]?.kind == .value && old?[asset.field] == document[asset.field]
                : rows[key]?.kind == .file && (rows[key]?.hash ?? found?.hash) == found?.hash
            wanted.append(
                WantedAsset(
                    key: key, kind: asset.value == nil ? .value : .file, hash: found?.hash,
                    size: found?.size ?? asset.value?.size ?? asset.size,
                    fileExtension: asset.value?.fileExtension ?? [],
                    keepsPlace: isSame || new.written == key))
        }
        try place(wanted, rows, record, new.place.type)
        try transaction.connection.run(
            "UPDATE record SET flags = (flags & ~2) | ?2 WHERE id = ?1",
            [
                .integer(record.rawValue),
                .integer(expected.isEmpty ? 0 : RecordFlags.assets),
            ])
        return (!expected.isEmpty, anyMissing)
    }

    /// Gives each wanted asset the row that has its bytes, or a new one.
    private func place(
        _ wanted: [WantedAsset], _ rows: [AssetPosition: AssetEntry], _ record: RecordID,
        _ type: TypeID
    ) throws(RecordError) {
        var left = rows
        var given: [AssetPosition: AssetEntry] = [:]
        for asset in wanted where asset.keepsPlace {
            given[asset.key] = left.removeValue(forKey: asset.key)
        }
        for asset in wanted where given[asset.key] == nil && asset.hash != nil {
            let moved = left.filter {
                $0.key.field == asset.key.field && $0.value.hash == asset.hash
            }.min { $0.key.index < $1.key.index }
            given[asset.key] = moved.flatMap { left.removeValue(forKey: $0.key) }
        }
        for asset in left.values.sorted(by: { $0.id < $1.id }) { try removeAssetRow(asset) }
        for (key, asset) in given.sorted(by: { $0.value.id < $1.value.id })
        where AssetPosition(asset) != key {
            noteFormer(asset, isGone: false)
            // Moved out of the way of the other rows that move; no place is below -1.
            try transaction.connection.run(
                "UPDATE asset SET idx = -2 - idx WHERE id = ?", [.integer(asset.id.rawValue)])
        }
        for asset in wanted {
            if let row = given[asset.key] {
                try update(row, to: asset, of: type)
            } else {
                try insert(asset, record, type)
            }
        }
    }

    private func isHere(_ asset: WantedAsset) -> Bool {
        asset.kind == .value
            || asset.hash.flatMap { AssetFiles(places: transaction.store.places).size(of: $0) }
                == asset.size
    }

    private func insert(
        _ asset: WantedAsset, _ record: RecordID, _ type: TypeID
    ) throws(RecordError) {
        transaction.assetNames.directories.insert(type)
        try transaction.connection.run(
            """
            INSERT INTO asset (record_id, type_id, field, idx, kind, hash, size, ext, downloaded,
                modified)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            """,
            [
                .integer(record.rawValue), .integer(type.rawValue), .name(asset.key.field),
                .integer(asset.key.index), .integer(asset.kind.rawValue),
                .optional(asset.hash?.hex), .integer(asset.size), .blob(asset.fileExtension),
                .bool(isHere(asset)), .time(transaction.now),
            ])
    }

    private func update(
        _ row: AssetEntry, to asset: WantedAsset, of type: TypeID
    ) throws(RecordError) {
        if row.hash != nil, row.fileExtension != asset.fileExtension {
            noteFormer(row, isGone: false)
        }
        if row.hash == nil { transaction.assetNames.directories.insert(type) }
        try transaction.connection.run(
            """
            UPDATE asset SET idx = ?2, kind = ?3, hash = ?4, size = ?5, ext = ?6, downloaded = ?7,
                modified = CASE WHEN hash IS ?4 AND size = ?5 THEN modified ELSE ?8 END
            WHERE id = ?1
            """,
            [
                .integer(row.id.rawValue), .integer(asset.key.index),
                .integer(asset.kind.rawValue), .optional(asset.hash?.hex), .integer(asset.size),
                .blob(asset.fileExtension), .bool(isHere(asset)), .time(transaction.now),
            ])
    }

    /// Finds the bytes that a text means, in this order: those given with it; those of the hash
    /// that it claims; those of the element that had this file name (an edit may have moved it in
    /// its list); those of another record's asset (`cp a.json b.json` leaves the name of a's);
    /// those that the place has.
    private func content(
        of value: AssetValue, _ key: AssetPosition, _ record: RecordID, _ place: TypePlace,
        _ sources: AssetSources
    ) throws(RecordError) -> FoundContent? {
        if let given = sources.given(key) {
            return FoundContent(hash: given.hash, size: given.size, isClaimed: true)
        }
        if let hash = value.sha256 {
            // The recorded size is used, because the file may have been changed from outside.
            if let size = try transaction.connection.referredSize(hash),
                AssetFiles(places: transaction.store.places).size(of: hash) == size
            {
                return FoundContent(hash: hash, size: size, isClaimed: true)
            }
            // Bytes that are only on the server are there for other records too.
            if let size = try transaction.connection.sizeElsewhere(hash) {
                return FoundContent(hash: hash, size: size, isClaimed: true)
            }
            if let size = sources.size(of: hash)
                ?? (transaction.author == .sync ? value.size ?? 0 : nil)
            {
                return FoundContent(hash: hash, size: size, isClaimed: true)
            }
        }
        // Other bytes that are found keep a file where one was, but they are not the bytes that the
        // text claims.
        let isClaimed = value.sha256 == nil
        if let row = sources.row(named: value.fileName, key), let hash = row.hash {
            return FoundContent(hash: hash, size: row.size, isClaimed: isClaimed)
        }
        if case .asset(let stem, let field, let index, _) = value.entryName,
            let other = try transaction.connection.records.stored(place.type, stem),
            other.id != record,
            let asset = try transaction.connection.records.asset(other.id, field, index),
            let hash = asset.hash
        {
            return FoundContent(hash: hash, size: asset.size, isClaimed: isClaimed)
        }
        guard let row = sources.rows[key], let hash = row.hash else { return nil }
        return FoundContent(hash: hash, size: row.size, isClaimed: isClaimed)
    }

    /// Returns the hash of each file of the record before a change.
    func assetHashes(_ record: StoredRow) throws(RecordError) -> [FieldName: [String?]] {
        guard record.entry.hasAssets else { return [:] }
        return try hashes(of: record.id)
    }

    /// Returns the fields whose bytes differ from before, whatever the text says.
    func changedHashes(
        _ record: RecordID, since before: [FieldName: [String?]], _ hasAssets: Bool
    ) throws(RecordError) -> [FieldName] {
        guard hasAssets else { return [] }
        let after = try hashes(of: record)
        return after.filter { $0.value != before[$0.key] }.map(\.key).sorted()
    }

    private func hashes(of record: RecordID) throws(RecordError) -> [FieldName: [String?]] {
        var hashes: [FieldName: [String?]] = [:]
        let rows = try transaction.connection.all(
            "SELECT field, hash FROM asset WHERE record_id = ? AND kind = 0 ORDER BY field, idx",
            [.integer(record.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), $0.isNull(1) ? nil : $0.string(1)) }
        for (field, hash) in rows { hashes[field, default: []].append(hash) }
        return hashes
    }
}
