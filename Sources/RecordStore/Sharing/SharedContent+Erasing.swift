package import RecordModel
import RecordSQL

/// Erases data after the end of a share. Nothing that others have written stays: not in records,
/// history, trash, conflicts, drafts, files and their names, nor, after `RecordStore.scrub`, in
/// free pages and the log. It stays known that there was a zone with this name and owner.
///
/// Data that this user has written and that nobody has received belongs to this user. It moves to
/// the trash, with only the fields that this user has changed.
extension SharedContent {
    /// Erases the traces of a zone whose records are already deleted.
    package func eraseTraces(of zone: ZoneID) throws(RecordError) {
        let value = SQLValue.integer(zone.rawValue)
        try eraseTrash("zone_id = ?", [value])
        try eraseConflicts("zone_id = ?", [value])
        try eraseHistory("zone_id = ?", [value])
        for table in ["move", "passed_over", "share", "sent_request", "sync_event", "heard_stamps"]
        {
            try transaction.connection.run("DELETE FROM \(table) WHERE zone_id = ?", [value])
        }
        try forgetWordsOfOthers()
        try eraseSchemas(of: zone)
        try transaction.connection.run(
            """
            DELETE FROM past_type WHERE zone_id = ?1
                AND name NOT IN (SELECT type FROM trash WHERE zone_id = ?1)
            """, [value])
        try markForScrub()
    }

    /// Erases the traces of a record that was deleted from a zone of others. Nobody can tell
    /// whether its owner has deleted it or no longer shares it.
    package func eraseTraces(
        of name: RecordName, in zone: ZoneID, stem: Stem, type: RecordTypeName
    ) throws(RecordError) {
        try noteWordsOfOthers(in: zone, of: name)
        try reduceDrafts(in: zone, without: name)
        if try transaction.connection.sync.isOfServer(name, in: zone) {
            try eraseCopies(of: name, in: zone)
        }
        let values: [SQLValue] = [.integer(zone.rawValue), .name(name)]
        try eraseTrash("zone_id = ? AND name = ?", values)
        try eraseConflicts(
            "zone_id = ? AND type = ? AND stem = ?",
            [.integer(zone.rawValue), .name(type), .name(stem)])
        try eraseHistory("zone_id = ? AND name = ?", values)
        for table in ["move", "heard_stamps", "passed_over"] {
            try transaction.connection.run(
                "DELETE FROM \(table) WHERE zone_id = ? AND name = ?", values)
        }
        if transaction.zonesOfErased.insert(zone).inserted {
            // The events may name the record.
            try transaction.connection.run(
                "DELETE FROM sync_event WHERE zone_id = ? AND error IS NOT NULL",
                [.integer(zone.rawValue)])
        }
        try markForScrub()
    }

    /// Does the same for a record that is in the trash.
    package func eraseTraces(of name: RecordName, in zone: ZoneID) throws(RecordError) {
        let places = try transaction.connection.all(
            "SELECT DISTINCT type, stem FROM trash WHERE zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)]
        ) { (type: RecordTypeName(bytes: $0.bytes(0)), stem: Stem(bytes: $0.bytes(1))) }
        for place in places {
            try eraseTraces(of: name, in: zone, stem: place.stem, type: place.type)
        }
    }

    /// Erases the traces of records that are no longer here, where others share parts of a zone. A
    /// feed that starts again shows that other parts are shared, but not which part contained a
    /// record that this user has deleted. A user who deletes the root of a part has left that part.
    package func eraseTracesOfGone(in zone: ZoneID) throws(RecordError) {
        let value = SQLValue.integer(zone.rawValue)
        if try transaction.connection.sync.isSharedWhole(zone) { return }
        let gone = try transaction.connection.all(
            """
            SELECT DISTINCT name FROM trash t WHERE zone_id = ?1 AND is_own = 0
                AND NOT EXISTS (SELECT 1 FROM record WHERE zone_id = ?1 AND name = t.name)
                AND NOT EXISTS (SELECT 1 FROM outbox WHERE zone_id = ?1 AND name = t.name)
            """, [value]
        ) { RecordName(bytes: $0.bytes(0)) }
        for name in gone { try eraseTraces(of: name, in: zone) }
    }

    /// Erases the schemas of types that no other zone has or had. A schema belongs to all zones.
    private func eraseSchemas(of zone: ZoneID) throws(RecordError) {
        let types = try transaction.connection.all(
            """
            SELECT name FROM past_type WHERE zone_id = ?1
            EXCEPT SELECT name FROM past_type WHERE zone_id != ?1
            EXCEPT SELECT name FROM record_type
            """, [.integer(zone.rawValue)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
        for type in types {
            try transaction.put(RecordSchema(fields: []), of: type)
        }
    }

    /// Erases rows of history. Versions that are the state of existing records stay with these. The
    /// newest row stays without its content, so that no token is used twice. A row also stays if it
    /// says that a record in the trash was deleted.
    private func eraseHistory(
        _ condition: String, _ values: [SQLValue]
    ) throws(RecordError) {
        let condition = """
            \(condition) AND NOT (kind = '\(ChangeKind.deleted.rawValue)' AND EXISTS (
                SELECT 1 FROM trash t WHERE t.zone_id = history.zone_id AND t.name = history.name))
                AND token NOT IN (SELECT version FROM record r
                    WHERE r.zone_id = history.zone_id AND r.name = history.name
                        AND version IS NOT NULL)
            """
        let holder = SQLValue.integer(RecordWriting.Holder.history.rawValue)
        try transaction.connection.run(
            """
            DELETE FROM kept_asset WHERE holder_id IN (SELECT token FROM history WHERE \(condition))
                AND holder = ?
            """, values + [holder])
        let newest = "(SELECT token FROM history ORDER BY token DESC LIMIT 1)"
        try transaction.connection.run(
            "DELETE FROM history WHERE \(condition) AND token != \(newest)", values)
        try transaction.connection.run(
            """
            UPDATE history SET name = x'2d', type = x'2d', fields = x'', text = x'', checksum = ?
            WHERE \(condition) AND token = \(newest)
            """, [.checksum([])] + values)
    }

    /// Erases rows of the trash, except the rows that this user has written, also those from the
    /// end of an earlier share.
    private func eraseTrash(
        _ condition: String, _ values: [SQLValue]
    ) throws(RecordError) {
        let ids = try transaction.connection.all(
            "SELECT id FROM trash WHERE \(condition) AND is_own = 0", values
        ) { $0.int64(0) }
        for id in ids { try transaction.records.removeTrash(id) }
    }

    private func eraseConflicts(
        _ condition: String, _ values: [SQLValue]
    ) throws(RecordError) {
        let open = try transaction.connection.all(
            "SELECT id FROM conflict WHERE settled IS NULL AND \(condition)", values
        ) { $0.int64(0) }
        for id in open {
            if let conflict = try transaction.connection.records.conflict(id) {
                try keepOwnSide(of: conflict)
            }
        }
        try transaction.connection.run(
            """
            DELETE FROM conflict_text
            WHERE conflict_id IN (SELECT id FROM conflict WHERE \(condition))
            """, values)
        try transaction.connection.run("DELETE FROM conflict WHERE \(condition)", values)
    }

    /// Puts the values that this user has written, and that others have overruled, into the trash,
    /// because they exist nowhere else.
    private func keepOwnSide(of conflict: Conflict) throws(RecordError) {
        guard !conflict.theirsStood.isEmpty,
            let text = try transaction.connection.sync.text(of: .mine, in: conflict)
        else { return }
        let fields = try transaction.records.parse(text, of: conflict.type).fields.filter {
            conflict.theirsStood.contains($0.name)
        }
        guard !fields.isEmpty else { return }
        let name = try transaction.connection.first(
            "SELECT name FROM history WHERE record_id = ? ORDER BY token DESC LIMIT 1",
            [.integer(conflict.record.rawValue)]
        ) { RecordName(bytes: $0.bytes(0)) }
        _ = try addOwnTrash(
            TrashRow(
                zone: conflict.zone, type: conflict.type,
                name: name ?? RecordName(bytes: conflict.stem.bytes), stem: conflict.stem,
                created: conflict.at, createdBy: "", author: .mount, isOwn: true),
            RecordDocument.print(fields, parent: nil))
    }

    /// Notes that `RecordStore.scrub` is due: the free space on the disk may still contain the
    /// data.
    func markForScrub() throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('scrub', '')")
    }

    /// Notes that local files of the place are to be removed too.
    package func markForScrub(_ place: StoreDirectory.LocalFiles) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            [.text("scrub \(place.name)"), .text(place.name)])
    }

    // MARK: Unsent edits

    /// Puts the values that this user has written into a record, and that nobody has received, into
    /// the trash.
    package func keepOwnEdit(of row: OutboxRow) throws(RecordError) {
        guard row.operation != .delete,
            let record = try transaction.connection.records.stored(row.record)
        else {
            return
        }
        try keepOwnEdit(of: record, named: row.name, try transaction.place(record.entry.type))
    }

    private func keepOwnEdit(
        of record: StoredRow, named name: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        let base = try transaction.outbox.acknowledgedDocument(of: record.id, place.name)
        try keepOwnFields(of: record, named: name, since: base, place)
    }

    /// Keeps the unsent values of a record that was removed together with a share which this user
    /// is leaving. Such a record is also removed from the trash.
    func keepUnsentEdit(
        of record: StoredRow, named name: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        guard place.zone.database == .shared, transaction.author != .sync,
            try transaction.connection.exists(
                "SELECT 1 FROM share WHERE zone_id = ? AND ending != 0",
                [.integer(record.zone.rawValue)])
        else { return }
        try keepOwnEdit(of: record, named: name, place)
    }

    /// Keeps all values that this user has written into a record that a restored server does not
    /// have, or has in an earlier state. Nobody knows whether others have received them.
    package func keepOwnEdits(of record: StoredRow, named name: RecordName) throws(RecordError) {
        try keepOwnFields(
            of: record, named: name, since: nil, try transaction.place(record.entry.type))
    }

    /// Does the same in a whole zone.
    package func keepOwnEdits(
        in zone: ZoneID, but names: Set<RecordName>
    ) throws(RecordError) {
        let records = try transaction.connection.all(
            "SELECT \(StoredRow.columns) FROM record WHERE zone_id = ? AND name IS NOT NULL",
            [.integer(zone.rawValue)]
        ) { StoredRow($0) }
        for record in records {
            guard let name = record.name, !names.contains(name) else { continue }
            try keepOwnEdits(of: record, named: name)
        }
    }

    private func keepOwnFields(
        of record: StoredRow, named name: RecordName, since base: RecordDocument?,
        _ place: TypePlace
    ) throws(RecordError) {
        guard let text = try transaction.connection.records.savedText(of: record.id) else { return }
        let local = try transaction.outbox.document(text, of: record.id, place)
        let changed = FieldMerge.changedFields(from: base?.fields ?? [], to: local.fields)
        let edits = try transaction.merging.lastEdits(of: changed, name, record.zone)
        let own = changed.filter { edits[$0]?.author != .sync }
        let others = try wordsOfOthers(in: record.id)
        let fields = local.fields.filter { field in
            own.contains(field.name) && others[field.name]?.contains(field.checksum) != true
        }
        guard !fields.isEmpty else { return }
        let entry = try addOwnTrash(
            TrashRow(record, name, place, .mount, isOwn: true),
            RecordDocument.print(fields, parent: nil))
        try transaction.records.keepAssets(of: record.id, holder: .trash, entry)
        let kept = Set(fields.map(\.name))
        for asset in try transaction.records.keptAssets(.trash, entry)
        where !kept.contains(asset.field) {
            try transaction.connection.run(
                "DELETE FROM kept_asset WHERE holder = ? AND holder_id = ? AND field = ?",
                [
                    .integer(RecordWriting.Holder.trash.rawValue), .integer(entry),
                    .name(asset.field),
                ])
        }
    }

    /// Puts values that this user has written, and that nobody has received, into the trash, and
    /// reports this after the commit.
    ///
    /// - Returns: the entry's number.
    func addOwnTrash(_ row: TrashRow, _ text: [UInt8]) throws(RecordError) -> Int64 {
        let entry = try transaction.records.addTrash(row, text)
        let last = transaction.changes.lastIndex { change in
            change.zone == row.zone && change.shareNews.last?.kind == .unsent
        }
        if let last, let told = transaction.changes[last].shareNews.last {
            transaction.changes[last].shareNews = [ShareNews(unsent: told.count + 1)]
        } else {
            note([ShareNews(unsent: 1)], of: row.zone)
        }
        return entry
    }
}
