package import RecordModel
import RecordSQL

extension Transaction {
    /// Keeps what two sides made of a record, where one of them lost.
    ///
    /// - Parameters:
    ///   - fields: changed by both; empty when one side deleted the record and the other edited it.
    ///   - theirsStood: those of them that have the server's value now.
    ///   - base: what both began with, when that is known.
    ///   - mine: of this machine; nil when it deleted the record.
    ///   - theirs: of the server; nil when somebody deleted the record there.
    func noteConflict(
        of record: StoredRecord, in place: TypePlace, fields: [FieldName],
        theirsStood: [FieldName] = [], base: [UInt8]?, mine: [UInt8]?, theirs: [UInt8]?,
        theirTime: Timestamp?, theirUser: String = ""
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT INTO conflict (zone_id, type, stem, record_id, at, fields, theirs_stood,
                their_time, their_user)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .integer(place.zone.id.rawValue), .name(place.name), .name(record.entry.stem),
                .integer(record.id.rawValue), .time(now), .blob(FieldNameList.encode(fields)),
                .blob(FieldNameList.encode(theirsStood)), .optional(theirTime?.nanoseconds),
                .text(theirUser),
            ])
        let conflict = connection.lastInsertedRow
        for (side, text) in [(Conflict.Side.base, base), (.mine, mine), (.theirs, theirs)] {
            guard let text else { continue }
            try connection.run(
                """
                INSERT INTO conflict_text (conflict_id, side, text, checksum) VALUES (?, ?, ?, ?)
                """,
                [
                    .integer(conflict), .integer(side.rawValue), .blob(text), .checksum(text),
                ])
        }
        note(
            .conflict, zone: place.zone.id, type: place.type, record: record.id,
            stem: record.entry.stem)
    }

    /// The merge that stands, or what was saved since, is how it shall be. Nothing happens when that
    /// was said before.
    package func settleConflict(_ id: Int64) throws(RecordError) {
        try connection.run(
            "UPDATE conflict SET settled = ? WHERE id = ? AND settled IS NULL",
            [.time(now), .integer(id)])
    }

    /// Settles a conflict by a text that takes the place of the merge that stands; a record that is
    /// gone since comes back.
    ///
    /// Errors: those of `save`; notFound when the conflict is gone.
    package func settleConflict(_ id: Int64, with text: [UInt8]) throws(RecordError) {
        guard let conflict = try connection.conflict(id) else {
            throw RecordError(.notFound, "The conflict is gone.")
        }
        let type = try makeType(conflict.zone, conflict.type).id
        _ = try save(text: text, type: type, stem: conflict.stem)
        try settleConflict(id)
    }

    /// Keeps a text that was refused for the record of a conflict, which stays.
    package func keepDraft(
        _ text: [UInt8], of id: Int64, because error: RecordError
    ) throws(RecordError) {
        guard let conflict = try connection.conflict(id) else {
            throw RecordError(.notFound, "The conflict is gone.")
        }
        let type = try makeType(conflict.zone, conflict.type).id
        _ = try saveDraft(text: text, type: type, stem: conflict.stem, error: error)
    }

    /// Forgets what was settled until then.
    func removeConflicts(settledUntil limit: Timestamp) throws(RecordError) {
        let settled = "settled <= ?"
        try connection.run(
            """
            DELETE FROM conflict_text WHERE conflict_id IN (SELECT id FROM conflict WHERE \(settled))
            """, [.time(limit)])
        try connection.run("DELETE FROM conflict WHERE \(settled)", [.time(limit)])
    }
}
