import RecordModel
import RecordStore

/// The state of a record in words, for extended attributes and `.recordfs/meta`.
final class RecordStates: Sendable {
    let places: TypeDirectories
    let store: RecordStore

    init(places: TypeDirectories, store: RecordStore) {
        self.places = places
        self.store = store
    }

    /// Returns the value of `user.recordfs.state`: the state that is most important for the user.
    func stateName(of meta: RecordMeta) throws(RecordError) -> String {
        if try store.draft(of: meta.id) != nil { return "draft" }
        if try !places.place(of: meta.type).zone.database.isSynced { return "local" }
        if meta.refusal != nil { return "refused" }
        if meta.hasConflict { return "conflict" }
        return meta.isPending ? "pending" : "synced"
    }

    /// Returns the reason why the last save of a record, or its upload, was refused.
    func errorText(of meta: RecordMeta) throws(RecordError) -> String? {
        if let draft = try store.draft(of: meta.id) { return "\(draft.error)" }
        return meta.refusal
    }
}

extension RecordMeta {
    var permissionName: String { permission == .readWrite ? "READ_WRITE" : "READ_ONLY" }
}
