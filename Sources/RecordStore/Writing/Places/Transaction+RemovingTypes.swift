package import RecordModel
import RecordSQL
import Synchronization

extension Transaction {
    /// Removes a record type. It first completes waiting deletions of the type. Errors: notFound,
    /// notEmpty, accessDenied.
    package func removeType(_ type: TypeID) throws(RecordError) {
        let place = try author == .sync ? self.place(type) : writablePlace(type)
        let waiting = try connection.all(
            "SELECT id FROM record WHERE type_id = ? AND state = 2", [.integer(type.rawValue)]
        ) { RecordID($0.int64(0)) }
        for id in waiting { try store.finalizeDelete(self, id) }
        try requireNothing(besideWaiting: false, in: type)
        try connection.run("DELETE FROM record_type WHERE id = ?", [.integer(type.rawValue)])
        try noteRemoved(place)
    }

    /// Removes a record type for everybody who looks, and leaves the waiting deletions of its
    /// records to the end of their grace time: however many they are, an rmdir delays no save of
    /// others. No other author than the mount ever finds such a type (`RecordStore.write`). Errors:
    /// notFound, notEmpty, accessDenied.
    package func beginRemovingType(_ type: TypeID) throws(RecordError) {
        let place = try writablePlace(type)
        try requireNothing(besideWaiting: true, in: type)
        try connection.run(
            "UPDATE record_type SET removed = 1 WHERE id = ?", [.integer(type.rawValue)])
        try assets.unpin(.type(type))
        try noteRemoved(place)
        try forgetRemovedTypes()
    }

    private func requireNothing(
        besideWaiting: Bool, in type: TypeID
    ) throws(RecordError) {
        let others = besideWaiting ? "AND state != 2" : ""
        let hasRecords = try connection.exists(
            "SELECT 1 FROM record WHERE type_id = ? \(others)", [.integer(type.rawValue)])
        if hasRecords {
            throw RecordError(.notEmpty, "The record type still has records.")
        }
    }

    private func noteRemoved(_ place: TypePlace) throws(RecordError) {
        try connection.run(
            "INSERT OR IGNORE INTO past_type (zone_id, name) VALUES (?, ?)",
            [.integer(place.zone.id.rawValue), .name(place.name)])
        try touch(place.zone.id)
        placesChanged = true
        note(.typeRemoved, zone: place.zone.id, type: place.type, typeName: place.name)
    }

    /// Completes the deletions of at most this many records of removed types, and forgets the types
    /// that have no others.
    func finishRemovedTypes(records limit: Int64 = .max) throws(RecordError) {
        let waiting = try connection.all(
            """
            SELECT r.id FROM record_type t CROSS JOIN record r ON r.type_id = t.id
            WHERE t.removed = 1 AND r.state = 2 LIMIT ?
            """, [.integer(limit)]
        ) { RecordID($0.int64(0)) }
        for id in waiting { try store.finalizeDelete(self, id) }
        try forgetRemovedTypes()
        // The caller goes on while such types are left.
        if waiting.isEmpty, try hasRemovedTypes() { throw .disorder("record") }
    }

    private func hasRemovedTypes() throws(RecordError) -> Bool {
        try connection.exists("SELECT 1 FROM record_type WHERE removed = 1")
    }

    /// Deletes the rows of removed types that have no records any more. A type with a record that
    /// does not wait for its deletion is there again after the last deletion: nobody has asked for
    /// that record's deletion. While deletions wait, each question ends at the first of them.
    func forgetRemovedTypes() throws(RecordError) {
        try connection.run(
            """
            UPDATE record_type SET removed = 0 WHERE removed = 1
                AND NOT EXISTS
                    (SELECT 1 FROM record r WHERE r.type_id = record_type.id AND r.state = 2)
                AND EXISTS (SELECT 1 FROM record r WHERE r.type_id = record_type.id)
            """)
        if connection.changedRows > 0 { placesChanged = true }
        try connection.run(
            """
            DELETE FROM record_type
            WHERE removed = 1 AND NOT EXISTS (SELECT 1 FROM record r WHERE r.type_id = record_type.id)
            """)
        let isLeft = try hasRemovedTypes()
        actionsAtCommit.append { [store] in
            store.hasRemovedTypes.store(isLeft, ordering: .releasing)
        }
    }
}
