import RecordModel
import RecordSQL

extension RecordUndoing {
    /// Takes back what a gesture has done to a record. Returns nil when that is nothing.
    ///
    /// - Parameter hasServer: whether the store belongs to an account, so that changes are sent.
    func undo(
        _ change: GestureRows.Change, hasServer: Bool
    ) throws(RecordError) -> UndoneRecord? {
        guard let (zone, isGone) = try zone(change.place.zone) else { return nil }
        let current = try current(change)
        let before = try before(change)
        let isNew = change.first.map { $0.kind == .created || $0.kind == .restored } ?? false
        if before == nil, isNew, change.isRemoval { return nil }
        var record = UndoneRecord(
            zone: zone, type: change.place.type, stem: try stem(change, current),
            effect: .none(.changedSince),
            wasSent: try hasServer ? wasSent(change, current, zone) : false)
        do throws(RecordError) {
            if isGone, zone.database == .shared {
                record.effect = .none(.notShared)
            } else if try isReadOnly(change.place, zone) {
                record.effect = .none(.readOnly)
            } else if before == nil, !isNew {
                record.effect = .none(.versionIsGone)
            } else if change.isRemoval {
                record.effect = try bringBack(change, before, current, as: record.stem)
            } else if let current {
                (record.effect, record.left) = try changeBack(change, before, current)
            } else {
                record.effect = .none(.removedSince)
            }
        } catch {
            throw RecordError(
                error.code, "\(change.place.type)/\(record.stem): \(error.message)",
                errno: error.systemErrno)
        }
        return record
    }

    // MARK: What is there

    private func zone(_ id: ZoneID) throws(RecordError) -> (ZoneInfo, isGone: Bool)? {
        try transaction.connection.first(
            "SELECT \(Columns.zone), removed FROM zone WHERE id = ?", [.integer(id.rawValue)]
        ) { ($0.zone(), $0.bool(Columns.zoneCount)) }
    }

    /// Returns the record as it is now, if it is shown in that type.
    private func current(_ change: GestureRows.Change) throws(RecordError) -> StoredRow? {
        guard
            let row = try transaction.connection.records.stored(
                named: change.place.name, change.place.zone),
            row.state == .saved
        else { return nil }
        let type = try transaction.place(row.entry.type).name
        return type == change.place.type ? row : nil
    }

    /// Returns the token of the record's version before the gesture. Nil when there was no record,
    /// or when the version is no longer kept.
    private func before(_ change: GestureRows.Change) throws(RecordError) -> Int64? {
        let last = change.first.map { $0.token - 1 } ?? .max
        return try transaction.connection.records.version(of: change.place, upTo: last)
    }

    private func stem(
        _ change: GestureRows.Change, _ current: StoredRow?
    ) throws(RecordError) -> Stem {
        if let current { return current.entry.stem }
        return try trashed(change.place)?.stem ?? Stem(encoding: change.place.name)
    }

    private func trashed(
        _ place: RecordPlace
    ) throws(RecordError) -> (id: Int64, stem: Stem)? {
        try transaction.connection.first(
            """
            SELECT id, stem FROM trash WHERE zone_id = ? AND type = ? AND name = ?
            ORDER BY id DESC LIMIT 1
            """,
            [.integer(place.zone.rawValue), .name(place.type), .name(place.name)]
        ) { ($0.int64(0), Stem(bytes: $0.bytes(1))) }
    }

    private func wasSent(
        _ change: GestureRows.Change, _ current: StoredRow?, _ zone: ZoneInfo
    ) throws(RecordError) -> Bool {
        let connection = transaction.connection
        guard zone.database.isSynced, change.waiting == nil else { return false }
        if let current, try connection.sync.baseTag(of: current.id) == nil { return false }
        return try !connection.exists(
            "SELECT 1 FROM outbox WHERE zone_id = ? AND name = ?",
            [.integer(change.place.zone.rawValue), .name(change.place.name)])
    }

    private func isReadOnly(
        _ place: RecordPlace, _ zone: ZoneInfo
    ) throws(RecordError) -> Bool {
        guard zone.permission == .mixed else { return zone.permission == .readOnly }
        let permissions = try RecordPermissions(transaction.connection, zone.id)
        return try permissions.permission(of: place.name) == .readOnly
    }

    // MARK: Taking back

    /// Brings back what the gesture has removed.
    private func bringBack(
        _ change: GestureRows.Change, _ before: Int64?, _ current: StoredRow?, as stem: Stem
    ) throws(RecordError) -> UndoneRecord.Effect {
        guard current == nil else { return .none(.nameIsTaken) }
        guard let before else { return .none(.versionIsGone) }
        let takers = try transaction.connection.records.takers(of: change.place, stem)
        guard takers.isEmpty else { return .none(.nameIsTaken) }
        // The trash has its creation and its large fields. A record that was moved away is not there,
        // but perhaps a later one of the name.
        if let trash = try trashed(change.place) {
            let isLast = try transaction.connection.exists(
                """
                SELECT 1 FROM trash t JOIN history h ON h.token = ? WHERE t.id = ? AND t.text = h.text
                """, [.integer(before), .integer(trash.id)])
            if isLast || !change.isOnlyRemoval { _ = try transaction.records.restore(trash.id) }
            if isLast { return .broughtBack }
        }
        _ = try transaction.records.restoreVersion(before)
        return .broughtBack
    }

    /// Changes back what the gesture has changed, as far as it is still there.
    private func changeBack(
        _ change: GestureRows.Change, _ before: Int64?, _ current: StoredRow
    ) throws(RecordError) -> (UndoneRecord.Effect, left: [FieldName]) {
        let hasOthers = try hasOthers(change)
        let isUntouched = hasOthers ? false : try isUntouched(change, current)
        guard let before else {
            if hasOthers { return (.none(.changedSince), []) }
            if !isUntouched, try !hasSameValues(change, current) {
                return (.none(.changedSince), [])
            }
            guard !current.entry.showsText else { return (.none(.hasDraft), []) }
            try transaction.records.beginDelete(current.id)
            try transaction.records.finalizeDelete(current.id)
            return (.removed, [])
        }
        if isUntouched {
            _ = try transaction.records.restoreVersion(before)
            return (.changed(change.fields), [])
        }
        return try changeFieldsBack(change, from: before, current)
    }

    /// Returns whether others have changed the record between two changes of the gesture. Its last
    /// version then has their values too.
    private func hasOthers(_ change: GestureRows.Change) throws(RecordError) -> Bool {
        guard let first = change.first?.token, let last = change.last?.token else { return false }
        return try transaction.connection.exists(
            """
            SELECT 1 FROM history WHERE zone_id = ?1 AND name = ?2 AND token > ?3 AND token < ?4
                AND gesture IS NOT ?5
            """,
            [
                .integer(change.place.zone.rawValue), .name(change.place.name), .integer(first),
                .integer(last), .integer(change.gesture.rawValue),
            ])
    }

    /// Returns whether the record is written as the gesture has left it. An undo and a redo write a
    /// version again.
    private func isUntouched(
        _ change: GestureRows.Change, _ current: StoredRow
    ) throws(RecordError) -> Bool {
        guard let last = change.last?.token else { return false }
        let version = try transaction.connection.first(
            "SELECT version FROM record WHERE id = ?", [.integer(current.id.rawValue)]
        ) { $0.int64(0) }
        if version == last { return true }
        let then = try transaction.connection.records.version(last)?.text
        return try then == transaction.connection.records.savedText(of: current.id)
    }

    private func hasSameValues(
        _ change: GestureRows.Change, _ current: StoredRow
    ) throws(RecordError) -> Bool {
        guard let last = change.last?.token,
            let then = try transaction.connection.records.version(last)?.text,
            let text = try transaction.connection.records.savedText(of: current.id)
        else { return false }
        let now = try transaction.records.parse(text, of: change.place.type)
        return try now.changedFields(from: transaction.records.parse(then, of: change.place.type))
            .isEmpty
    }

    /// Gives the fields that still have the gesture's values the values before it.
    private func changeFieldsBack(
        _ change: GestureRows.Change, from before: Int64, _ current: StoredRow
    ) throws(RecordError) -> (UndoneRecord.Effect, left: [FieldName]) {
        guard let last = change.last,
            let earlier = try transaction.connection.records.version(before),
            let later = try transaction.connection.records.version(last.token),
            let text = try transaction.connection.records.savedText(of: current.id)
        else { return (.none(.versionIsGone), []) }
        let old = try transaction.records.parse(earlier.text, of: change.place.type)
        let made = try transaction.records.parse(later.text, of: change.place.type)
        let now = try transaction.records.parse(text, of: change.place.type)
        let changedSince = Set(now.changedFields(from: made))
        let own = Set(made.changedFields(from: old)).intersection(change.fields)
        let left = change.fields.filter { own.contains($0) && changedSince.contains($0) }
        let fields = change.fields.filter { own.contains($0) && !changedSince.contains($0) }
        guard !fields.isEmpty else { return (.none(.changedSince), left) }
        try transaction.records.restoreFields(fields, of: current, from: (old, before), in: now)
        return (.changed(fields), left)
    }
}
