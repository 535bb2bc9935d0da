import RecordModel
import RecordStore

/// The rows of records, some of them from memory.
final class CachedRows: Sendable {
    let store: RecordStore
    private let cache = StateLock(EntryCache())

    init(store: RecordStore) {
        self.store = store
    }

    /// Returns the row with the stem, also a hidden one. Returns nil without a query when the last
    /// lookup has found none.
    func row(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        let commits = store.commits
        let (isAbsent, epoch) = cache.withLock {
            ($0.isAbsent(type, stem, at: commits), $0.epoch)
        }
        if isAbsent { return nil }
        guard let entry = try store.record(type, stem) else {
            cache.withLock { $0.keepAbsence(of: stem, in: type, readAt: commits) }
            return nil
        }
        if !entry.isHidden {
            cache.withLock { $0.keep(CollectionOfOne(entry), readAt: epoch) }
        }
        return entry
    }

    /// Returns the next rows of a type for a listing.
    func rows(in type: TypeID, after id: RecordID, limit: Int) throws(RecordError)
        -> [RecordEntry]
    {
        let epoch = cache.withLock(\.epoch)
        let rows = try store.records(in: type, after: id, limit: limit)
        cache.withLock { $0.keep(rows, readAt: epoch) }
        return rows
    }

    /// Returns a row that was just read, or nil.
    func entry(_ id: RecordID) -> RecordEntry? { cache.withLock { $0.entry(id) } }

    /// Forgets a row that a commit has changed without a report.
    func forget(_ id: RecordID) { cache.withLock { $0.forget(id) } }

    /// Forgets the rows that a commit has changed.
    func forget(_ changes: [StoreChange]) { cache.withLock { $0.forget(changes) } }
}
