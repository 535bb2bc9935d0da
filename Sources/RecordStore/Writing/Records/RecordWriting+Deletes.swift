package import RecordModel
package import RecordSQL

extension RecordWriting {
    /// Hides a record until it comes back or the deletion becomes final. A draftOnly record is
    /// removed at once, except asset files that arrived before it: nobody has asked for their
    /// removal, and they wait for a record with the name. Nothing happens when the record already
    /// waits for its deletion. Errors: notFound, accessDenied.
    package func beginDelete(_ id: RecordID) throws(RecordError) {
        try beginDelete(try requireRecord(id))
    }

    /// Does the same for the record that is shown under a name. Returns nil when there is none.
    package func beginDelete(_ stem: Stem, in type: TypeID) throws(RecordError) -> RecordEntry? {
        guard let record = try transaction.connection.records.stored(type, stem),
            !record.entry.isHidden
        else {
            return nil
        }
        try beginDelete(record)
        return record.entry
    }

    private func beginDelete(_ record: StoredRow) throws(RecordError) {
        let id = record.id
        _ = try transaction.writablePlace(of: record)
        switch record.state {
        case .waitingDelete: return
        case .draftOnly:
            try replaceFile(of: record, .removed)
            if record.entry.hasAssets, try !transaction.connection.records.assets(of: id).isEmpty {
                _ = try beginAwaiting(record)
                return
            }
            try removeRows(of: record)
        case .saved:
            let isOther = try noteReplacedFile(of: record, .removed)
            if record.entry.hasDraft { try showSavedText(record) }
            try transaction.connection.run(
                Self.wait,
                [
                    .integer(id.rawValue), .time(transaction.now),
                    .integer(isOther ? RecordFlags.incarnation : 0), .time(transaction.changed),
                    .optional(try transaction.gesture()?.rawValue),
                ])
        }
        try transaction.touch(record.entry.type)
        transaction.note(
            .waiting, zone: record.zone, type: record.entry.type, record: id,
            stem: record.entry.stem,
            waitingAssets: record.entry.hasAssets
                ? try transaction.connection.records.assets(of: id) : [])
    }

    private static let wait = """
        UPDATE record SET state = 2, waiting_since = ?2, flags = flags + ?3, \(Columns.changed("?4")),
            gesture = ?5
        WHERE id = ?1
        """

    /// Returns the gesture that has removed a record whose deletion waits.
    private func gesture(removing record: StoredRow) throws(RecordError) -> GestureID? {
        guard record.state == .waitingDelete else { return nil }
        let gesture = try transaction.connection.first(
            "SELECT gesture FROM record WHERE id = ?", [.integer(record.id.rawValue)]
        ) { $0.int64IfPresent(0) }
        return (gesture ?? nil).map { GestureID($0) }
    }

    /// Ends the deletion, so that the record is as before. Nothing happens when it does not wait
    /// for its deletion.
    package func cancelDelete(_ id: RecordID) throws(RecordError) {
        let record = try requireRecord(id)
        guard record.state == .waitingDelete else { return }
        try transaction.connection.run(
            "UPDATE record SET state = 0, waiting_since = NULL WHERE id = ?",
            [.integer(id.rawValue)])
        try transaction.touch(record.entry.type)
        transaction.note(
            .restored, zone: record.zone, type: record.entry.type, record: id,
            stem: record.entry.stem)
    }

    /// Writes trash, history and outbox, and deletes the record. A record that is only a draft goes
    /// without a trace. Errors: notFound.
    package func finalizeDelete(_ id: RecordID) throws(RecordError) {
        Failpoint.pass(.finalDeleteBegin)
        let record = try requireRecord(id)
        if record.state != .waitingDelete { _ = try noteReplacedFile(of: record, .removed) }
        guard let name = record.name, record.state != .draftOnly else {
            try removeRows(of: record)
            try transaction.touch(record.entry.type)
            transaction.note(
                .deleted, zone: record.zone, type: record.entry.type, record: id,
                stem: record.entry.stem)
            return
        }
        let place = try transaction.placeUntilFinal(record.entry.type)
        let hasMoves = try transaction.connection.hasMoves()
        if hasMoves {
            // Nothing waits any longer for a copy that was moved here and that the server has, or
            // that nobody wants.
            let isKnown = try transaction.connection.sync.baseTag(of: id) != nil
            if transaction.author != .sync || isKnown {
                try transaction.moves.forgetMoves(to: name, record.zone)
            }
        }
        if record.state == .waitingDelete {
            // Otherwise somebody has removed it elsewhere, or it has moved.
            try transaction.asConsequence { () throws(RecordError) in
                try transaction.links.followDeletion(of: record, name, in: place)
            }
        }
        try putInTrash(record, name, place)
        try transaction.sharing.keepUnsentEdit(of: record, named: name, place)
        Failpoint.pass(.finalDeleteTrashed)
        let token = try addHistory(
            .deleted, id, name, record.generation, place, fields: [], text: [], hasAssets: false,
            gesture: try gesture(removing: record))
        try transaction.outbox.enqueue(.delete, id, name, record.generation, place)
        if hasMoves, transaction.author != .sync {
            try transaction.moves.noteMove(ofRenamed: record, name)
        }
        try removeRows(of: record)
        if record.state != .waitingDelete { try transaction.touch(record.entry.type) }
        transaction.pointsAfterCommit.append(.finalDeleteCommitted)
        transaction.note(
            .deleted, zone: record.zone, type: record.entry.type, record: id,
            stem: record.entry.stem, token: token)
        try nameWent(name, place)
    }

    private func putInTrash(
        _ record: StoredRow, _ name: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        let entry = try addTrash(
            TrashRow(record, name, place, transaction.author),
            content: "text, checksum FROM saved_text WHERE record_id = ?",
            [.integer(record.id.rawValue)])
        if record.entry.hasAssets { try keepAssets(of: record.id, holder: .trash, entry) }
    }

    /// Adds a row to the trash.
    ///
    /// - Parameter content: an SQL expression for text and checksum, with its values.
    /// - Returns: the entry's number.
    package func addTrash(
        _ row: TrashRow, content: String, _ values: [SQLValue]
    ) throws(RecordError) -> Int64 {
        try transaction.connection.run(
            """
            INSERT INTO trash
                (zone_id, type, name, stem, created, created_by, deleted, author, is_own, text,
                checksum)
            SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, \(content)
            """,
            [
                .integer(row.zone.rawValue), .name(row.type), .name(row.name), .name(row.stem),
                .time(row.created), .text(row.createdBy), .time(transaction.now),
                .text(row.author.rawValue),
                .integer(row.isOwn ? 1 : 0),
            ] + values)
        return transaction.connection.lastInsertedRow
    }

    /// Adds a row to the trash with a text that the caller has.
    package func addTrash(_ row: TrashRow, _ text: [UInt8]) throws(RecordError) -> Int64 {
        try addTrash(row, content: "?, ?", [.blob(text), .checksum(text)])
    }

    /// Removes all rows that belong only to the record. Rows that refer to its row are deleted
    /// first.
    func removeRows(of record: StoredRow) throws(RecordError) {
        let value: [SQLValue] = [.integer(record.id.rawValue)]
        try transaction.links.noteRemoved(record)
        if record.entry.hasAssets {
            for asset in try transaction.connection.records.assets(of: record.id) {
                transaction.assets.noteFormer(asset, isGone: true)
            }
            try transaction.connection.run("DELETE FROM asset WHERE record_id = ?", value)
        }
        if record.entry.hasDraft {
            try transaction.connection.run("DELETE FROM draft WHERE record_id = ?", value)
        }
        try transaction.connection.run("DELETE FROM refusal WHERE record_id = ?", value)
        try transaction.connection.run("DELETE FROM base WHERE record_id = ?", value)
        try transaction.connection.run("DELETE FROM record_text WHERE record_id = ?", value)
        try transaction.connection.run("DELETE FROM record WHERE id = ?", value)
    }
}

/// The data about a text in the trash.
package struct TrashRow {
    let zone: ZoneID
    let type: RecordTypeName
    let name: RecordName
    let stem: Stem
    let created: Timestamp
    let createdBy: String
    let author: Author
    /// Indicates whether this user has written all of it. The end of a share leaves such a text.
    let isOwn: Bool
}

extension TrashRow {
    package init(
        _ record: StoredRow, _ name: RecordName, _ place: TypePlace, _ author: Author,
        isOwn: Bool = false
    ) {
        self.init(
            zone: record.zone, type: place.name, name: name, stem: record.entry.stem,
            created: record.entry.created, createdBy: record.createdBy, author: author,
            isOwn: isOwn)
    }
}
