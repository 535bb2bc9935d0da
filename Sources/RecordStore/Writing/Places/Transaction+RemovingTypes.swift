package import RecordModel
import RecordSQL

extension Transaction {
    /// Removes a record type. It first completes waiting deletions of the type. Errors: notFound,
    /// notEmpty.
    package func removeType(_ type: TypeID) throws(RecordError) {
        let place = try author == .sync ? self.place(type) : writablePlace(type)
        let waiting = try connection.all(
            "SELECT id FROM record WHERE type_id = ? AND state = 2", [.integer(type.rawValue)]
        ) { RecordID($0.int64(0)) }
        for id in waiting { try records.finalizeDelete(id) }
        let isEmpty = try connection.first(
            "SELECT NOT EXISTS (SELECT 1 FROM record WHERE type_id = ?)",
            [.integer(type.rawValue)]
        ) { $0.bool(0) }
        guard isEmpty == true else {
            throw RecordError(.notEmpty, "The record type still has records.")
        }
        try connection.run("DELETE FROM record_type WHERE id = ?", [.integer(type.rawValue)])
        try connection.run(
            "INSERT OR IGNORE INTO past_type (zone_id, name) VALUES (?, ?)",
            [.integer(place.zone.id.rawValue), .name(place.name)])
        try touch(place.zone.id)
        placesChanged = true
        note(.typeRemoved, zone: place.zone.id, type: type)
    }
}
