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
        let base = try connection.versionText(version)?.text
        let values = try [text, base ?? []].map { (text) throws(RecordError) in
            text.isEmpty ? nil : try parse(text, place)[field]?.element(index)
        }
        let edit = try lostEdit(of: field, index, name, place, since: version, not: values)
        guard let theirs = edit else { return }
        try noteConflict(
            of: record, in: place, fields: [field], base: base, mine: text, theirs: theirs.text,
            theirTime: theirs.time)
    }

    /// The last edit of the field before this transaction's, if it is of another machine and says otherwise than what the
    /// writer began with, or has made of it.
    private func lostEdit(
        of field: FieldName, _ index: Int?, _ name: RecordName, _ place: TypePlace,
        since version: Int64,
        not known: [FieldValue?]
    ) throws(RecordError) -> (text: [UInt8], time: Timestamp)? {
        var last = Int64.max
        var isOfThisSave = true
        while let edit = try connection.versionFields(name, place.zone.id, before: last),
            edit.token > version
        {
            last = edit.token
            guard edit.kind != .deleted, edit.fields.contains(field),
                let text = try connection.versionText(edit.token)?.text
            else { continue }
            let value = try parse(text, place)[field]?.element(index)
            if edit.author == .sync {
                return known.contains { FieldMerge.isSame(value, $0) } ? nil : (text, edit.at)
            }
            // The save itself; or the removal of the file that is written anew by it.
            guard isOfThisSave || value == nil else { return nil }
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
