package import RecordModel
import RecordSQL

extension RecordMerging {
    /// The largest number of unsettled conflicts of a record. Older ones count as settled.
    private static let conflictsOfRecord: Int64 = 100

    /// Keeps the texts of both sides of a record, where one side lost.
    ///
    /// - Parameters:
    ///   - fields: the fields that both sides changed; empty when one side deleted the record and
    ///     the other edited it.
    ///   - theirsStood: the fields of these that have the server's value now.
    ///   - base: the text that both sides began with, when that is known.
    ///   - mine: the text of this machine; nil when it deleted the record.
    ///   - theirs: the text of the server; nil when somebody deleted the record there.
    package func noteConflict(
        of record: StoredRow, in place: TypePlace, fields: [FieldName],
        theirsStood: [FieldName] = [], base: [UInt8]?, mine: [UInt8]?, theirs: [UInt8]?,
        theirTime: Timestamp?, theirUser: String = ""
    ) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT INTO conflict (zone_id, type, stem, record_id, at, fields, theirs_stood,
                their_time, their_user)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(place.zone.id.rawValue), .name(place.name), .name(record.entry.stem),
                .integer(record.id.rawValue), .time(transaction.now),
                .blob(FieldNameList.encode(fields)),
                .blob(FieldNameList.encode(theirsStood)), .optional(theirTime?.nanoseconds),
                .text(theirUser),
            ])
        let conflict = transaction.connection.lastInsertedRow
        for (side, text) in [(Conflict.Side.base, base), (.mine, mine), (.theirs, theirs)] {
            guard let text else { continue }
            try transaction.connection.run(
                """
                INSERT INTO conflict_text (conflict_id, side, text, checksum) VALUES (?, ?, ?, ?)
                """,
                [
                    .integer(conflict), .integer(side.rawValue), .blob(text), .checksum(text),
                ])
        }
        // Two programs that write one field on two machines may continue forever.
        try transaction.connection.run(
            """
            UPDATE conflict SET settled = ?1 WHERE record_id = ?2 AND settled IS NULL AND id <= (
                SELECT id FROM conflict WHERE record_id = ?2 AND settled IS NULL
                ORDER BY id DESC LIMIT 1 OFFSET ?3)
            """,
            [
                .time(transaction.now), .integer(record.id.rawValue),
                .integer(Self.conflictsOfRecord),
            ])
        transaction.note(
            .conflict, zone: place.zone.id, type: place.type, record: record.id,
            stem: record.entry.stem)
    }

    /// Deletes the conflicts that were settled longer ago than this.
    func removeConflicts(settled age: Duration, at now: Timestamp) throws(RecordError) {
        let (settled, limits) = (
            StoreUpkeep.isOldConflict, StoreUpkeep.ends(of: age, at: now)
        )
        try transaction.connection.run(
            """
            DELETE FROM conflict_text WHERE conflict_id IN (SELECT id FROM conflict WHERE \(settled))
            """, limits)
        try transaction.connection.run("DELETE FROM conflict WHERE \(settled)", limits)
    }
}
