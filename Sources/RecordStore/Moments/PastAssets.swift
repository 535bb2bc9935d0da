package import RecordModel
import RecordSQL

/// A large field as a version of its record has it.
package struct PastAsset: Sendable {
    package let field: FieldName
    /// The place in a list of assets.
    package let index: Int?
    package let fileExtension: [UInt8]
    /// The size in bytes.
    package let size: Int64
    /// The hash of the bytes. Nil for a long value, whose bytes are in the version's text.
    package let hash: ContentHash?

    /// Returns the name of its file beside a record that is shown with this stem.
    package func fileName(_ stem: Stem) -> [UInt8] {
        EntryName.assetFileName(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
    }
}

extension StoredMoments {
    /// Returns the large fields that a version has, in the order of their names.
    package func assets(ofVersion token: Int64) throws(RecordError) -> [PastAsset] {
        let kept = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT field, idx, hash, size, ext FROM kept_asset
                WHERE holder = ? AND holder_id = ? ORDER BY field, idx
                """, [.integer(RecordWriting.Holder.history.rawValue), .integer(token)]
            ) { row in
                PastAsset(
                    field: FieldName(bytes: row.bytes(0)),
                    index: row.int64(1) < 0 ? nil : Int(row.int64(1)),
                    fileExtension: row.bytes(4), size: row.int64(3),
                    hash: ContentHash(hex: row.string(2)))
            }
        }
        return (kept + (try longValues(ofVersion: token))).sorted { $0.field < $1.field }
    }

    /// Returns the bytes of a long value in a version. Returns nil when there are none any more.
    package func longValue(
        _ field: FieldName, ofVersion token: Int64
    ) throws(RecordError) -> [UInt8]? {
        switch try document(ofVersion: token)?[field] {
        case .string(let text): text.utf8
        case .bytes(let bytes): bytes
        default: nil
        }
    }

    private func longValues(ofVersion token: Int64) throws(RecordError) -> [PastAsset] {
        let limits = store.options.limits
        guard let (version, _) = try store.past.versionEntry(token),
            version.size > limits.shownValueBytes,
            let document = try document(ofVersion: token)
        else { return [] }
        return ExpectedAsset.all(in: document, limits: limits).filter { $0.value == nil }.map {
            PastAsset(
                field: $0.field, index: nil, fileExtension: [], size: $0.size, hash: nil)
        }
    }

    private func document(ofVersion token: Int64) throws(RecordError) -> RecordDocument? {
        guard let row = try store.past.version(token), row.kind != .deleted else { return nil }
        return try RecordDocument(
            parsing: row.text, schema: try store.schema(of: row.type),
            limits: store.options.limits.asReceived)
    }
}
