import RecordModel
import RecordStore

/// Saves texts of open files whose directory was removed by a change from elsewhere.
extension RecordSaving {
    /// Saves a text whose TYPE directory is removed: the edit wins, and the directory is restored.
    /// Directories of others are not restored: the user's text is then in the trash.
    ///
    /// - Parameter error: the error of the failed save. It is thrown for texts that have their
    ///   directory.
    func saveHomeless(_ open: OpenRecord, _ error: RecordError) throws(RecordError) {
        guard let snapshot = open.snapshot(), let home = open.home,
            try store.type(snapshot.type) == nil
        else { throw error }
        if home.zone.database == .shared { try abandon(open, home) }
        // The author is not the mount, because the kernel does not know the directory.
        let entry = try store.write(author: .restore) { transaction throws(RecordError) in
            let type = try transaction.remakeType(home.zone.id, home.type)
            return try transaction.records.save(
                text: snapshot.text, type: type.id, stem: snapshot.stem, id: nil,
                modified: snapshot.modified, effect: .inPlace
            ).entry
        }
        open.setType(entry.type)
        open.noteSaved(snapshot, in: entry.file)
    }

    /// Ends the text of a record that is no longer shared with this user.
    func abandon(_ open: OpenRecord, _ home: TypeDirectory?) throws(RecordError) -> Never {
        var isKept = false
        // Where the text of the others is not known, this user's changes cannot be separated from
        // it.
        if let snapshot = open.snapshot(), let home,
            !snapshot.isInStore || snapshot.base != nil
        {
            isKept = try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.outbox.trashUnsaved(
                    snapshot.text, since: snapshot.isInStore ? snapshot.base : nil,
                    stem: snapshot.stem, type: home.type, in: home.zone.id)
            }
        }
        open.abandon()
        throw .sharedNoLonger(kept: isKept)
    }
}
