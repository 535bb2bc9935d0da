import RecordModel
import RecordSQL

extension Transaction {
    /// The stem of a name that comes from the server. `X:TYPE` shows as X, unless X itself is
    /// there; when X itself comes later, the other one makes room. With the record that has the stem
    /// and no name: a draft, or one that only its assets wait for.
    func freeStem(
        for name: RecordName, _ place: TypePlace
    ) throws(RecordError) -> (stem: Stem, draft: StoredRecord?) {
        let suffix = [UInt8(ascii: ":")] + place.name.bytes
        if name.bytes.count > suffix.count, name.bytes.suffix(suffix.count).elementsEqual(suffix) {
            let short = Stem(
                encoding: RecordName(bytes: Array(name.bytes.dropLast(suffix.count))))
            let other = try connection.stored(place.type, short)
            if other?.name == nil { return (short, other) }
        }
        let stem = Stem(encoding: name)
        let other = try connection.stored(place.type, stem)
        guard let other, let otherName = other.name, otherName != name else { return (stem, other) }
        try connection.run(
            "UPDATE record SET stem = ? WHERE id = ?",
            [.name(Stem(encoding: otherName)), .integer(other.id.rawValue)])
        note(
            .deleted, zone: other.zone, type: place.type, record: other.id, stem: stem)
        note(
            .created, zone: other.zone, type: place.type, record: other.id,
            stem: Stem(encoding: otherName))
        return (stem, nil)
    }

    /// A record of another type comes with the name of one that is here. One that the server never
    /// had gets the longer name, as if it had come later; else the server's was made anew.
    func makeRoom(
        _ existing: StoredRecord, _ change: RemoteChange
    ) throws(RecordError) {
        let type = try place(existing.entry.type).name
        let longer = RecordName(bytes: change.name.bytes + [UInt8(ascii: ":")] + type.bytes)
        guard existing.state == .saved, try connection.baseTag(of: existing.id) == nil,
            try connection.stored(named: longer, existing.zone) == nil
        else { return try finalizeDelete(existing.id) }
        let zone = SQLValue.integer(existing.zone.rawValue)
        try connection.run(
            "UPDATE record SET name = ? WHERE id = ?",
            [.name(longer), .integer(existing.id.rawValue)])
        try connection.run(
            "UPDATE outbox SET name = ? WHERE zone_id = ? AND name = ? AND record_id = ?",
            [.name(longer), zone, .name(change.name), .integer(existing.id.rawValue)])
        try connection.run(
            "UPDATE history SET name = ? WHERE zone_id = ? AND name = ? AND record_id = ?",
            [.name(longer), zone, .name(change.name), .integer(existing.id.rawValue)])
    }
}
