import RecordModel
import RecordSQL

/// A large field that a record's text has: a row of `asset`.
struct ExpectedAsset {
    let field: FieldName
    /// -1 for a field that is no list.
    let index: Int64
    /// Nil for a long string or bytes value, whose bytes are in the text.
    let value: AssetValue?
    let size: Int64

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

/// A row of `asset`, as attaching compares it.
private struct AssetRow {
    let field: FieldName
    let index: Int64
    let hash: String?
    let size: Int64

    var content: ContentHash? { hash.map { ContentHash(hex: $0) } }
}

private struct AssetPlace: Hashable {
    let field: FieldName
    let index: Int64
}

private struct FoundContent {
    let hash: ContentHash
    let size: Int64
    /// Whether these are the bytes that the text speaks of, as far as it says.
    let isClaimed: Bool
}

/// Where the bytes of a record's assets may come from.
private struct AssetSources {
    /// The rows that the record has.
    let rows: [AssetPlace: AssetRow]
    /// What the text said that these rows are of.
    let old: [ExpectedAsset]
    /// From a version, the trash, a renamed record, or a file that was just written.
    let known: [KeptAsset]

    func given(_ key: AssetPlace) -> KeptAsset? {
        known.first { $0.field == key.field && $0.index == key.index }
    }

    func size(of hash: ContentHash) -> Int64? {
        rows.values.first { $0.hash == hash.hex }?.size
    }

    /// The row of the element of that file name, which need not be at its old place.
    func row(named name: Text, _ key: AssetPlace) -> AssetRow? {
        let named = old.filter { $0.field == key.field && $0.value?.fileName == name }
        let element = named.first { $0.index == key.index } ?? named.first
        return element.flatMap { rows[AssetPlace(field: $0.field, index: $0.index)] }
    }
}

extension Transaction {
    /// Makes the rows of `asset` what the text names, with the bytes of `AssetSources`; where it
    /// finds none they are still to come.
    ///
    /// - Parameter old: the document whose assets the rows are.
    func attachAssets(
        of document: RecordDocument, replacing old: RecordDocument?, to record: RecordID,
        _ place: TypePlace, hadAssets: Bool, known: [KeptAsset]
    ) throws(RecordError) -> (any: Bool, anyMissing: Bool) {
        let expected = ExpectedAsset.all(in: document, limits: store.options.limits)
        guard hadAssets || !expected.isEmpty else { return (false, false) }
        var rows: [AssetPlace: AssetRow] = [:]
        for row in try assetRows(of: record) {
            rows[AssetPlace(field: row.field, index: row.index)] = row
        }
        let old = old.map { ExpectedAsset.all(in: $0, limits: store.options.limits) } ?? []
        let sources = AssetSources(rows: rows, old: old, known: known)
        var anyMissing = false
        for asset in expected {
            let key = AssetPlace(field: asset.field, index: asset.index)
            rows[key] = nil
            guard let value = asset.value else {
                try putAsset(record, place, key, kind: .value, nil, size: asset.size, ext: [])
                continue
            }
            let found = try content(of: value, key, record, place, sources)
            if !(found?.isClaimed ?? false) { anyMissing = true }
            try putAsset(
                record, place, key, kind: .file, found?.hash,
                size: found?.size ?? value.size ?? 0, ext: value.fileExtension)
        }
        for key in rows.keys { try removeAssetRow(record, key.field, key.index) }
        try connection.run(
            "UPDATE record SET flags = (flags & ~2) | ?2 WHERE id = ?1",
            [
                .integer(record.rawValue),
                .integer(expected.isEmpty ? 0 : RecordFlags.assets),
            ])
        return (!expected.isEmpty, anyMissing)
    }

    private func assetRows(of record: RecordID) throws(RecordError) -> [AssetRow] {
        try connection.all(
            "SELECT field, idx, hash, size FROM asset WHERE record_id = ?",
            [.integer(record.rawValue)]
        ) { row in
            AssetRow(
                field: FieldName(bytes: row.bytes(0)), index: row.int64(1),
                hash: row.isNull(2) ? nil : row.string(2), size: row.int64(3))
        }
    }

    private func putAsset(
        _ record: RecordID, _ place: TypePlace, _ key: AssetPlace, kind: AssetEntry.Kind,
        _ hash: ContentHash?, size: Int64, ext: [UInt8]
    ) throws(RecordError) {
        let isHere =
            kind == .value || hash.flatMap { AssetFiles(places: store.places).size(of: $0) } != nil
        try connection.run(
            """
            INSERT INTO asset (record_id, type_id, field, idx, kind, hash, size, ext, downloaded,
                modified)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT DO UPDATE SET kind = ?5, hash = ?6, size = ?7, ext = ?8, downloaded = ?9,
                modified = CASE WHEN hash IS ?6 AND size = ?7 THEN modified ELSE ?10 END
            """,
            [
                .integer(record.rawValue), .integer(place.type.rawValue), .name(key.field),
                .integer(key.index), .integer(kind.rawValue), .optional(hash?.hex),
                .integer(size), .blob(ext), .bool(isHere), .time(now),
            ])
    }

    func removeAssetRow(
        _ record: RecordID, _ field: FieldName, _ index: Int64
    ) throws(RecordError) {
        try connection.run(
            "DELETE FROM asset WHERE record_id = ? AND field = ? AND idx = ?",
            [.integer(record.rawValue), .name(field), .integer(index)])
    }

    /// The bytes that a text means, in this order: those given with it; those of the hash that it
    /// claims; those of the element that had this file name (an edit may have moved it in its
    /// list); those of another record's asset (`cp a.json b.json` leaves the name of a's); those
    /// that the place has.
    private func content(
        of value: AssetValue, _ key: AssetPlace, _ record: RecordID, _ place: TypePlace,
        _ sources: AssetSources
    ) throws(RecordError) -> FoundContent? {
        if let given = sources.given(key) {
            return FoundContent(hash: given.hash, size: given.size, isClaimed: true)
        }
        if let hash = value.sha256 {
            if let size = AssetFiles(places: store.places).size(of: hash),
                try connection.isReferred(hash)
            {
                return FoundContent(hash: hash, size: size, isClaimed: true)
            }
            if let size = sources.size(of: hash) ?? (author == .sync ? value.size ?? 0 : nil) {
                return FoundContent(hash: hash, size: size, isClaimed: true)
            }
        }
        // What else is found keeps a file where one was, but it is not what the text claims.
        let isClaimed = value.sha256 == nil
        if let row = sources.row(named: value.fileName, key), let hash = row.content {
            return FoundContent(hash: hash, size: row.size, isClaimed: isClaimed)
        }
        if case .asset(let stem, let field, let index, _) = value.entryName,
            let other = try connection.stored(place.type, stem), other.id != record,
            let asset = try connection.asset(other.id, field, index), let hash = asset.hash
        {
            return FoundContent(hash: hash, size: asset.size, isClaimed: isClaimed)
        }
        guard let row = sources.rows[key], let hash = row.content else { return nil }
        return FoundContent(hash: hash, size: row.size, isClaimed: isClaimed)
    }

    /// The hash of each file of the record before a change.
    func assetHashes(_ record: StoredRecord) throws(RecordError) -> [FieldName: [String?]] {
        guard record.entry.hasAssets else { return [:] }
        return try hashes(of: record.id)
    }

    /// The fields whose bytes are others than before, whatever the text says.
    func changedHashes(
        _ record: RecordID, since before: [FieldName: [String?]], _ hasAssets: Bool
    ) throws(RecordError) -> [FieldName] {
        guard hasAssets else { return [] }
        let after = try hashes(of: record)
        return after.filter { $0.value != before[$0.key] }.map(\.key).sorted()
    }

    private func hashes(of record: RecordID) throws(RecordError) -> [FieldName: [String?]] {
        var hashes: [FieldName: [String?]] = [:]
        let rows = try connection.all(
            "SELECT field, hash FROM asset WHERE record_id = ? AND kind = 0 ORDER BY field, idx",
            [.integer(record.rawValue)]
        ) { (FieldName(bytes: $0.bytes(0)), $0.isNull(1) ? nil : $0.string(1)) }
        for (field, hash) in rows { hashes[field, default: []].append(hash) }
        return hashes
    }
}

extension AssetValue {
    /// Of the name in the text, without its dot.
    var fileExtension: [UInt8] {
        guard case .asset(_, _, _, let fileExtension) = entryName else { return [] }
        return fileExtension
    }
}
