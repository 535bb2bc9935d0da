import RecordModel
import RecordSQL

/// The fields of a record that were edited here and on the server, and which edit was the later one.
///
/// By the stamps of both; for a server that keeps none, its time of the record stands for them.
struct LocalEdits {
    private let transaction: Transaction
    private let zone: ZoneID
    private let change: RemoteChange
    private let fields: [FieldName]
    private var edits: [FieldName: FieldEdit]?
    /// Fields whose local value has lost.
    private(set) var lost: [FieldName] = []

    init(
        _ transaction: Transaction, _ zone: ZoneID, _ change: RemoteChange,
        _ local: [RecordField], _ base: RecordDocument?
    ) {
        self.transaction = transaction
        self.zone = zone
        self.change = change
        fields = FieldMerge.changedFields(from: base?.fields ?? [], to: local) + [.parent]
    }

    mutating func resolve(
        _ conflict: FieldConflict
    ) throws(RecordError) -> FieldConflict.Resolution {
        if let merged = conflict.mergedLines { return .both(merged) }
        guard
            let theirs = change.stamps[conflict.name] ?? change.modified.map(FieldStamp.init(at:)),
            let mine = try edit(of: conflict.name), mine.stamp < theirs
        else { return .local }
        lost.append(conflict.name)
        return .remote
    }

    private mutating func edit(of field: FieldName) throws(RecordError) -> FieldEdit? {
        if let edits { return edits[field] }
        let edits = try transaction.lastEdits(of: fields, change.name, zone)
        self.edits = edits
        return edits[field]
    }
}
