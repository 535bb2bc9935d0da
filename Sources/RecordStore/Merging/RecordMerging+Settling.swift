package import RecordModel
import RecordSQL

/// The way to settle a conflict.
package enum Settlement: Hashable, Sendable {
    /// The record stays as it is.
    case merged
    /// The fields of the conflict get the values of a side. The record is deleted if that side had
    /// deleted it.
    case side(Conflict.Side)
    /// A text that somebody made from the previous text of the record, which is nil when the record
    /// was deleted then.
    case text([UInt8], since: [UInt8]?)
}

extension RecordMerging {
    /// Ends a conflict. Changes that others have made to the record since stay. A record that was
    /// deleted since comes back, with its type and zone. The file still shows a refused text,
    /// unless that text was meant to settle the conflict.
    ///
    /// Nothing happens when the conflict was settled before and its result stays.
    ///
    /// - Throws: the errors of `save`; notFound when the conflict no longer exists; alreadyExists
    ///   when another record has the name now; unavailable for a file beside the record that is not
    ///   on this machine.
    package func settle(_ id: Int64, _ settlement: Settlement) throws(RecordError) {
        let conflict = try requireConflict(id)
        switch settlement {
        case .merged: try dropRefusedMerge(of: conflict)
        case .text(let text, let before):
            // A user who writes a file means that file, and not the files beside it.
            try save(text, since: before, for: conflict, keptFiles: .all(but: []))
        case .side(let side): try take(side, of: conflict)
        }
        try transaction.connection.run(
            "UPDATE conflict SET settled = ? WHERE id = ? AND settled IS NULL",
            [.time(transaction.now), .integer(id)])
    }

    /// Makes a settled conflict wait again.
    package func reopen(_ id: Int64) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE conflict SET settled = NULL WHERE id = ?", [.integer(id)])
    }

    /// Keeps a text that was refused for the record of a conflict. The conflict stays until another
    /// text settles it. Another draft of the record moves to the trash, because it exists nowhere
    /// else.
    package func keepDraft(
        _ text: [UInt8], of id: Int64, because error: RecordError
    ) throws(RecordError) {
        let conflict = try requireConflict(id)
        let type = try transaction.remakeType(conflict.zone, conflict.type).id
        if let there = try transaction.connection.records.stored(type, conflict.stem),
            let draft = try transaction.connection.records.draft(of: there.id), !draft.text.isEmpty,
            draft.text != text, try !isRefusedMerge(draft.text, of: conflict)
        {
            let name = there.name ?? conflict.stem.decoded ?? RecordName(bytes: conflict.stem.bytes)
            _ = try transaction.records.addTrash(
                TrashRow(there, name, try transaction.place(type), transaction.author, isOwn: true),
                draft.text)
        }
        _ = try transaction.records.saveDraft(
            text: text, type: type, stem: conflict.stem, error: error)
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO conflict_text (conflict_id, side, text, checksum)
            VALUES (?, ?, ?, ?)
            """,
            [.integer(id), .integer(Self.refusedMerge), .blob(text), .checksum(text)])
    }

    /// The `side` of a text that was refused as the merge, besides those of `Conflict.Side`.
    private static let refusedMerge: Int64 = 3

    /// Returns whether somebody wanted to settle this conflict, or another one of the record, with
    /// this draft.
    private func isRefusedMerge(
        _ text: [UInt8], of conflict: Conflict
    ) throws(RecordError) -> Bool {
        try transaction.connection.exists(
            """
            SELECT 1 FROM conflict c JOIN conflict_text t ON t.conflict_id = c.id
            WHERE c.record_id = ? AND t.side = ? AND t.text = ?
            """,
            [.integer(conflict.record.rawValue), .integer(Self.refusedMerge), .blob(text)])
    }

    /// Moves a text that was refused as the merge, and that nobody wants to correct any more, to
    /// the trash.
    private func dropRefusedMerge(of conflict: Conflict) throws(RecordError) {
        guard let record = try transaction.connection.records.stored(conflict.record),
            let name = record.name,
            let draft = try transaction.connection.records.draft(of: record.id),
            try isRefusedMerge(draft.text, of: conflict)
        else { return }
        let place = try transaction.place(record.entry.type)
        _ = try transaction.records.addTrash(
            TrashRow(record, name, place, transaction.author, isOwn: true), draft.text)
        _ = try transaction.records.discardDraft(record.id)
    }

    private func requireConflict(_ id: Int64) throws(RecordError) -> Conflict {
        guard let conflict = try transaction.connection.records.conflict(id) else {
            throw RecordError(.notFound, "The conflict is gone.")
        }
        return conflict
    }

    private func take(_ side: Conflict.Side, of conflict: Conflict) throws(RecordError) {
        let record = try savedRecord(of: conflict)
        guard let text = try transaction.connection.sync.text(of: side, in: conflict) else {
            guard let record else { return }
            return try delete(record, for: conflict)
        }
        guard let record, !conflict.fields.isEmpty,
            let current = try transaction.connection.records.savedText(of: record.id)
        else { return try save(text, since: nil, for: conflict) }
        let (taken, merged) = try (
            transaction.records.parse(text, of: conflict.type),
            transaction.records.parse(current, of: conflict.type)
        )
        let changes = conflict.fields.filter { $0 != .parent }.map { ($0, taken[$0]) }
        let hasParent = conflict.fields.contains(.parent) && taken.parent != merged.parent
        let new = merged.replacing(changes, parent: hasParent ? .some(taken.parent) : nil)
        try save(new, since: current, for: conflict)
    }

    /// Deletes the record of a conflict, because a side had deleted it. Its file still shows a
    /// refused text.
    private func delete(_ record: StoredRow, for conflict: Conflict) throws(RecordError) {
        let draft = try transaction.connection.records.draft(of: record.id)
        try transaction.records.beginDelete(record.id)
        try transaction.records.finalizeDelete(record.id)
        guard let draft, !draft.text.isEmpty, try !isRefusedMerge(draft.text, of: conflict) else {
            return
        }
        _ = try transaction.records.saveDraft(
            text: draft.text, type: draft.type, stem: draft.stem, error: draft.error)
    }

    private func save(
        _ text: [UInt8], since before: [UInt8]?, for conflict: Conflict,
        keptFiles: KeptFiles = .none
    ) throws(RecordError) {
        let type = try transaction.remakeType(conflict.zone, conflict.type).id
        let there = try transaction.connection.records.stored(type, conflict.stem)
        if let there, there.id != conflict.record, there.state == .saved {
            throw RecordError(
                .alreadyExists,
                "another record has the name \(conflict.stem) now. recordfs conflicts show --side "
                    + "prints the text of this one.")
        }
        try checkAssets(try transaction.records.parse(text, of: conflict.type), of: conflict.record)
        var kept = there
        if let there, let draft = try transaction.connection.records.draft(of: there.id),
            try isRefusedMerge(draft.text, of: conflict)
        {
            kept = nil
        }
        _ = try transaction.records.keepingDraft(of: kept) { () throws(RecordError) in
            if before == nil {
                try transaction.records.save(
                    text: text, type: type, stem: conflict.stem, keptFiles: keptFiles)
            } else {
                try saveMerging(
                    text: text, since: before, type: type, stem: conflict.stem,
                    modified: transaction.now,
                    keptFiles: keptFiles)
            }
        }
    }

    /// Returns the record of a conflict, unless it is deleted or about to be deleted.
    private func savedRecord(of conflict: Conflict) throws(RecordError) -> StoredRow? {
        guard let record = try transaction.connection.records.stored(conflict.record),
            record.state == .saved
        else {
            return nil
        }
        return record
    }

    /// Checks that the bytes of all files in a text are here, or that the record has or had them,
    /// so that the server can provide them. A text with other files could never be sent.
    private func checkAssets(
        _ document: RecordDocument, of record: RecordID
    ) throws(RecordError) {
        for expected in ExpectedAsset.all(in: document, limits: transaction.store.options.limits) {
            guard let hash = expected.value?.sha256,
                transaction.store.assets.sizeOfAsset(hash) == nil
            else {
                continue
            }
            let isKnown = try transaction.connection.exists(
                """
                SELECT 1 FROM asset WHERE record_id = ?1 AND hash = ?2
                UNION ALL
                SELECT 1 FROM history h JOIN kept_asset k ON k.holder_id = h.token AND k.holder = ?3
                WHERE h.record_id = ?1 AND k.hash = ?2
                """,
                [
                    .integer(record.rawValue), .text(hash.hex),
                    .integer(RecordWriting.Holder.history.rawValue),
                ])
            if isKnown { continue }
            throw RecordError(
                .unavailable,
                "the bytes of its file in \(expected.field) were never on this machine. Take them from "
                    + "the machine that has them, or merge without that field.")
        }
    }
}

extension SyncRows {
    func text(of side: Conflict.Side, in conflict: Conflict) throws(RecordError) -> [UInt8]? {
        try connection.first(
            "SELECT text, checksum FROM conflict_text WHERE conflict_id = ? AND side = ?",
            [.integer(conflict.id), .integer(side.rawValue)]
        ) { row throws(RecordError) in
            try row.text(0) { "a side of the conflict of \(conflict.stem)" }
        }
    }
}
