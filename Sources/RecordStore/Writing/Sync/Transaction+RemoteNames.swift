import RecordModel
import RecordSQL

extension Transaction {
    /// A record of another type comes with the name of one that is here. One that the server never
    /// had, or that was edited here, gets a longer name, as if it had come later; else the server's was
    /// made anew.
    ///
    /// - Parameter isEdited: whether something of it was not sent.
    /// - Returns: whether it stays though the server had it: an edit against a deletion.
    func makeRoom(
        _ existing: StoredRecord, of name: RecordName, isEdited: Bool
    ) throws(RecordError) -> Bool {
        let place = try place(existing.entry.type)
        let isKnown = try connection.baseTag(of: existing.id) != nil
        guard existing.state == .saved, !isKnown || isEdited,
            let longer = try freeLonger(name, place)
        else {
            try finalizeDelete(existing.id)
            return false
        }
        if isKnown {
            try connection.run(
                "DELETE FROM base WHERE record_id = ?", [.integer(existing.id.rawValue)])
        }
        try rename(existing, from: name, to: longer)
        for other in [longer, longer.with(place.name), name.with(place.name)] {
            try refreshStem(of: other, place)
        }
        return isKnown
    }

    /// `NAME:TYPE`, or with as many endings as it takes; nil where no server would take that.
    private func freeLonger(
        _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> RecordName? {
        var longer = name.with(place.name)
        while longer.bytes.count <= RecordName.maximumBytes {
            let isFree = try connection.stored(named: longer, place.zone.id) == nil
            if isFree, try connection.unclaimed(longer, place.zone.id) == nil { return longer }
            longer = longer.with(place.name)
        }
        return nil
    }

    private func rename(
        _ record: StoredRecord, from name: RecordName, to longer: RecordName
    ) throws(RecordError) {
        let values: [SQLValue] = [
            .name(longer), .integer(record.zone.rawValue), .name(name),
            .integer(record.id.rawValue),
        ]
        try connection.run(
            "UPDATE record SET name = ?1 WHERE zone_id = ?2 AND name = ?3 AND id = ?4", values)
        try connection.run(
            """
            UPDATE outbox SET name = ?1, operation = CASE operation WHEN 2 THEN 1 ELSE operation END
            WHERE zone_id = ?2 AND name = ?3 AND record_id = ?4
            """, values)
        try connection.run(
            "UPDATE history SET name = ?1 WHERE zone_id = ?2 AND name = ?3 AND record_id = ?4",
            values)
        if try connection.hasMoves() {
            try passMoves(from: name, record.zone, to: longer, record.zone)
        }
    }
}
