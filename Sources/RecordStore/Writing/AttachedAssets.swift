import RecordModel

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
}

private struct AssetPlace: Hashable {
    let field: FieldName
    let index: Int64
}

extension Transaction {
    /// Makes the rows of `asset` what the text names. The bytes of a name are, in this order:
    /// given here, those that the row has, those of the hash that the text claims, those of the
    /// file that the text names; else they are still to come.
    func attachAssets(
        of document: RecordDocument, to record: RecordID, _ place: TypePlace, hadAssets: Bool,
        known: [KeptAsset]
    ) throws(RecordError) -> (any: Bool, anyMissing: Bool) {
        let expected = ExpectedAsset.all(in: document, limits: store.options.limits)
        guard hadAssets || !expected.isEmpty else { return (false, false) }
        var rows: [AssetPlace: AssetRow] = [:]
        for row in try assetRows(of: record) {
            rows[AssetPlace(field: row.field, index: row.index)] = row
        }
        var anyMissing = false
        for asset in expected {
            let key = AssetPlace(field: asset.field, index: asset.index)
            let row = rows.removeValue(forKey: key)
            let given = known.first { $0.field == asset.field && $0.index == asset.index }
            guard let value = asset.value else {
                try putAsset(record, place, key, kind: .value, nil, size: asset.size, ext: [])
                continue
            }
            let ext = value.fileExtension
            if let given {
                try putAsset(
                    record, place, key, kind: .file, given.hash, size: given.size, ext: ext)
            } else if let hash = row?.hash, let size = row?.size {
                try putAsset(
                    record, place, key, kind: .file, ContentHash(hex: hash), size: size, ext: ext)
            } else {
                let found = try content(of: value, place)
                if found == nil { anyMissing = true }
                try putAsset(
                    record, place, key, kind: .file, found?.hash,
                    size: found?.size ?? value.size ?? 0, ext: ext)
            }
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

    /// The bytes that a text means without having been given them: by hash, when a file of it is
    /// here or it comes from the server, or by the name of another record's asset (`cp a.json
    /// b.json` leaves the name of a's).
    private func content(
        of value: AssetValue, _ place: TypePlace
    ) throws(RecordError) -> (hash: ContentHash, size: Int64)? {
        if let hash = value.sha256 {
            if let size = AssetFiles(places: store.places).size(of: hash),
                try connection.isReferred(hash)
            {
                return (hash, size)
            }
            if author == .sync { return (hash, value.size ?? 0) }
        }
        guard case .asset(let stem, let field, let index, _) = value.entryName,
            let other = try connection.stored(place.type, stem),
            let asset = try connection.asset(other.id, field, index), let hash = asset.hash
        else { return nil }
        return (hash, asset.size)
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
