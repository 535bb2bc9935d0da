import RecordModel
import RecordSQL

/// Records of zones that others share.
extension RemoteApplication {
    /// Whether this user has edited a record that is gone, where the whole zone is his to write to. There,
    /// what is gone was deleted, and the edit wins as in any other zone. Else nobody can tell: the record
    /// may just be shared no longer.
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

    /// Whether the server has the text of a file, which was sent, and shows it to nobody here: the record
    /// hangs on one that is not shared, which the text of its owner names.
    func isTextHidden(_ isAcknowledged: Bool, _ text: TextOnServer?) -> Bool {
        isOfOthers && isAcknowledged && text == .sent
    }

    /// It goes, with all that others have written; what this user has written and nobody has got is in
    /// the trash.
    func takeAway(
        _ known: Known, _ change: RemoteChange
    ) throws(RecordError) -> RemoteResult {
        guard let existing = known.record else {
            if known.isPending {
                // Deleted here, and nobody has heard of it: the trash has what others have written.
                try forgetPending(change.name)
                try transaction.eraseTraces(of: change.name, in: zone)
            }
            return RemoteResult(outcome: .absent, id: nil, conflicts: [])
        }
        let rows = try connection.all(
            "SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? AND name = ? ORDER BY id",
            [.integer(zone.rawValue), .name(change.name)]
        ) { $0.outbox() }
        let isDeleted = rows.last?.operation == .delete
        if !rows.isEmpty, !isDeleted { try transaction.noteWordsOfOthers(in: zone) }
        try transaction.keepOwnDraft(of: existing, named: change.name)
        if !isDeleted, try isUnconfirmed(existing.id) {
            // Whoever has taken it away may not have known what the server has lost of it.
            try transaction.keepOwnEdits(of: existing, named: change.name)
        } else if let last = rows.last {
            try transaction.keepOwnEdit(of: last)
        }
        if known.isPending { try forgetPending(change.name) }
        let type = try transaction.place(existing.entry.type).name
        try transaction.finalizeDelete(existing.id)
        try transaction.eraseTraces(
            of: change.name, in: zone, stem: existing.entry.stem, type: type)
        return RemoteResult(outcome: .deleted, id: existing.id, conflicts: [])
    }
}
