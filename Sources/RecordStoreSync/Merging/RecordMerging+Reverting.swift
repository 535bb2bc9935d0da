package import RecordModel
import RecordSQL
package import RecordStore

extension RecordMerging {
    /// Gives up a change that the server has refused. The record returns to the state that the
    /// server last reported. A record that the server never had moves to the trash, and a record
    /// whose deletion was refused comes back. The state that is given up stays in history.
    ///
    /// - Parameter change: a parked change, see `RecordStore.refusedChanges`. A change that is no
    ///   longer parked stays as it is.
    /// - Returns: whether it was given up. Errors: those of `applyRemote`.
    package func revert(_ change: OutboxRow) throws(RecordError) -> Bool {
        guard let row = try transaction.connection.sync.unclaimed(change.name, change.zone),
            row.error != nil
        else {
            return false
        }
        // If somebody has just removed the file, it comes back too.
        if let record = try transaction.connection.records.stored(row.record),
            record.state == .waitingDelete
        {
            try transaction.records.cancelDelete(record.id)
        }
        for moved in try transaction.moves.takeBackMoves(to: row.zone, row.name) {
            try giveUp(moved)
        }
        try giveUp(row)
        return true
    }

    /// Returns the record to the state that the server last reported.
    func giveUp(_ row: OutboxRow) throws(RecordError) {
        let server =
            if row.operation == .delete {
                try transaction.connection.sync.base(ofDelete: row.id)
            } else {
                try transaction.connection.sync.base(of: row.record)
            }
        let told = try server.map { (state) throws(RecordError) in
            try self.change(back: row, to: state)
        }
        try transaction.connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        let pass = try transaction.connection.sync.pass(ofBase: row.record)
        var application = try RemoteApplication(transaction, row.zone)
        _ = try application.apply(told ?? RemoteChange(deleted: row.name))
        // The feed has not reported this state.
        if let pass { try transaction.connection.sync.setPass(pass, ofBase: row.record) }
    }

    /// Returns the change that the server would report for a record in its acknowledged state.
    private func change(
        back row: OutboxRow, to state: AcknowledgedState
    ) throws(RecordError) -> RemoteChange {
        guard let document = try transaction.outbox.document(of: state, row.type),
            let text = state.text
        else {
            throw .damagedText("what the server has of \(row.name)")
        }
        var change = RemoteChange(
            type: row.type, name: row.name,
            operation: .upsert(document.fields, parent: document.parent),
            changeTag: state.changeTag)
        // If no version here has the values, their text is not known. The values are then written
        // into the present text.
        if state.version != nil { change.fileText = .text(text) }
        if row.operation == .delete {
            let made = try transaction.connection.sync.trashed(row.name, in: row.zone)
            (change.created, change.createdBy) = (made?.created, made?.createdBy ?? "")
        }
        return change
    }
}

extension SyncRows {
    /// Returns when the record that was deleted last under a name was made, and by whom.
    fileprivate func trashed(
        _ name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> (created: Timestamp, createdBy: String)? {
        try connection.first(
            """
            SELECT created, created_by FROM trash WHERE zone_id = ? AND name = ?
            ORDER BY id DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name)]
        ) { (created: $0.time(0), createdBy: $0.string(1)) }
    }

    fileprivate func setPass(_ pass: Int64, ofBase record: RecordID) throws(RecordError) {
        try connection.run(
            "UPDATE base SET pass = ? WHERE record_id = ?",
            [.integer(pass), .integer(record.rawValue)])
    }
}
