import RecordModel
import RecordSQL

/// The fields of a record that were edited here and on the server, and which edit was the later one.
///
/// By the stamps of both. An edit wins against a removal of the field, as it does against that of the
/// record. Where the server has no stamp, of a field that was never edited since its record was made and
/// of the parent, what arrives there later stands: the local one. No clock but those of the stamps has a
/// say, so that it does not matter whether they go right.
struct LocalEdits {
    private let transaction: Transaction
    private let zone: ZoneID
    private let change: RemoteChange
    private let local: RecordDocument
    private let base: RecordDocument?
    private var edits: [FieldName: FieldEdit]?
    /// Fields whose local value has lost.
    private(set) var lost: [FieldName] = []

    init(
        _ transaction: Transaction, _ zone: ZoneID, _ change: RemoteChange,
        _ local: RecordDocument, since base: RecordDocument?
    ) {
        self.transaction = transaction
        self.zone = zone
        self.change = change
        self.local = local
        self.base = base
    }

    mutating func resolve(
        _ conflict: FieldConflict
    ) throws(RecordError) -> FieldConflict.Resolution {
        if let merged = conflict.mergedLines { return .both(merged) }
        if conflict.name == .parent { return .local }
        if conflict.local == nil { return takeRemote(conflict.name) }
        guard conflict.remote != nil,
            let theirs = change.stamps[conflict.name] ?? change.unstamped,
            let mine = try edit(of: conflict.name), mine.stamp < theirs
        else { return .local }
        return takeRemote(conflict.name)
    }

    /// Whether a field that has the base's value there was given it after the edit here: somebody who
    /// had that edit has set it back.
    mutating func isLaterThere(_ field: FieldName) throws(RecordError) -> Bool {
        guard let theirs = change.stamps[field], let mine = try edit(of: field) else {
            return false
        }
        return mine.stamp < theirs
    }

    private mutating func takeRemote(_ field: FieldName) -> FieldConflict.Resolution {
        lost.append(field)
        return .remote
    }

    private mutating func edit(of field: FieldName) throws(RecordError) -> FieldEdit? {
        if let edits { return edits[field] }
        let fields = FieldMerge.changedFields(from: base?.fields ?? [], to: local.fields)
        let edits = try transaction.lastEdits(of: fields, change.name, zone)
        self.edits = edits
        return edits[field]
    }
}
