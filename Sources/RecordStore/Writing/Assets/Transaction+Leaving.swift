package import RecordModel
import RecordSQL

/// Large fields whose files were moved to names of this machine.
extension Transaction {
    /// The file has another name, on this machine alone. Its own name is free at once; the field leaves
    /// the record when the grace is over, unless a file has come under the name.
    /// Errors: notFound, accessDenied.
    package func beginLeaving(_ asset: AssetEntry) throws(RecordError) {
        let owner = try requireRecord(asset.record)
        _ = try writablePlace(of: owner)
        // No text names it, and nobody else has heard of it.
        guard owner.state != .draftOnly else {
            return try removeAsset(asset.record, asset.field, asset.index)
        }
        try connection.run(
            "UPDATE asset SET leaving = ?2 WHERE id = ?1",
            [.integer(asset.id.rawValue), .time(now)])
        assetNames.directories.insert(asset.type)
        guard owner.state != .waitingDelete else { return }
        try touch(owner.entry.type)
        note(
            .asset, zone: owner.zone, type: owner.entry.type, record: owner.id,
            stem: owner.entry.stem, asset: asset.id)
    }

    /// The file stays: bytes have come under its name, or it may not leave.
    func stopLeaving(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) {
        try connection.run(
            """
            UPDATE asset SET leaving = NULL
            WHERE record_id = ? AND field = ? AND idx = ? AND leaving IS NOT NULL
            """,
            [.integer(record.rawValue), .name(field), .integer(Int64(index ?? -1))])
    }

    package func keepLeaving(_ asset: AssetEntry) throws(RecordError) {
        try stopLeaving(asset.record, asset.field, asset.index)
    }

    /// Nothing of what has left the record goes along with it.
    package func finishLeaving(of record: RecordID) throws(RecordError) {
        // From the last element of a list on: the places of those before stay what they are.
        for asset in try connection.assets(of: record).reversed() where asset.isLeaving {
            try removeAsset(record, asset.field, asset.index)
        }
    }
}
