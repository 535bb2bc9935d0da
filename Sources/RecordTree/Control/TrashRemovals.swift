import RecordModel
import RecordStore
import Synchronization

/// Removed entries of the trash that are reported to the store together. Otherwise `rm -r` of many
/// entries would need a transaction for each. A removal without a flush promises nothing more.
struct TrashRemovals: Sendable {
    static let limit = 200

    private(set) var ids: Set<Int64> = []

    /// Adds an entry. Returns true when there are as many entries as one transaction takes.
    mutating func add(_ id: Int64) -> Bool {
        ids.insert(id)
        return ids.count >= Self.limit
    }

    mutating func remove(_ done: Set<Int64>) { ids.subtract(done) }
}

extension Tree {
    func removeTrashed(_ id: Int64) throws(RecordError) {
        if state.withLock({ $0.trashRemovals.add(id) }) { try finishTrashRemovals() }
    }

    func isRemovedFromTrash(_ id: Int64) -> Bool {
        state.withLock { $0.trashRemovals.ids.contains(id) }
    }

    /// Reports the removals up to now to the store. After an error they are kept for the next time.
    func finishTrashRemovals() throws(RecordError) {
        let ids = state.withLock { $0.trashRemovals.ids }
        guard !ids.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for id in ids { try transaction.removeTrash(id) }
        }
        state.withLock { $0.trashRemovals.remove(ids) }
    }
}
