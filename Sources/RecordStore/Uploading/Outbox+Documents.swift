package import RecordModel
import RecordSQL

/// Texts with the bytes that they name, even where they name a file and no hash.
extension Outbox {
    /// Parses a text of a record whose assets are those of its rows.
    package func document(
        _ text: [UInt8], of record: RecordID, _ place: TypePlace
    ) throws(RecordError) -> RecordDocument {
        var rows: [AssetEntry]?
        return try transaction.records.parse(text, place).completed {
            (field, index) throws(RecordError) in
            if rows == nil { rows = try transaction.connection.records.assets(of: record) }
            let asset = rows?.first { $0.field == field && $0.index == index }
            return asset.flatMap { asset in asset.hash.map { ($0, asset.size) } }
        }
    }

    /// Parses the text of a version.
    package func document(
        _ text: [UInt8], ofVersion token: Int64, _ type: RecordTypeName
    ) throws(RecordError) -> RecordDocument {
        var kept: [KeptAsset]?
        return try transaction.records.parse(text, of: type).completed {
            (field, index) throws(RecordError) in
            if kept == nil { kept = try transaction.records.keptAssets(.history, token) }
            return kept?.first { $0.field == field && $0.index == index.map(Int64.init) ?? -1 }
                .map { ($0.hash, $0.size) }
        }
    }

    /// Returns the state of a record that the server has acknowledged. Returns nil where there is
    /// none, or its text is damaged.
    package func acknowledgedDocument(
        of record: RecordID, _ type: RecordTypeName
    ) throws(RecordError) -> RecordDocument? {
        guard let base = try transaction.connection.sync.base(of: record) else { return nil }
        return try document(of: base, type)
    }

    /// Parses the text that the server has acknowledged. Returns nil where its text is damaged.
    package func document(
        of base: AcknowledgedState, _ type: RecordTypeName
    ) throws(RecordError) -> RecordDocument? {
        guard let text = base.text else { return nil }
        if let version = base.version { return try document(text, ofVersion: version, type) }
        return try transaction.records.parse(text, of: type)
    }
}
