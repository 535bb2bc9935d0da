package import RecordModel
import RecordSQL

extension Transaction {
    /// Gives up a change that the server has refused: the record is again as the server last told of
    /// it; one that the server never had goes into the trash, and one whose deletion was refused is
    /// back. What is given up stays in history.
    ///
    /// - Parameter change: a parked one, see `RecordStore.parkedChanges`. One that is none any more
    ///   stays as it is.
    /// - Returns: whether it was given up. Errors: those of `applyRemote`.
    package func revert(_ change: OutboxRow) throws(RecordError) -> Bool {
        guard let row = try connection.unclaimed(change.name, change.zone), row.error != nil else {
            return false
        }
        // Somebody has just removed the file: it is back, too.
        if let record = try connection.stored(row.record), record.state == .waitingDelete {
            try cancelDelete(record.id)
        }
        for moved in try takeBackMoves(to: row.zone, row.name) { try giveUp(moved) }
        try giveUp(row)
        return true
    }

    /// The record is again as the server last told of it.
    func giveUp(_ row: OutboxRow) throws(RecordError) {
        let server =
            if row.operation == .delete { try connection.base(ofDelete: row.id) } else {
                try connection.base(of: row.record)
            }
        let told = try server.map { (state) throws(RecordError) in
            try self.change(back: row, to: state)
        }
        try connection.run("DELETE FROM outbox WHERE id = ?", [.integer(row.id)])
        let pass = try connection.pass(ofBase: row.record)
        var application = try RemoteApplication(self, row.zone)
        _ = try application.apply(told ?? RemoteChange(deleted: row.name))
        // The feed has told nothing of it.
        if let pass { try connection.setPass(pass, ofBase: row.record) }
    }

    /// What the server would tell of a record that is as it was acknowledged.
    private func change(
        back row: OutboxRow, to state: AcknowledgedState
    ) throws(RecordError) -> RemoteChange {
        guard let document = try document(of: state, row.type), let text = state.text else {
            throw .damagedText("what the server has of \(row.name)")
        }
        var change = RemoteChange(
            type: row.type, name: row.name,
            operation: .upsert(document.fields, parent: document.parent),
            changeTag: state.changeTag)
        // Of values that no version here has the text is not known: they stand in the one that is here.
        if state.version != nil { change.fileText = .text(text) }
        if row.operation == .delete {
            let made = try connection.trashed(row.name, in: row.zone)
            (change.created, change.createdBy) = (made?.created, made?.createdBy ?? "")
        }
        return change
    }
}

extension SQLConnection {
    /// When the record was made that was deleted last under a name, and by whom.
    fileprivate func trashed(
        _ name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> (created: Timestamp, createdBy: String)? {
        try first(
            """
            SELECT created, created_by FROM trash WHERE zone_id = ? AND name = ?
            ORDER BY id DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name)]
        ) { (created: $0.time(0), createdBy: $0.string(1)) }
    }

    fileprivate func setPass(_ pass: Int64, ofBase record: RecordID) throws(RecordError) {
        try run(
            "UPDATE base SET pass = ? WHERE record_id = ?",
            [.integer(pass), .integer(record.rawValue)])
    }
}
