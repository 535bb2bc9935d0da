package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Adds one row for an accepted change of values and returns its token. Its stamp is later than
    /// every known stamp of the record, even if the clock was set back by more than the limit for
    /// the stamps of others.
    ///
    /// - Parameter gesture: that of the transaction when nil.
    package func addHistory(
        _ kind: ChangeKind, _ record: RecordID, _ name: RecordName, _ generation: Int64,
        _ place: TypePlace, fields: [FieldName], text: [UInt8], hasAssets: Bool,
        gesture: GestureID? = nil
    ) throws(RecordError) -> Int64 {
        let gesture =
            if let gesture { gesture } else { try transaction.gesture() }
        var stamp = try transaction.merging.stampOfChange()
        if transaction.author != .sync, place.zone.database.isSynced,
            generation > 1 || kind != .created
        {
            // The server may have given a field its present value once more: no version says so.
            let heard = try transaction.merging.heardStamps(of: name, place.zone.id).latest
            stamp = max(stamp, min(heard, .max - 1) + 1)
        }
        try transaction.connection.run(
            """
            INSERT INTO history
                (at, author, kind, zone_id, name, type, record_id, generation, fields, text,
                checksum, program, batch, gesture, stamp)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?14, ?15, ?16,
                max(?12, CASE WHEN ?8 <= 1 AND ?3 = 'created' THEN 0 ELSE
                    coalesce((SELECT min(stamp, ?13) + 1 FROM history
                        WHERE zone_id = ?4 AND name = ?5 ORDER BY token DESC LIMIT 1), 0) END))
            """,
            [
                .time(transaction.now), .text(transaction.author.rawValue), .text(kind.rawValue),
                .integer(place.zone.id.rawValue), .name(name), .name(place.name),
                .integer(record.rawValue), .integer(generation),
                .blob(FieldNameList.encode(fields)), .blob(text), .checksum(text),
                .integer(stamp), .integer(.max - 1),
                .optional((transaction.program ?? transaction.origin?.program)?.text),
                .optional(transaction.firstToken), .optional(gesture?.rawValue),
            ])
        let token = transaction.connection.lastInsertedRow
        if transaction.firstToken == nil { transaction.firstToken = token }
        if hasAssets { try keepAssets(of: record, holder: .history, token) }
        return token
    }

    /// The kinds of rows, other than records, that refer to an asset file. The raw value is stored;
    /// never renumber.
    package enum Holder: Int64 {
        case history = 0
        case trash = 1
    }

    func keepAssets(
        of record: RecordID, holder: Holder, _ id: Int64
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO kept_asset (holder, holder_id, field, idx, hash, size, ext, downloaded)
            SELECT ?, ?, field, idx, hash, size, ext, downloaded FROM asset
            WHERE record_id = ? AND hash IS NOT NULL
            """, [.integer(holder.rawValue), .integer(id), .integer(record.rawValue)])
    }

    /// Does the same for bytes that no record here has.
    package func keep(_ asset: KeptAsset, holder: Holder, _ id: Int64) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO kept_asset (holder, holder_id, field, idx, hash, size, ext, downloaded)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(holder.rawValue), .integer(id), .name(asset.field),
                .integer(asset.index), .text(asset.hash.hex), .integer(asset.size),
                .blob(asset.fileExtension),
                .bool(try transaction.connection.referredSize(asset.hash) != nil),
            ])
    }

    func keptAssets(_ holder: Holder, _ id: Int64) throws(RecordError) -> [KeptAsset] {
        try transaction.connection.all(
            """
            SELECT field, idx, hash, size, ext FROM kept_asset
            WHERE holder = ? AND holder_id = ?
            """, [.integer(holder.rawValue), .integer(id)]
        ) { row in
            KeptAsset(
                field: FieldName(bytes: row.bytes(0)), index: row.int64(1),
                hash: ContentHash(hex: row.string(2)), size: row.int64(3),
                fileExtension: row.bytes(4))
        }
    }
}

extension KeptAsset {
    /// Returns the assets of a record, as far as it has their hashes.
    package static func all(in fields: [RecordField]) -> [KeptAsset] {
        func asset(_ field: FieldName, _ index: Int64, _ value: FieldValue) -> KeptAsset? {
            guard case .asset(let asset) = value, let hash = asset.sha256 else { return nil }
            return KeptAsset(
                field: field, index: index, hash: hash, size: asset.size ?? 0,
                fileExtension: asset.fileExtension)
        }
        return fields.flatMap { field in
            if case .list(let elements) = field.value {
                elements.enumerated().compactMap { asset(field.name, Int64($0), $1) }
            } else {
                [asset(field.name, -1, field.value)].compactMap(\.self)
            }
        }
    }

    /// Makes the entry of an asset. Returns nil while the bytes of the asset were never downloaded.
    package init?(_ asset: AssetEntry) {
        guard let hash = asset.hash else { return nil }
        self.init(
            field: asset.field, index: Int64(asset.index ?? -1), hash: hash, size: asset.size,
            fileExtension: asset.fileExtension)
    }
}

/// An asset file that a version or a trash entry refers to.
package struct KeptAsset {
    package let field: FieldName
    /// The place in the list. -1 for a field that is no list.
    package let index: Int64
    package let hash: ContentHash
    package let size: Int64
    package let fileExtension: [UInt8]

    package init(
        field: FieldName, index: Int64, hash: ContentHash, size: Int64, fileExtension: [UInt8]
    ) {
        (self.field, self.index, self.hash) = (field, index, hash)
        (self.size, self.fileExtension) = (size, fileExtension)
    }
}
