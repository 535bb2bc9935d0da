import RecordModel
import RecordStore
import Synchronization

/// Entries of the trash that were removed and that the store is told of together: `rm -r` of many
/// costs a transaction for each, and one that flushes nothing promises nothing more.
struct TrashRemovals: Sendable {
    static let limit = 200

    private(set) var ids: Set<Int64> = []

    /// True when there are as many as one transaction takes.
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

    /// Tells the store of what was removed until now. After an error it is still to be told.
    func finishTrashRemovals() throws(RecordError) {
        let ids = state.withLock { $0.trashRemovals.ids }
        guard !ids.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for id in ids { try transaction.removeTrash(id) }
        }
        state.withLock { $0.trashRemovals.remove(ids) }
    }
}
