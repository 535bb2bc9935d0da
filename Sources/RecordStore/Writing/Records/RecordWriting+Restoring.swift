package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Brings a record back from the trash, with its type and zone if they no longer exist.
    ///
    /// - Parameters:
    ///   - stem: the name of its file; the one that it had when nil.
    ///   - replacing: whether a record with that file name is replaced by the content of the trash;
    ///     otherwise it stays, and this is alreadyExists.
    ///
    /// - Throws: notFound, also for a zone that is no longer shared; alreadyExists; invalidName;
    ///   accessDenied.
    package func restore(
        _ trash: Int64, as stem: Stem? = nil, replacing: Bool = false
    ) throws(RecordError) -> RecordEntry {
        let row = try transaction.connection.first(
            "SELECT \(Columns.trash), text, checksum, created, created_by FROM trash WHERE id = ?",
            [.integer(trash)]
        ) { row throws(RecordError) in
            (row.trash(), try row.trashText(8), row.time(10), row.string(11))
        }
        guard let (entry, text, created, createdBy) = row else {
            throw RecordError(.notFound, "It is not in the trash.")
        }
        let place = try transaction.writablePlace(
            try transaction.remakeType(entry.zone, entry.type).id)
        let own = try self.stem(of: entry.name, in: place)
        var new = NewState(text: text, place: place, stem: stem ?? own)
        new.kind = .restored
        if replacing { new.effect = .renamedOver }
        new.created = created
        new.createdBy = createdBy
        new.knownAssets = try keptAssets(.trash, trash)
        if new.stem == own { new.name = entry.name }
        let replaced = try makeRoom(for: new, replacing: replacing)
        try transaction.checkWritable(replaced, saying: text, as: new.stem, in: place)
        let result: SaveResult
        if let replaced, replaced.state == .saved {
            result = try update(replaced, to: new)
        } else {
            result = try create(new, over: replaced, id: nil)
        }
        try removeTrash(trash)
        return result.entry
    }

    /// Ends waiting deletions of the names that a restored record takes. Returns the record that it
    /// replaces. Errors: alreadyExists.
    private func makeRoom(
        for new: NewState, replacing: Bool
    ) throws(RecordError) -> StoredRow? {
        let place = new.place
        var replaced: StoredRow?
        if let there = try transaction.connection.records.stored(place.type, new.stem) {
            if let name = new.name, let other = there.name, other != name {
                // The record there has this stem only while the restored record does not exist.
                _ = try freeStem(for: name, place)
            } else if there.state == .waitingDelete {
                try finalizeDelete(there.id)
            } else {
                guard replacing || there.entry.isAwaited else { throw .isThereAlready(there) }
                if !replacing { try checkHeld(by: there, new) }
                replaced = there
            }
        }
        guard let name = new.name else { return replaced }
        if let other = try transaction.connection.records.stored(named: name, place.zone.id),
            other.id != replaced?.id
        {
            guard other.state == .waitingDelete else { throw .isThereAlready(other) }
            try finalizeDelete(other.id)
        }
        guard try !transaction.connection.records.isOutgoing(name, otherThan: place) else {
            throw RecordError(
                .alreadyExists,
                "a record of another type with the name \(name) was deleted here, and the server "
                    + "does not know that yet. Run recordfs sync, then restore again.")
        }
        return replaced
    }

    /// Checks that the restored record replaces no files that wait for a record or belong to a
    /// draft, because they exist nowhere else.
    private func checkHeld(by record: StoredRow, _ new: NewState) throws(RecordError) {
        let own = Set(new.knownAssets.map { AssetPosition(field: $0.field, index: $0.index) })
        let same = try transaction.connection.records.assets(of: record.id).first {
            own.contains(AssetPosition($0))
        }
        guard let same else { return }
        throw RecordError(
            .alreadyExists,
            "\(Text(utf8: same.fileName)) is there already; move it first.")
    }

    /// Makes a version of history the record's present state, creating the record if necessary. The
    /// file still shows a refused text over the version, because that text exists nowhere else.
    /// Errors: notFound, also for a version that is a deletion; accessDenied; alreadyExists for an
    /// asset. Its type and zone are made again when they do not exist.
    package func restoreVersion(_ token: Int64) throws(RecordError) -> RecordEntry {
        guard let version = try transaction.connection.records.version(token),
            version.kind != .deleted
        else {
            throw RecordError(.notFound, "There is no such version.")
        }
        let existing = try transaction.connection.records.stored(named: version.name, version.zone)
        let type: TypeID
        if let existing {
            type = existing.entry.type
        } else {
            type = try transaction.remakeType(version.zone, version.type).id
        }
        let place = try transaction.writablePlace(type)
        let (stem, draft) =
            if let existing { (existing.entry.stem, StoredRow?.some(existing)) } else {
                try freeStem(for: version.name, place)
            }
        try transaction.checkWritable(existing, saying: version.text, as: stem, in: place)
        var new = NewState(text: version.text, place: place, stem: stem)
        new.kind = .restored
        new.knownAssets = try keptAssets(.history, token)
        if let existing, existing.state != .draftOnly {
            return try bringing(new, under: existing) { (new) throws(RecordError) in
                try update(existing, to: new)
            }
        }
        new.name = version.name
        if let draft { try checkHeld(by: draft, new) }
        return try bringing(new, under: draft) { (new) throws(RecordError) in
            try create(new, over: draft, id: nil)
        }
    }

    /// Gives some fields of a record the values that they have in an earlier version, and leaves the
    /// others as they are.
    ///
    /// - Parameters:
    ///   - earlier: the version with its token.
    ///   - present: the record's present values.
    func restoreFields(
        _ fields: [FieldName], of record: StoredRow, from earlier: (RecordDocument, token: Int64),
        in present: RecordDocument
    ) throws(RecordError) {
        let place = try transaction.writablePlace(record.entry.type)
        let values = fields.filter { $0 != .parent }.map { ($0, earlier.0[$0]) }
        let text =
            fields.contains(.parent)
            ? present.replacing(values, parent: .some(earlier.0.parent))
            : present.replacing(values)
        try transaction.checkWritable(record, saying: text, as: record.entry.stem, in: place)
        var new = NewState(text: text, place: place, stem: record.entry.stem)
        new.kind = .restored
        new.knownAssets = try keptAssets(.history, earlier.token).filter {
            fields.contains($0.field)
        }
        _ = try bringing(new, under: record) { (new) throws(RecordError) in
            try update(record, to: new)
        }
    }

    /// Saves the restored state below the refused text that the record's file shows. An empty
    /// refused text contains nothing, because no save ever arrived.
    private func bringing(
        _ new: NewState, under record: StoredRow?,
        _ save: (NewState) throws(RecordError) -> SaveResult
    ) throws(RecordError) -> RecordEntry {
        guard let record, record.entry.showsText else { return try save(new).entry }
        var new = new
        new.effect = .inPlace
        let saved = try keepingDraft(of: record) { () throws(RecordError) in try save(new) }
        return try requireEntry(saved.id)
    }

    /// Deletes an entry for good.
    package func removeTrash(_ trash: Int64) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM kept_asset WHERE holder = ? AND holder_id = ?",
            [.integer(Holder.trash.rawValue), .integer(trash)])
        try transaction.connection.run("DELETE FROM trash WHERE id = ?", [.integer(trash)])
    }
}

extension RecordEntry {
    /// Indicates whether the file shows a refused text.
    var showsText: Bool { hasDraft && size > 0 }
}

extension RecordError {
    fileprivate static func isThereAlready(_ record: StoredRow) -> RecordError {
        RecordError(
            .alreadyExists, "\(record.entry.stem).json is there already; move it first.")
    }
}
