package import RecordModel
import RecordSQL

extension AssetWriting {
    /// Returns the record that an asset with that name belongs to. An asset may arrive before its
    /// record (`cp -r` copies in any order). The name of the record then stays free until its text
    /// arrives.
    ///
    /// A record that waits for its deletion is deleted for good: it must not come back because of a
    /// file beside its name. The record that takes the name then has that file.
    ///
    /// - Parameter file: the asset's name.
    ///
    /// Errors: notFound for the type; accessDenied; invalidName.
    package func holder(
        _ type: TypeID, _ stem: Stem, file: [UInt8] = []
    ) throws(RecordError) -> RecordID {
        if let record = try transaction.connection.records.stored(type, stem) {
            try transaction.checkWritable(record, in: try transaction.place(type))
            guard record.state == .waitingDelete else { return record.id }
            try transaction.records.finalizeDelete(record.id)
            // The record that is shown under the name from now on has the file.
            if let next = try transaction.connection.records.stored(type, stem) { return next.id }
        }
        try transaction.connection.records.checkNameable(stem, try transaction.place(type))
        return try transaction.records.saveDraft(
            text: [], type: type, stem: stem, error: .missingRecord(stem, file: file),
            isAwaited: true
        ).id
    }

    /// Returns the record for an asset whose record is known, as for an asset's name.
    func holder(for record: RecordID) throws(RecordError) -> StoredRow {
        let owner = try transaction.records.requireRecord(record)
        guard owner.state == .waitingDelete else { return owner }
        return try transaction.records.requireRecord(try holder(owner.entry.type, owner.entry.stem))
    }

    /// Gives a record back the files that had waited for it, where the server has other files under
    /// their names. Those are in history then, and only this machine has these.
    package func keepHeld(
        _ held: [AssetEntry], of record: RecordID, named name: RecordName
    ) throws(RecordError) {
        var isChanged = false
        let owner = try transaction.records.requireRecord(record)
        let place = try transaction.place(owner.entry.type)
        guard
            try transaction.connection.records.permission(of: record, in: place.zone) == .readWrite
        else {
            return
        }
        for asset in held {
            guard let hash = asset.hash,
                let row = try transaction.connection.records.asset(
                    record, asset.field, asset.index),
                row.kind == .file, row.hash != hash
            else { continue }
            try setAsset(
                record, asset.field, asset.index, hash, size: asset.size,
                fileExtension: asset.fileExtension)
            isChanged = true
        }
        guard isChanged else { return }
        try transaction.outbox.enqueue(
            .update, record, name, owner.generation, place, alsoOfSync: true)
    }
}

extension StoredAssets {
    /// Removes the traces of files whose first writing was ended by a crash, for a store that was
    /// just opened. They have no bytes, and the rows that were made to wait for their records would
    /// prevent the removal of a directory.
    func forgetUnwrittenAssets() throws(RecordError) {
        let awaited = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT d.record_id FROM draft d JOIN record r ON r.id = d.record_id
                    JOIN zone z ON z.id = r.zone_id AND z.permission != 1
                WHERE r.state = 1 AND r.flags & 4 != 0 AND EXISTS (
                    SELECT 1 FROM asset a WHERE a.record_id = r.id AND a.hash IS NULL)
                """, []
            ) { RecordID($0.int64(0)) }
        }
        guard !awaited.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for record in awaited {
                for asset in try transaction.records.assets(of: record) where asset.hash == nil {
                    try transaction.assets.removeAsset(record, asset.field, asset.index)
                }
            }
        }
    }
}
