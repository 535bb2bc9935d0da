package import RecordModel
import RecordSQL

extension RecordMerging {
    /// Saves a text whose writer began with an earlier file of the record. The changes that others
    /// have made since stay. Where both changed a field, the later writer, this one, wins. The
    /// losing state is the version before in history; when it came from the server, a conflict
    /// shows it.
    ///
    /// - Parameter base: the text that the writer began with; nil when the name was free then.
    ///
    /// Errors: those of `save`.
    package func saveMerging(
        text: [UInt8], since base: [UInt8]?, type: TypeID, stem: Stem, modified: Timestamp,
        keptFiles: KeptFiles = .none
    ) throws(RecordError) -> SaveResult {
        let place = try transaction.writablePlace(type)
        guard let current = try transaction.records.target(stem, type), current.state != .draftOnly,
            let theirs = try transaction.connection.records.savedText(of: current.id)
        else {
            return try transaction.records.save(
                text: text, type: type, stem: stem, modified: modified, keptFiles: keptFiles)
        }
        let mine = try transaction.records.parse(text, place)
        let other = try transaction.records.parse(theirs, place)
        // The writer may have begun with a draft, or with an empty file.
        let base = base.flatMap { transaction.records.readable($0, place) }
        var (merged, conflicts) = try merge(
            mine, with: other.fields, parent: other.parent, since: base, isLater: { _ in false },
            resolve: { conflict in conflict.mergedLines.map { .both($0) } ?? .local })
        if let name = current.name {
            let edits = try lastEdits(of: conflicts, name, place.zone.id)
            let foreign = conflicts.filter { edits[$0]?.author == .sync }
            if !foreign.isEmpty {
                try noteConflict(
                    of: current, in: place, fields: foreign, base: base?.text, mine: mine.text,
                    theirs: other.text, theirTime: current.entry.modified)
            }
        }
        let lists = try transaction.links.merged(mine, since: base, of: current.name, in: place)
        if !lists.isEmpty {
            merged = try transaction.records.parse(merged, place).replacing(lists: lists)
        }
        // The writer's file shows the text that was written into it, even where the record stays as
        // it was.
        return try transaction.records.save(
            text: merged, type: type, stem: stem, modified: modified,
            effect: merged == text ? .replaced : .rewritten, keptFiles: keptFiles)
    }

    /// Returns the text that a writer began with, if the writer has read several texts of a record
    /// at different times. This is the text with the fewest changed fields; among several, the
    /// last.
    ///
    /// - Parameter texts: the texts of the record when it was read, oldest first.
    /// - Parameter current: whether the writer has also read the record's present text. Then the
    ///   writer more likely began with that text: this returns nil when no more of its fields are
    ///   changed, and when the writer sets the record back to an earlier text.
    /// - Returns: also nil when the text is no record.
    package func beginning(
        of text: [UInt8], among texts: [[UInt8]], orCurrent current: Bool, type: TypeID,
        stem: Stem
    ) throws(RecordError) -> [UInt8]? {
        let place = try transaction.writablePlace(type)
        guard let mine = transaction.records.readable(text, place) else { return nil }
        var nearest: (text: [UInt8], changes: Int)?
        for text in texts {
            guard let document = transaction.records.readable(text, place) else { continue }
            let changes = mine.changedFields(from: document).count
            if changes <= nearest?.changes ?? changes { nearest = (text, changes) }
        }
        guard let nearest else { return nil }
        guard current, let stored = try transaction.connection.records.stored(type, stem),
            let now = try transaction.connection.records.savedText(of: stored.id)
        else { return nearest.text }
        let changes = mine.changedFields(from: try transaction.records.parse(now, place)).count
        return nearest.changes == 0 || changes <= nearest.changes ? nil : nearest.text
    }

    /// Returns whether another machine's edit of a record, or of a record that had its name, has
    /// arrived after a version.
    package func hasNews(of record: RecordID, since version: Int64) throws(RecordError) -> Bool {
        try transaction.connection.exists(
            """
            SELECT 1 FROM record r JOIN history h ON h.zone_id = r.zone_id AND h.name = r.name
            WHERE r.id = ?1 AND h.token > ?2 AND h.author = ?3 AND h.kind != ?4
            """,
            [
                .integer(record.rawValue), .integer(version), .text(Author.sync.rawValue),
                .text(ChangeKind.deleted.rawValue),
            ])
    }

    /// Settles the conflicts which say that this machine deleted a record that another machine
    /// edited. The record is written back, even if another program removed it, then or later.
    package func settleDeletions(of record: RecordID, since time: Timestamp) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE conflict SET settled = ?1
            WHERE record_id = ?2 AND settled IS NULL AND at >= ?3 AND NOT EXISTS (
                SELECT 1 FROM conflict_text t WHERE t.conflict_id = conflict.id AND t.side = ?4)
            """,
            [
                .time(transaction.now), .integer(record.rawValue), .time(time),
                .integer(Conflict.Side.mine.rawValue),
            ])
    }

    /// Returns the local text with the other side's changes since the base, and the fields that
    /// both sides have changed to different values. For each of these, `resolve` decides which
    /// value wins.
    package func merge(
        _ local: RecordDocument, with fields: [RecordField], parent: RecordName?,
        since base: RecordDocument?,
        isLater: (FieldName) throws(RecordError) -> Bool,
        resolve: (FieldConflict) throws(RecordError) -> FieldConflict.Resolution
    ) throws(RecordError) -> (text: [UInt8], conflicts: [FieldName]) {
        var (merged, conflicts) = try FieldMerge.merge(
            base: base?.fields, local: local.fields, remote: fields, isLater: isLater,
            resolve: resolve)
        var newParent = parent
        if local.parent != parent, local.parent != base?.parent {
            newParent = local.parent
            if parent != base?.parent {
                conflicts.append(.parent)
                let conflict = FieldConflict(name: .parent, base: nil, local: nil, remote: nil)
                if case .remote = try resolve(conflict) { newParent = parent }
            }
        }
        let values = Dictionary(merged.map { ($0.name, $0.value) }) { $1 }
        let changes = FieldMerge.changedFields(from: local.fields, to: merged)
        let text = local.replacing(
            changes.map { ($0, values[$0]) },
            parent: local.parent == newParent ? nil : .some(newParent))
        return (text, conflicts)
    }
}
