package import RecordModel
import RecordSQL

/// Refused texts of records that others no longer share. Their writers have these texts nowhere
/// else. The parts that others have written are removed together with the share.
extension SharedContent {
    /// Moves the drafts without a record to the trash, when their zone is removed.
    package func trashDrafts(of zone: ZoneID) throws(RecordError) {
        for record in try draftsOfNoRecord(in: zone) {
            if let draft = try transaction.connection.records.draft(of: record.id),
                !draft.text.isEmpty
            {
                var words = OwnWords(draft.text)
                try forEachForeignText(in: zone, of: nil) { (text) throws(RecordError) in
                    words.remove(text.text, isSame: text.isTaken)
                }
                try trash(words, of: record)
            }
            try removeDraft(record)
        }
    }

    /// Removes the content of a record that is about to be erased from the drafts without a record,
    /// where the zone stays.
    func reduceDrafts(in zone: ZoneID, without name: RecordName) throws(RecordError) {
        // It reads the drafts, of which there are few: most zones have many records.
        let ids = try transaction.connection.all("SELECT record_id FROM draft") {
            RecordID($0.int64(0))
        }
        for id in ids {
            guard let record = try transaction.connection.records.stored(id), record.zone == zone,
                record.name == nil,
                let draft = try transaction.connection.records.draft(of: id), !draft.text.isEmpty
            else { continue }
            var words = OwnWords(draft.text)
            try forEachForeignText(in: zone, of: name) { (text) throws(RecordError) in
                words.remove(text.text, isSame: text.isTaken)
            }
            guard words.hasForeign else { continue }
            try trash(words, of: record)
            try removeDraft(record)
        }
    }

    /// Keeps the text that this user was writing over a record that is removed, without the content
    /// of the record.
    package func keepOwnDraft(of record: StoredRow, named name: RecordName) throws(RecordError) {
        guard record.entry.hasDraft,
            let draft = try transaction.connection.records.draft(of: record.id),
            let saved = try transaction.connection.records.savedText(of: record.id),
            !draft.text.isEmpty
        else { return }
        var words = OwnWords(draft.text)
        words.remove(saved, isSame: true)
        try forEachForeignText(in: record.zone, of: name) { (text) throws(RecordError) in
            words.remove(text.text, isSame: true)
        }
        guard let text = words.text else { return }
        let place = try transaction.place(record.entry.type)
        _ = try addOwnTrash(TrashRow(record, name, place, .mount, isOwn: true), text)
    }

    private func draftsOfNoRecord(in zone: ZoneID) throws(RecordError) -> [StoredRow] {
        try transaction.connection.all(
            "SELECT \(StoredRow.columns) FROM record WHERE zone_id = ? AND name IS NULL",
            [.integer(zone.rawValue)]
        ) { StoredRow($0) }
    }

    private func trash(_ words: OwnWords, of record: StoredRow) throws(RecordError) {
        guard let text = words.text else { return }
        let (place, name) = (
            try transaction.place(record.entry.type), RecordName(bytes: record.entry.stem.bytes)
        )
        _ = try addOwnTrash(TrashRow(record, name, place, .mount, isOwn: true), text)
        _ = try transaction.records.addHistory(
            .deleted, record.id, name, 1, place, fields: [], text: [], hasAssets: false)
    }

    private func removeDraft(_ record: StoredRow) throws(RecordError) {
        try transaction.records.replaceFile(of: record, .removed)
        try transaction.records.removeRows(of: record)
        transaction.note(
            .deleted, zone: record.zone, type: record.entry.type, record: record.id,
            stem: record.entry.stem)
    }
}
