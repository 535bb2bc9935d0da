import RecordModel
import RecordStore
import Synchronization

/// The entries of the trash.
///
/// When several records were deleted under one name, the last one has the plain name.
final class TrashEntries: Sendable {
    let store: RecordStore
    private let removals = Mutex(TrashRemovals())

    init(_ ground: Ground) {
        store = ground.store
    }

    func names(in zone: ZoneID, _ type: RecordTypeName) throws(RecordError)
        -> [ControlName]
    {
        var taken: Set<Stem> = []
        let removed = removals.withLock(\.ids)
        // The newest entry is first.
        return try store.past.trash(in: zone, type: type).filter { !removed.contains($0.id) }.map {
            entry in
            let isLast = taken.insert(entry.stem).inserted
            let name = isLast ? entry.stem.fileName : NumberedName.make(entry.stem, entry.id)
            return ControlName(name, .trashed(entry.id))
        }
    }

    func find(_ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName)
        throws(RecordError) -> ControlPath?
    {
        switch NumberedName(name) {
        case .plain(let stem):
            var last = try store.past.lastTrashed(in: zone, type: type, stem)
            if let entry = last, isRemoved(entry.id) {
                // The entry before the removed one has the plain name now.
                try finishRemovals()
                last = try store.past.lastTrashed(in: zone, type: type, stem)
            }
            return last.map { .trashed($0.id) }
        case .numbered(let id):
            guard !isRemoved(id), let entry = try store.past.trashEntry(id), entry.zone == zone,
                entry.type == type,
                NumberedName.make(entry.stem, id) == name
            else { return nil }
            return .trashed(id)
        case nil: return nil
        }
    }

    /// Deletes an entry for good, now or together with others.
    func remove(_ id: Int64) throws(RecordError) {
        if removals.withLock({ $0.add(id) }) { try finishRemovals() }
    }

    func isRemoved(_ id: Int64) -> Bool {
        removals.withLock { $0.ids.contains(id) }
    }

    /// Reports the removals up to now to the store. After an error they are kept for the next time.
    func finishRemovals() throws(RecordError) {
        let ids = removals.withLock(\.ids)
        guard !ids.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for id in ids { try transaction.records.removeTrash(id) }
        }
        removals.withLock { $0.remove(ids) }
    }
}
