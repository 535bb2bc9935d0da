package import RecordModel
import RecordSQL

/// How a conflict shall end.
package enum Settlement: Hashable, Sendable {
    /// The record stays as it is.
    case merged
    /// The fields of the conflict get what a side had; the record goes where that side had deleted it.
    case side(Conflict.Side)
    /// A text that somebody made of what the record had before; nil when it was gone then.
    case text([UInt8], since: [UInt8]?)
}

extension Transaction {
    /// Ends a conflict. What others have changed in the record since stays; a record that is gone since
    /// comes back, with its type and zone. A refused text stays what the file shows, unless it was to settle
    /// the conflict.
    ///
    /// Nothing happens to one that was settled before and shall stay as it is.
    /// - Throws: those of `save`; notFound when the conflict is gone; alreadyExists when another
    ///   record has the name now; unavailable for a file beside the record that is not on this machine.
    package func settle(_ id: Int64, _ settlement: Settlement) throws(RecordError) {
        let conflict = try requireConflict(id)
        switch settlement {
        case .merged: try dropRefusedMerge(of: conflict)
        case .text(let text, let before):
            // Who writes a file means that file, and not those beside it.
            try save(text, since: before, for: conflict, keptFiles: .all(but: []))
        case .side(let side): try take(side, of: conflict)
        }
        try connection.run(
            "UPDATE conflict SET settled = ? WHERE id = ? AND settled IS NULL",
            [.time(now), .integer(id)])
    }

    /// Makes a conflict wait again that was settled.
    package func reopen(_ id: Int64) throws(RecordError) {
        try connection.run("UPDATE conflict SET settled = NULL WHERE id = ?", [.integer(id)])
    }

    /// Keeps a text that was refused for the record of a conflict, which stays, until another one settles it.
    /// Another draft that the record has goes to the trash: nobody else has that.
    package func keepDraft(
        _ text: [UInt8], of id: Int64, because error: RecordError
    ) throws(RecordError) {
        let conflict = try requireConflict(id)
        let type = try remakeType(conflict.zone, conflict.type).id
        if let there = try connection.stored(type, conflict.stem),
            let draft = try connection.draft(of: there.id), !draft.text.isEmpty,
            draft.text != text, try !isRefusedMerge(draft.text, of: conflict)
        {
            let name = there.name ?? conflict.stem.decoded ?? RecordName(bytes: conflict.stem.bytes)
            _ = try addTrash(
                TrashRow(there, name, try place(type), author, isOwn: true), draft.text)
        }
        _ = try saveDraft(text: text, type: type, stem: conflict.stem, error: error)
        try connection.run(
            """
            INSERT OR REPLACE INTO conflict_text (conflict_id, side, text, checksum)
            VALUES (?, ?, ?, ?)
            """,
            [.integer(id), .integer(Self.refusedMerge), .blob(text), .checksum(text)])
    }

    /// The `side` of a text that was refused as the merge, beside those of `Conflict.Side`.
    private static let refusedMerge: Int64 = 3

    /// Says whether a draft is what somebody wanted to settle this conflict with, or another one of the record.
    private func isRefusedMerge(
        _ text: [UInt8], of conflict: Conflict
    ) throws(RecordError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM conflict c JOIN conflict_text t ON t.conflict_id = c.id
            WHERE c.record_id = ? AND t.side = ? AND t.text = ?
            """,
            [.integer(conflict.record.rawValue), .integer(Self.refusedMerge), .blob(text)])
    }

    /// A text that was refused as the merge, and that nobody wants to correct any more, goes to the trash.
    private func dropRefusedMerge(of conflict: Conflict) throws(RecordError) {
        guard let record = try connection.stored(conflict.record), let name = record.name,
            let draft = try connection.draft(of: record.id),
            try isRefusedMerge(draft.text, of: conflict)
        else { return }
        let place = try place(record.entry.type)
        _ = try addTrash(TrashRow(record, name, place, author, isOwn: true), draft.text)
        _ = try discardDraft(record.id)
    }

    private func requireConflict(_ id: Int64) throws(RecordError) -> Conflict {
        guard let conflict = try connection.conflict(id) else {
            throw RecordError(.notFound, "The conflict is gone.")
        }
        return conflict
    }

    private func take(_ side: Conflict.Side, of conflict: Conflict) throws(RecordError) {
        let record = try savedRecord(of: conflict)
        guard let text = try connection.text(of: side, in: conflict) else {
            guard let record else { return }
            try beginDelete(record.id)
            return try finalizeDelete(record.id)
        }
        guard let record, !conflict.fields.isEmpty,
            let current = try connection.savedText(of: record.id)
        else { return try save(text, since: nil, for: conflict) }
        let (taken, merged) = try (
            parse(text, of: conflict.type), parse(current, of: conflict.type)
        )
        let changes = conflict.fields.filter { $0 != .parent }.map { ($0, taken[$0]) }
        let hasParent = conflict.fields.contains(.parent) && taken.parent != merged.parent
        let new = merged.replacing(changes, parent: hasParent ? .some(taken.parent) : nil)
        try save(new, since: current, for: conflict)
    }

    private func save(
        _ text: [UInt8], since before: [UInt8]?, for conflict: Conflict,
        keptFiles: KeptFiles = .none
    ) throws(RecordError) {
        let type = try remakeType(conflict.zone, conflict.type).id
        let there = try connection.stored(type, conflict.stem)
        if let there, there.id != conflict.record, there.state == .saved {
            throw RecordError(
                .alreadyExists,
                "another record has the name \(conflict.stem) now. recordfs conflicts show --side "
                    + "prints what this one had.")
        }
        try checkAssets(try parse(text, of: conflict.type), of: conflict.record)
        var kept = there
        if let there, let draft = try connection.draft(of: there.id),
            try isRefusedMerge(draft.text, of: conflict)
        {
            kept = nil
        }
        _ = try keepingDraft(of: kept) { () throws(RecordError) in
            if before == nil {
                try save(text: text, type: type, stem: conflict.stem, keptFiles: keptFiles)
            } else {
                try saveMerging(
                    text: text, since: before, type: type, stem: conflict.stem, modified: now,
                    keptFiles: keptFiles)
            }
        }
    }

    /// The record of a conflict, unless it is gone or about to go.
    private func savedRecord(of conflict: Conflict) throws(RecordError) -> StoredRecord? {
        guard let record = try connection.stored(conflict.record), record.state == .saved else {
            return nil
        }
        return record
    }

    /// Checks that the bytes of all files that a text names are here, or the record has or had them, so that the server
    /// can give them: a text that names others could never be sent.
    private func checkAssets(
        _ document: RecordDocument, of record: RecordID
    ) throws(RecordError) {
        for expected in ExpectedAsset.all(in: document, limits: store.options.limits) {
            guard let hash = expected.value?.sha256, store.sizeOfAsset(hash) == nil else {
                continue
            }
            let isKnown = try connection.exists(
                """
                SELECT 1 FROM asset WHERE record_id = ?1 AND hash = ?2
                UNION ALL
                SELECT 1 FROM history h JOIN kept_asset k ON k.holder_id = h.token AND k.holder = ?3
                WHERE h.record_id = ?1 AND k.hash = ?2
                """,
                [
                    .integer(record.rawValue), .text(hash.hex),
                    .integer(Holder.history.rawValue),
                ])
            if isKnown { continue }
            throw RecordError(
                .unavailable,
                "the bytes of its file in \(expected.field) were never on this machine. Take them from "
                    + "the machine that has them, or merge without that field.")
        }
    }
}

extension SQLConnection {
    func text(of side: Conflict.Side, in conflict: Conflict) throws(RecordError) -> [UInt8]? {
        try first(
            "SELECT text, checksum FROM conflict_text WHERE conflict_id = ? AND side = ?",
            [.integer(conflict.id), .integer(side.rawValue)]
        ) { row throws(RecordError) in
            try row.text(0) { "a side of the conflict of \(conflict.stem)" }
        }
    }
}
