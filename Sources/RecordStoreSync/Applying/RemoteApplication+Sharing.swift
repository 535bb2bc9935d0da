import RecordModel
import RecordSQL
import RecordStore

/// Records of zones that other users share.
extension RemoteApplication {
    /// Returns whether this user has edited a missing record of a zone to whose whole content they
    /// may write. In such a zone, a missing record was deleted, and the edit wins as in any other
    /// zone. In other zones the reason is unknown: the record may only be no longer shared.
    func isEditInSharedZone(
        _ known: Known, _ change: RemoteChange
    ) throws(RecordError) -> Bool {
        guard known.isPending, known.record != nil, try pendingEdit(change.name) else {
            return false
        }
        return try connection.exists(
            """
            SELECT 1 FROM share WHERE zone_id = ? AND root IS NULL
                AND permission = \(ZoneInfo.Permission.readWrite.rawValue)
            """, [.integer(zone.rawValue)])
    }

    /// Removes a record with everything that others have written. The trash keeps the text that
    /// this user has written and that no one else has.
    func takeAway(
        _ known: Known, _ change: RemoteChange
    ) throws(RecordError) -> RemoteResult {
        guard let existing = known.record else {
            if known.isPending {
                // It was deleted here, and the server does not know of that. The trash has the
                // texts of others.
                try forgetPending(change.name)
                try transaction.sharing.eraseTraces(of: change.name, in: zone)
            }
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        let rows = try connection.all(
            "SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ? ORDER BY id",
            [.integer(zone.rawValue), .name(change.name)]
        ) { $0.outbox() }
        let isDeleted = rows.last?.operation == .delete
        if !rows.isEmpty, !isDeleted { try transaction.sharing.noteWordsOfOthers(in: zone) }
        try transaction.sharing.keepOwnDraft(of: existing, named: change.name)
        if !isDeleted, try isUnconfirmed(existing.id) {
            // The user who has taken it away may not have known the edits that the server has lost.
            try transaction.sharing.keepOwnEdits(of: existing, named: change.name)
        } else if let last = rows.last {
            try transaction.sharing.keepOwnEdit(of: last)
        }
        if known.isPending { try forgetPending(change.name) }
        let type = try transaction.place(existing.entry.type).name
        try transaction.records.finalizeDelete(existing.id)
        try transaction.sharing.eraseTraces(
            of: change.name, in: zone, stem: existing.entry.stem, type: type)
        return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
    }
}
