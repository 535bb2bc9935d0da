package import RecordModel
import RecordSQL

/// Large fields that this machine has written over what another one has made of them. Their bytes are not merged.
extension Transaction {
    /// The version of a record; nil for one that was never saved.
    package func version(of record: RecordID) throws(RecordError) -> Int64? {
        try connection.version(of: record)
    }

    /// Keeps, as a conflict, what another machine has made of a large field since a version that the writer of its
    /// bytes has had. Those are in the record already. Nothing happens where this machine has changed the field since: its
    /// programs replace what others of it have saved, as on any file system.
    package func noteLostField(
        _ field: FieldName, _ index: Int?, of id: RecordID, since version: Int64
    ) throws(RecordError) {
        guard let record = try connection.stored(id), record.state == .saved,
            let name = record.name, let text = try connection.savedText(of: id)
        else { return }
        let place = try place(record.entry.type)
        let base = try readable(connection.versionText(version))
        let known = [try parse(text, place), base].map { $0?[field]?.element(index) }
        guard let theirs = try lostEdit(of: field, name, record.zone, since: version),
            let edited = try readable(connection.versionText(theirs.token)),
            !known.contains(where: { FieldMerge.isSame(edited[field]?.element(index), $0) })
        else { return }
        try noteConflict(
            of: record, in: place, fields: [field], base: base?.text, mine: text,
            theirs: edited.text, theirTime: theirs.at)
    }

    /// The last edit of the field before this transaction's, if it is of another machine.
    private func lostEdit(
        of field: FieldName, _ name: RecordName, _ zone: ZoneID, since version: Int64
    ) throws(RecordError) -> VersionFields? {
        var last = Int64.max
        var isOfThisSave = true
        while let edit = try connection.versionFields(name, zone, before: last),
            edit.token > version
        {
            last = edit.token
            guard edit.kind != .deleted, edit.fields.contains(field) else { continue }
            if edit.author == .sync { return edit }
            // The save itself; or the removal of the file that is written anew by it.
            let hasValue = try readable(connection.versionText(edit.token))?[field] != nil
            guard isOfThisSave || !hasValue else { return nil }
            isOfThisSave = false
        }
        return nil
    }
}

extension FieldValue {
    /// That of a list, where there is an index; nil where the list has none there.
    fileprivate func element(_ index: Int?) -> FieldValue? {
        guard let index else { return self }
        guard case .list(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }
}
