package import RecordModel
import RecordSQL

/// The fields of a record that were edited here and on the server, and which edit was the later
/// one.
///
/// The stamps of both edits decide. An edit wins against a removal of the field, and also against a
/// deletion of the record. A value that a record was made with, and that the server has
/// acknowledged, is older than any value with a stamp, because the author of the stamped value had
/// seen the record. The server has no stamp for a field that was never edited since its record was
/// made, and none for the parent. There the value that reaches the server later wins: the local
/// one. Only the clocks of the stamps decide, so it does not matter whether other clocks are right.
package struct LocalEdits {
    private let transaction: Transaction
    private let zone: ZoneID
    private let change: RemoteChange
    private let local: RecordDocument
    private let base: RecordDocument?
    /// The state that the server had acknowledged before somebody deleted the record there.
    private let ancestor: RecordDocument?
    private var edits: [FieldName: FieldEdit]?
    /// Fields whose local value has lost.
    package private(set) var lost: [FieldName] = []
    /// Fields whose local value has won, with its stamp.
    private(set) var won: [FieldName: FieldStamp] = [:]
    /// Fields that keep the lines of both sides.
    package private(set) var mergedLines: Set<FieldName> = []

    package init(
        _ transaction: Transaction, _ zone: ZoneID, _ change: RemoteChange,
        _ local: RecordDocument, since base: RecordDocument?, orElse ancestor: RecordDocument?
    ) {
        self.transaction = transaction
        self.zone = zone
        self.change = change
        self.local = local
        self.base = base
        self.ancestor = ancestor
    }

    package mutating func resolve(
        _ conflict: FieldConflict
    ) throws(RecordError) -> FieldConflict.Resolution {
        if let merged = conflict.mergedLines {
            mergedLines.insert(conflict.name)
            return .both(merged)
        }
        if conflict.name == .parent { return .local }
        if conflict.local == nil { return takeRemote(conflict.name) }
        let mine = try edit(of: conflict.name)
        if conflict.remote != nil, let mine, isEarlier(mine, conflict.name) {
            return takeRemote(conflict.name)
        }
        // Nobody has lost a value in a field that was removed there.
        if conflict.remote != nil, let mine { won[conflict.name] = mine.stamp }
        return .local
    }

    private func isEarlier(_ mine: FieldEdit, _ field: FieldName) -> Bool {
        guard let stamp = change.stamps[field] else {
            return change.unstamped.map { mine.stamp < $0 } ?? false
        }
        if mine.author == .sync, !mine.isExact { return true }
        if mine.isOfCreation, isAsAcknowledged(field) { return true }
        return mine.stamp < stamp
    }

    /// Returns whether nobody here has changed a field since the server acknowledged it, for a
    /// record that was deleted there.
    package func isAsAcknowledged(_ field: FieldName) -> Bool {
        guard let ancestor, let value = local[field] else { return false }
        return FieldMerge.isSame(value, ancestor[field])
    }

    /// Returns whether a field that has the base's value on the server was given it after the edit
    /// here: somebody who had that edit has set it back.
    package mutating func isLaterThere(_ field: FieldName) throws(RecordError) -> Bool {
        guard let theirs = change.stamps[field], let mine = try edit(of: field) else {
            return false
        }
        return mine.stamp < theirs
    }

    /// Returns the fields whose values, or lines of them, came from this machine and that have
    /// other values now, because another machine has merged two edits: the edit from here lost, or
    /// an edit that was built on it.
    ///
    /// - Parameters:
    ///   - fields: the fields that get the server's values, and that only the server has changed.
    ///   - remote: those values.
    package func lostElsewhere(
        _ fields: [FieldName], to remote: RecordDocument
    ) throws(RecordError) -> [FieldName] {
        let fields = fields.filter {
            local[$0] != nil && change.stamps[$0]?.losers.isEmpty == false
        }
        let edits = try transaction.merging.lastEdits(of: fields, change.name, zone)
        var lost: [FieldName] = []
        for field in fields {
            guard let mine = edits[field], let losers = change.stamps[field]?.losers else {
                continue
            }
            var isLost = isAmong(losers, mine, field)
            if !isLost { isLost = try hasLinesAmong(losers, mine, field, to: remote) }
            if isLost { lost.append(field) }
        }
        return lost
    }

    private func isAmong(_ losers: [LostEdit], _ mine: FieldEdit, _ field: FieldName) -> Bool {
        guard mine.author != .sync else { return false }
        return losers.contains(LostEdit(mine.stamp))
            || local[field].map { losers.contains(LostEdit($0)) } ?? false
    }

    /// Returns whether an edit lost that is not known here, and with it lines that this machine's
    /// user wrote. A text is merged by its lines, but loses as a whole.
    private func hasLinesAmong(
        _ losers: [LostEdit], _ mine: FieldEdit, _ field: FieldName, to remote: RecordDocument
    ) throws(RecordError) -> Bool {
        guard losers.contains(where: { !mine.stamp.losers.contains($0) }) else { return false }
        return try transaction.merging.hasOwnLines(
            of: field, change.name, zone, in: local[field], goneFrom: remote[field])
    }

    private mutating func takeRemote(_ field: FieldName) -> FieldConflict.Resolution {
        lost.append(field)
        return .remote
    }

    private mutating func edit(of field: FieldName) throws(RecordError) -> FieldEdit? {
        if let edits { return edits[field] }
        let fields = FieldMerge.changedFields(from: base?.fields ?? [], to: local.fields)
        let edits = try transaction.merging.lastEdits(of: fields, change.name, zone)
        self.edits = edits
        return edits[field]
    }
}
