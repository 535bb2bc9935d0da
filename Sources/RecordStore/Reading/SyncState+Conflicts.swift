package import RecordModel
import RecordSQL

extension SyncState {
    /// Returns the conflicts of a zone, newest first; of one type, or of all.
    ///
    /// - Parameter settledToo: whether to include conflicts that nobody has to look at any more.
    package func conflicts(
        in zone: ZoneID, type: RecordTypeName? = nil, settledToo: Bool = false
    ) throws(RecordError) -> [Conflict] {
        let conditions =
            (type == nil ? "" : "AND type = ?") + (settledToo ? "" : " AND settled IS NULL")
        return try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.conflict) FROM conflict
                WHERE zone_id = ? \(conditions) ORDER BY id DESC
                """, [.integer(zone.rawValue)] + (type.map { [.name($0)] } ?? [])
            ) { $0.conflict() }
        }
    }

    /// Returns the last conflict of a record's file, settled or not, so that a name does not change
    /// to another conflict.
    package func lastConflict(
        in zone: ZoneID, type: RecordTypeName, _ stem: Stem
    ) throws(RecordError) -> Conflict? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT * FROM
                    (SELECT \(Columns.conflict) FROM conflict
                        WHERE zone_id = ?1 AND type = ?2 AND (stem = ?3 OR record_id IN (
                            SELECT r.id FROM record r JOIN record_type t ON t.id = r.type_id
                            WHERE t.zone_id = ?1 AND t.name = ?2 AND r.stem = ?3)))
                WHERE file_stem = ?3 ORDER BY id DESC LIMIT 1
                """, [.integer(zone.rawValue), .name(type), .name(stem)]
            ) { $0.conflict() }
        }
    }

    /// Returns a conflict, even a settled one for some time.
    package func conflict(_ id: Int64) throws(RecordError) -> Conflict? {
        try store.read { connection throws(RecordError) in try connection.records.conflict(id) }
    }

    /// Returns the text of a side. Returns nil for a side without a text: it deleted the record, or
    /// its text is not known. Errors: corrupt.
    package func text(
        of side: Conflict.Side, in conflict: Conflict
    ) throws(RecordError) -> [UInt8]? {
        try store.read { connection throws(RecordError) in
            try connection.sync.text(of: side, in: conflict)
        }
    }

    /// Returns the present text of a conflict's record. Returns nil when the record was deleted.
    /// Errors: corrupt.
    package func mergedText(of conflict: Conflict) throws(RecordError) -> [UInt8]? {
        guard let record = try store.record(conflict.record), record.state == .saved else {
            return nil
        }
        return try store.savedText(of: record.id)
    }

    /// Returns whether the record of a conflict was removed since, so that nobody can merge into
    /// it.
    package func isGone(_ conflict: Conflict) throws(RecordError) -> Bool {
        try store.record(conflict.record)?.state != .saved
    }
}

extension RecordRows {
    func conflict(_ id: Int64) throws(RecordError) -> Conflict? {
        try connection.first(
            "SELECT \(Columns.conflict) FROM conflict WHERE id = ?", [.integer(id)]
        ) {
            $0.conflict()
        }
    }
}

extension Columns {
    fileprivate static let conflict = """
        id, zone_id, type, COALESCE((SELECT r.stem FROM record r JOIN record_type t
            ON t.id = r.type_id WHERE r.id = record_id AND t.zone_id = conflict.zone_id
            AND t.name = conflict.type), stem) AS file_stem,
        record_id, at, fields, theirs_stood, their_time, their_user, settled IS NOT NULL
        """
}

extension SQLStatement {
    fileprivate func conflict() -> Conflict {
        Conflict(
            id: int64(0), zone: ZoneID(int64(1)), type: RecordTypeName(bytes: bytes(2)),
            stem: Stem(bytes: bytes(3)), record: RecordID(int64(4)), at: time(5),
            fields: FieldNameList.decode(bytes(6)), theirsStood: FieldNameList.decode(bytes(7)),
            theirTime: int64IfPresent(8).map { Timestamp(nanoseconds: $0) },
            theirUser: string(9), isSettled: bool(10))
    }
}
