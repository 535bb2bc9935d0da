package import RecordModel
import RecordSQL

/// Large fields whose files were moved to names that exist only on this machine.
extension AssetWriting {
    /// Notes that the file has another name, on this machine only. Its own name is free at once.
    /// The field leaves the record when the grace time is over, unless a file has got the name by
    /// then. Errors: notFound, accessDenied.
    package func beginLeaving(_ asset: AssetEntry) throws(RecordError) {
        let owner = try transaction.records.requireRecord(asset.record)
        _ = try transaction.writablePlace(of: owner)
        // No text names it, and no other machine knows it.
        guard owner.state != .draftOnly else {
            return try removeAsset(asset.record, asset.field, asset.index)
        }
        try transaction.connection.run(
            "UPDATE asset SET leaving = ?2 WHERE id = ?1",
            [.integer(asset.id.rawValue), .time(transaction.now)])
        transaction.assetNames.directories.insert(asset.type)
        guard owner.state != .waitingDelete else { return }
        try transaction.touch(owner.entry.type)
        transaction.note(
            .asset, zone: owner.zone, type: owner.entry.type, record: owner.id,
            stem: owner.entry.stem, asset: asset.id)
    }

    /// Keeps the field: bytes have arrived under its name, or it may not leave.
    func stopLeaving(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE asset SET leaving = NULL
            WHERE record_id = ? AND field = ? AND idx = ? AND leaving IS NOT NULL
            """,
            [.integer(record.rawValue), .name(field), .integer(Int64(index ?? -1))])
    }

    package func keepLeaving(_ asset: AssetEntry) throws(RecordError) {
        try stopLeaving(asset.record, asset.field, asset.index)
    }

    /// Removes all fields that are leaving a record, so that they do not move with it.
    package func finishLeaving(of record: RecordID) throws(RecordError) {
        // Starts from the last element of a list, so that the places of the elements before stay
        // the same.
        for asset in try transaction.connection.records.assets(of: record).reversed()
        where asset.isLeaving {
            try removeAsset(record, asset.field, asset.index)
        }
    }
}
