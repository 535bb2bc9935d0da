import RecordModel
import RecordSQL
import RecordStore

extension FeedApplying {
    /// Makes room for a record of another type that arrives with the name of a record here. If the
    /// server never had the record here, or it was edited here, it gets a longer name, as if it had
    /// arrived later. Otherwise it is deleted, because the server's record was made again.
    ///
    /// - Parameter isEdited: whether some of its changes were not sent.
    /// - Returns: whether it stays although the server had it: an edit wins against a deletion.
    func makeRoom(
        _ existing: StoredRow, of name: RecordName, isEdited: Bool
    ) throws(RecordError) -> Bool {
        let place = try transaction.place(existing.entry.type)
        let isKnown = try transaction.connection.sync.baseTag(of: existing.id) != nil
        guard existing.state == .saved, !isKnown || isEdited,
            let longer = try freeLonger(name, place)
        else {
            try transaction.records.finalizeDelete(existing.id)
            return false
        }
        if isKnown {
            try transaction.connection.run(
                "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
        }
        try rename(existing, from: name, to: longer)
        for other in [longer, longer.with(place.name), name.with(place.name)] {
            try transaction.records.refreshStem(of: other, place)
        }
        return isKnown
    }

    /// Returns `NAME:TYPE`, or the name with as many endings as necessary. Returns nil where no
    /// server would accept that.
    private func freeLonger(
        _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> RecordName? {
        var longer = name.with(place.name)
        while longer.bytes.count <= RecordName.maximumBytes {
            let isFree =
                try transaction.connection.records.stored(named: longer, place.zone.id) == nil
            if isFree, try transaction.connection.sync.unclaimed(longer, place.zone.id) == nil {
                return longer
            }
            longer = longer.with(place.name)
        }
        return nil
    }

    private func rename(
        _ record: StoredRow, from name: RecordName, to longer: RecordName
    ) throws(RecordError) {
        let values: [SQLValue] = [
            .name(longer), .integer(record.zone.rawValue), .name(name),
            .integer(record.id.rawValue),
        ]
        try transaction.connection.run(
            "UPDATE record SET name = ?1 WHERE zone_id = ?2 AND name = ?3 AND id = ?4", values)
        try transaction.connection.run(
            """
            UPDATE outbox SET name = ?1, operation = CASE operation WHEN 2 THEN 1 ELSE operation END
            WHERE zone_id = ?2 AND name = ?3 AND record_id = ?4
            """, values)
        try transaction.connection.run(
            "UPDATE history SET name = ?1 WHERE zone_id = ?2 AND name = ?3 AND record_id = ?4",
            values)
        // The server's record is another one, whose values got theirs at other times.
        try transaction.connection.run(
            "UPDATE OR REPLACE heard_stamps SET name = ?1 WHERE zone_id = ?2 AND name = ?3",
            Array(values.prefix(3)))
        if try transaction.connection.hasMoves() {
            try transaction.moves.passMoves(from: name, record.zone, to: longer, record.zone)
        }
    }
}
