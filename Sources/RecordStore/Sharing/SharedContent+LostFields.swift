package import RecordModel
import RecordSQL

/// Large fields where this machine has overwritten the edit of another machine. Their bytes are not
/// merged.
extension SharedContent {
    /// Returns the version of a record. Returns nil for a record that was never saved.
    package func version(of record: RecordID) throws(RecordError) -> Int64? {
        try transaction.connection.records.version(of: record)
    }

    /// Keeps another machine's edit of a large field as a conflict, if it was made since the
    /// version that the writer of the new bytes had. The new bytes are in the record already.
    /// Nothing happens where this machine has changed the field since then: its programs replace
    /// each other's files, as on any file system.
    package func noteLostField(
        _ field: FieldName, _ index: Int?, of id: RecordID, since version: Int64
    ) throws(RecordError) {
        guard let record = try transaction.connection.records.stored(id), record.state == .saved,
            let name = record.name, let text = try transaction.connection.records.savedText(of: id)
        else { return }
        let place = try transaction.place(record.entry.type)
        let base = try transaction.merging.readable(
            transaction.connection.sync.versionText(version))
        let known = [try transaction.records.parse(text, place), base].map {
            $0?[field]?.element(index)
        }
        guard let theirs = try lostEdit(of: field, name, record.zone, since: version),
            let edited = try transaction.merging.readable(
                transaction.connection.sync.versionText(theirs.token)),
            !known.contains(where: { FieldMerge.isSame(edited[field]?.element(index), $0) })
        else { return }
        try transaction.merging.noteConflict(
            of: record, in: place, fields: [field], base: base?.text, mine: text,
            theirs: edited.text, theirTime: theirs.at)
    }

    /// Returns the last edit of the field before the edit of this transaction, if another machine
    /// made it.
    private func lostEdit(
        of field: FieldName, _ name: RecordName, _ zone: ZoneID, since version: Int64
    ) throws(RecordError) -> VersionFields? {
        var last = Int64.max
        var isOfThisSave = true
        while let edit = try transaction.connection.sync.versionFields(name, zone, before: last),
            edit.token > version
        {
            last = edit.token
            guard edit.kind != .deleted, edit.fields.contains(field) else { continue }
            if edit.author == .sync { return edit }
            // This is the save itself, or the removal of the file that the save writes again.
            let hasValue =
                try transaction.merging.readable(
                    transaction.connection.sync.versionText(edit.token))?[
                    field] != nil
            guard isOfThisSave || !hasValue else { return nil }
            isOfThisSave = false
        }
        return nil
    }
}

extension FieldValue {
    /// Returns the element of a list, where there is an index. Returns nil where the list has no
    /// such element.
    fileprivate func element(_ index: Int?) -> FieldValue? {
        guard let index else { return self }
        guard case .list(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }
}
