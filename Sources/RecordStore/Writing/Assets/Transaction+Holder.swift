package import RecordModel
import RecordSQL

extension Transaction {
    /// The record that an asset of that name belongs to. An asset may come before its record (`cp -r`
    /// copies in any order): the name of the record then stays free until its text comes.
    ///
    /// A record that waits for its deletion is deleted for good: it may not come back because of a
    /// file beside its name, and what comes under the name has that file.
    ///
    /// - Parameter file: the asset's name.
    ///
    /// Errors: notFound for the type; accessDenied; invalidName.
    package func holder(
        _ type: TypeID, _ stem: Stem, file: [UInt8] = []
    ) throws(RecordError) -> RecordID {
        if let record = try connection.stored(type, stem) {
            try checkWritable(record, in: try place(type))
            guard record.state == .waitingDelete else { return record.id }
            try finalizeDelete(record.id)
            // What shows under the name from now on has the file.
            if let next = try connection.stored(type, stem) { return next.id }
        }
        try connection.checkNameable(stem, try place(type))
        return try saveDraft(
            text: [], type: type, stem: stem, error: .missingRecord(stem, file: file),
            isAwaited: true
        ).id
    }

    /// As of its name; for an asset of a record that is known.
    func holder(for record: RecordID) throws(RecordError) -> StoredRecord {
        let owner = try requireRecord(record)
        guard owner.state == .waitingDelete else { return owner }
        return try requireRecord(try holder(owner.entry.type, owner.entry.stem))
    }

    /// Gives a record its files back that had waited for it, where the server has others under their
    /// names: those are in history then, and nobody but this machine has these.
    func keepHeld(
        _ held: [AssetEntry], of record: RecordID, named name: RecordName
    ) throws(RecordError) {
        var isChanged = false
        let owner = try requireRecord(record)
        let place = try place(owner.entry.type)
        guard try connection.permission(of: record, in: place.zone) == .readWrite else { return }
        for asset in held {
            guard let hash = asset.hash,
                let row = try connection.asset(record, asset.field, asset.index),
                row.kind == .file, row.hash != hash
            else { continue }
            try setAsset(
                record, asset.field, asset.index, hash, size: asset.size,
                fileExtension: asset.fileExtension)
            isChanged = true
        }
        guard isChanged else { return }
        try enqueue(.update, record, name, owner.generation, place, alsoOfSync: true)
    }
}

extension RecordStore {
    /// For a store that was just opened: files whose first writing a crash has ended have no bytes, and
    /// what was made to wait for their records would keep a directory from being removed.
    func forgetUnwrittenAssets() throws(RecordError) {
        let awaited = try read { connection throws(RecordError) in
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
        try write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for record in awaited {
                for asset in try transaction.assets(of: record) where asset.hash == nil {
                    try transaction.removeAsset(record, asset.field, asset.index)
                }
            }
        }
    }
}
