package import RecordModel
import RecordSQL

/// Another machine's edits of a record that arrived a moment before a program replaced the record.
///
/// A program looks for a name, finds nothing, and makes the file. A record of this name may arrive
/// in between, which the program cannot have seen: without a conflict nothing would show the loss.
package struct UnseenEdits {
    /// The time for which an edit counts as just arrived. A user who replaces a record that came
    /// earlier may have seen it in a listing.
    package static let age: Duration = .seconds(60)

    fileprivate let theirs: RecordDocument
    fileprivate let modified: Timestamp
    /// The fields that another machine changed last.
    fileprivate let fields: Set<FieldName>
}

extension RecordMerging {
    /// Returns what other machines have changed in a record since a time. To be called before the
    /// save that replaces the record.
    package func unseenEdits(
        of entry: RecordEntry, since time: Timestamp
    ) throws(RecordError) -> UnseenEdits? {
        guard let record = try transaction.connection.records.stored(entry.id),
            record.state == .saved, let name = record.name,
            let text = try transaction.connection.records.savedText(of: entry.id)
        else { return nil }
        let fields = try editedFields(of: name, record.zone, since: time)
        guard !fields.isEmpty else { return nil }
        let place = try transaction.place(entry.type)
        return UnseenEdits(
            theirs: try transaction.records.parse(text, place), modified: entry.modified,
            fields: fields)
    }

    /// Notes a conflict when the record no longer has the values of these edits.
    package func noteReplaced(
        _ unseen: UnseenEdits, in id: RecordID
    ) throws(RecordError) {
        guard let record = try transaction.connection.records.stored(id),
            let text = try transaction.connection.records.savedText(of: id)
        else { return }
        let place = try transaction.place(record.entry.type)
        let mine = try transaction.records.parse(text, place)
        let lost = mine.changedFields(from: unseen.theirs).filter(unseen.fields.contains)
        guard !lost.isEmpty else { return }
        try noteConflict(
            of: record, in: place, fields: lost, base: nil, mine: text,
            theirs: unseen.theirs.text, theirTime: unseen.modified)
    }

    /// Returns the last version of a record that arrived or was made here before a time, where
    /// another machine's edit has arrived since: 0 when the record is newer. Otherwise nil.
    package func version(
        of id: RecordID, beforeEditsSince time: Timestamp
    ) throws(RecordError) -> Int64? {
        guard let record = try transaction.connection.records.stored(id), let name = record.name
        else { return nil }
        var (last, hasEdits) = (Int64.max, false)
        while let version = try transaction.connection.sync.versionFields(
            name, record.zone, before: last)
        {
            guard version.at >= time else { return hasEdits ? version.token : nil }
            hasEdits = hasEdits || version.author == .sync && version.kind != .deleted
            last = version.token
        }
        return hasEdits ? 0 : nil
    }

    /// Returns the fields that another machine was the last to change, since a time.
    private func editedFields(
        of name: RecordName, _ zone: ZoneID, since time: Timestamp
    ) throws(RecordError) -> Set<FieldName> {
        var (theirs, mine): (Set<FieldName>, Set<FieldName>) = ([], [])
        var last = Int64.max
        while let version = try transaction.connection.sync.versionFields(name, zone, before: last),
            version.at >= time, version.kind != .deleted
        {
            if version.author == .sync {
                theirs.formUnion(Set(version.fields).subtracting(mine))
            } else {
                mine.formUnion(version.fields)
            }
            last = version.token
        }
        return theirs
    }
}
