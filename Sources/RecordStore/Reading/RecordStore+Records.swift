package import RecordModel
import RecordSQL

extension RecordStore {
    /// Returns a record, even one that waits for its deletion: its `state` shows this.
    package func record(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        try read { connection throws(RecordError) in try connection.records.record(type, stem) }
    }

    package func record(_ id: RecordID) throws(RecordError) -> RecordEntry? {
        try read { connection throws(RecordError) in try connection.records.record(id) }
    }

    /// Returns the record with that name in a zone, whatever its type and stem.
    package func record(
        named name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> RecordEntry? {
        try read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.record) FROM record WHERE zone_id = ? AND name = ?",
                [.integer(zone.rawValue), .name(name)]
            ) { $0.record() }
        }
    }

    /// Returns the text that the file shows: the draft when there is one. Returns nil for an
    /// unknown record.
    package func text(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try read { connection throws(RecordError) in try connection.records.shownText(of: id) }
    }

    /// Returns the text that the file shows, and the file, because it may be another file than the
    /// caller knows.
    package func shownText(
        of id: RecordID
    ) throws(RecordError) -> (file: RecordFile, text: [UInt8])? {
        try read { connection throws(RecordError) in
            try connection.records.shown(id).map { ($0.file, $0.text) }
        }
    }

    /// Returns the text of the record itself. Returns nil when nothing was ever saved.
    package func savedText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try read { connection throws(RecordError) in try connection.records.savedText(of: id) }
    }

    /// Returns at most `limit` records with higher numbers than `id`, in the order of their
    /// numbers, without records that wait for their deletion.
    ///
    /// Numbers are stable, so the last one is a cursor that stays valid when records are added or
    /// removed.
    package func records(
        in type: TypeID, after id: RecordID = RecordID(0), limit: Int
    ) throws(RecordError) -> [RecordEntry] {
        try read { connection throws(RecordError) in
            let statement = try connection.statement(
                """
                SELECT \(Columns.record) FROM record INDEXED BY record_type_id
                WHERE type_id = ? AND id > ? AND state != 2 ORDER BY id LIMIT ?
                """,
                [.integer(type.rawValue), .integer(id.rawValue), .integer(Int64(limit))])
            var entries: [RecordEntry] = []
            entries.reserveCapacity(min(limit, 1024))
            while try statement.step() { entries.append(statement.record()) }
            try requireProgress(after: id.rawValue, to: entries.last?.id.rawValue, in: "record")
            return entries
        }
    }

    /// Returns whether a type has no entry that a listing would show.
    package func isEmpty(_ type: TypeID) throws(RecordError) -> Bool {
        try records(in: type, limit: 1).isEmpty
    }

    /// Calls `body` for each saved record of a type with its saved text, all in the state of one
    /// moment.
    package func withRecords(
        in type: TypeID, _ body: (RecordEntry, [UInt8]) throws(RecordError) -> Void
    ) throws(RecordError) {
        try withNamedRecords(in: type) { (entry, _, text) throws(RecordError) in
            try body(entry, text)
        }
    }

    /// Does the same as `withRecords`, with the record names, which sometimes differ from the
    /// stems.
    ///
    /// It reads on a separate connection, so that a long walk delays no other reader. Returns the
    /// time of the type's last change. Returns nil for a type that does not exist.
    @discardableResult
    package func withNamedRecords(
        in type: TypeID,
        _ body: (RecordEntry, RecordName, [UInt8]) throws(RecordError) -> Void
    ) throws(RecordError) -> Timestamp? {
        try readSnapshot { connection throws(RecordError) in
            let changed = try connection.records.lastChange(of: type)
            try connection.each(
                """
                SELECT \(Columns.record), name, text, checksum
                FROM record INDEXED BY record_type_id JOIN saved_text ON record_id = id
                WHERE type_id = ? AND state = 0 ORDER BY id
                """, [.integer(type.rawValue)]
            ) { row throws(RecordError) in
                let entry = row.record()
                try body(
                    entry, RecordName(bytes: row.bytes(Columns.recordCount)),
                    try row.text(Columns.recordCount + 1) { "record \(entry.stem)" })
            }
            return changed
        }
    }

    package func meta(of id: RecordID) throws(RecordError) -> RecordMeta? {
        try read { connection throws(RecordError) in
            var meta = try connection.first(
                """
                SELECT r.id, r.name, r.type_id, r.zone_id, r.state, r.created, r.created_by,
                    r.changed, r.changed_by, b.change_tag, r.generation, z.permission,
                    EXISTS (SELECT 1 FROM outbox o
                        WHERE o.zone_id = r.zone_id AND o.name = r.name), r.stem,
                    (SELECT o.error FROM outbox o WHERE o.zone_id = r.zone_id
                        AND o.name = r.name AND o.error IS NOT NULL),
                    EXISTS (SELECT 1 FROM conflict c
                        WHERE c.record_id = r.id AND c.settled IS NULL)
                FROM record r JOIN zone z ON z.id = r.zone_id
                    LEFT JOIN base b ON b.record_id = r.id
                WHERE r.id = ?
                """, [.integer(id.rawValue)]
            ) { row in
                let stem = Stem(bytes: row.bytes(13))
                let name = row.bytesIfPresent(1).map { RecordName(bytes: $0) }
                return RecordMeta(
                    id: RecordID(row.int64(0)),
                    name: name ?? stem.decoded ?? RecordName(bytes: stem.bytes),
                    type: TypeID(row.int64(2)), zone: ZoneID(row.int64(3)),
                    state: RecordEntry.State(rawValue: row.int64(4)) ?? .saved,
                    created: row.time(5), createdBy: row.string(6), modified: row.time(7),
                    modifiedBy: row.string(8), changeTag: row.string(9),
                    generation: row.int64(10), isPending: row.bool(12),
                    refusal: row.isNull(14) ? nil : row.string(14),
                    hasConflict: row.bool(15), share: nil,
                    permission: ZoneInfo.Permission(rawValue: row.int64(11)) ?? .readOnly)
            }
            if let mixed = meta, mixed.permission == .mixed {
                meta?.permission = try RecordPermissions(connection, mixed.zone)
                    .permission(of: mixed.name)
            }
            return meta
        }
    }

    // MARK: Drafts

    /// Returns all drafts, or those of one type, oldest first. Records that wait for their deletion
    /// are left out.
    package func drafts(in type: TypeID? = nil) throws(RecordError) -> [Draft] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.draft) FROM draft d CROSS JOIN record r ON r.id = d.record_id
                WHERE (?1 IS NULL OR r.type_id = ?1) AND r.state != 2
                ORDER BY d.since, d.record_id
                """, [.optional(type?.rawValue)]
            ) { $0.draft() }
        }
    }

    /// Returns the reasons why saves were refused, in all types or in one, oldest first. Only
    /// records that are shown are included: the refusal of a removed record disappears with it, and
    /// comes back with it.
    package func refusals(in type: TypeID? = nil) throws(RecordError) -> [Refusal] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.refusal) FROM refusal f CROSS JOIN record r ON r.id = f.record_id
                WHERE (?1 IS NULL OR r.type_id = ?1) AND r.state != 2
                ORDER BY f.since, f.record_id
                """, [.optional(type?.rawValue)]
            ) { $0.refusal() }
        }
    }

    package func refusal(of id: RecordID) throws(RecordError) -> Refusal? {
        try read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.refusal) FROM refusal f CROSS JOIN record r ON r.id = f.record_id
                WHERE f.record_id = ?
                """, [.integer(id.rawValue)]
            ) { $0.refusal() }
        }
    }

    package func draft(of id: RecordID) throws(RecordError) -> Draft? {
        try read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.draft) FROM draft d CROSS JOIN record r ON r.id = d.record_id
                WHERE d.record_id = ?
                """, [.integer(id.rawValue)]
            ) { $0.draft() }
        }
    }

    /// Returns at most `limit` file names of records that begin with `prefix`, in the order of
    /// their bytes, without those that show no file. The size of the type does not matter.
    package func stems(
        in type: TypeID, beginningWith prefix: [UInt8], limit: Int
    ) throws(RecordError) -> [Stem] {
        // No byte of a stem is 0xFF, because stems are UTF-8.
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT stem FROM record
                WHERE type_id = ? AND stem >= ? AND stem < ? AND state != 2
                    AND (flags & 4 = 0 OR state != 1)
                ORDER BY stem LIMIT ?
                """,
                [
                    .integer(type.rawValue), .blob(prefix), .blob(prefix + [0xFF]),
                    .integer(Int64(limit)),
                ]
            ) { Stem(bytes: $0.bytes(0)) }
        }
    }
}

extension RecordRows {
    /// Returns the time when a record of the type was last changed, added or removed. Returns nil
    /// for a type that does not exist.
    fileprivate func lastChange(of type: TypeID) throws(RecordError) -> Timestamp? {
        try connection.first(
            """
            SELECT MAX(modified, COALESCE((SELECT MAX(changed) FROM record WHERE type_id = t.id), 0))
            FROM record_type t WHERE id = ?
            """, [.integer(type.rawValue)]
        ) { $0.time(0) }
    }

    func record(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        try connection.first(
            "SELECT \(Columns.record) FROM record WHERE type_id = ? AND stem = ?",
            [.integer(type.rawValue), .name(stem)]
        ) { $0.record() }
    }

    func record(_ id: RecordID) throws(RecordError) -> RecordEntry? {
        try connection.first(
            "SELECT \(Columns.record) FROM record WHERE id = ?", [.integer(id.rawValue)]
        ) { $0.record() }
    }

    package func savedText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        let found = try savedTextIfWhole(of: id)
        guard let found else { return nil }
        if let text = found { return text }
        let stem = try record(id)?.stem
        throw .damagedText("record \(stem.map { "\($0)" } ?? "\(id.rawValue)")")
    }

    /// Does the same as `savedText`, but also returns nil for a damaged text.
    func wholeSavedText(of id: RecordID) throws(RecordError) -> [UInt8]? {
        try savedTextIfWhole(of: id) ?? nil
    }

    /// Returns nil where there is no text, and an inner nil where the text is damaged. The result
    /// is that of the view `saved_text`, but with the view SQLite would copy a text once more to
    /// choose one of two.
    private func savedTextIfWhole(of id: RecordID) throws(RecordError) -> [UInt8]?? {
        let found = try connection.first(
            """
            SELECT h.text, h.checksum, t.text, t.checksum FROM record r
                LEFT JOIN history h ON h.token = r.version
                LEFT JOIN record_text t ON t.record_id = r.id
            WHERE r.id = ?
            """, [.integer(id.rawValue)]
        ) { row -> [UInt8]?? in
            if !row.isNull(2) { return .some(row.wholeText(2)) }
            return row.isNull(0) ? nil : .some(row.wholeText(0))
        }
        return found ?? nil
    }

    /// Returns the version of history that is the record's state. Returns nil for a record that was
    /// never saved.
    func version(of id: RecordID) throws(RecordError) -> Int64? {
        try connection.first("SELECT version FROM record WHERE id = ?", [.integer(id.rawValue)]) {
            $0.int64IfPresent(0)
        } ?? nil
    }

    /// Returns the text that the file shows. It uses one statement, so that a commit between two
    /// reads cannot show half of each.
    func shown(
        _ id: RecordID
    ) throws(RecordError) -> (file: RecordFile, text: [UInt8], version: Int64?)? {
        try connection.first(Self.shownRow, [.integer(id.rawValue)]) { row throws(RecordError) in
            let entry = row.record()
            let subject = { "record \(entry.stem)" }
            let texts = Columns.recordCount
            guard entry.hasDraft != row.isNull(texts) else { throw .damagedText(subject()) }
            let place = entry.hasDraft ? texts : row.isNull(texts + 2) ? texts + 4 : texts + 2
            let version = row.int64IfPresent(texts + 6)
            return (entry.file, try row.text(place, of: subject), version)
        }
    }

    private static let shownRow = """
        SELECT \(Columns.record), d.text, d.checksum, t.text, t.checksum, h.text, h.checksum, r.version
        FROM record r
            LEFT JOIN history h ON h.token = r.version
            LEFT JOIN record_text t ON t.record_id = r.id
            LEFT JOIN draft d ON d.record_id = r.id
        WHERE r.id = ?
        """

    func shownText(of id: RecordID) throws(RecordError) -> [UInt8]? { try shown(id)?.text }
}
