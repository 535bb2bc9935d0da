package import RecordModel
import RecordSQL
import Synchronization

extension StoreUpkeep {
    /// Completes the removal of types that the mount has removed while the deletions of their
    /// records were waiting, so that the records are in the trash and their names are free. It
    /// works in steps, between which the mount can save.
    package func finishRemovedTypes() throws(RecordError) {
        guard store.isWritable else { return }
        while store.hasRemovedTypes.load(ordering: .acquiring) {
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.finishRemovedTypes(records: Self.batchSize)
            }
        }
    }

    /// Notes whether the last process ended before such a removal was complete.
    func lookForRemovedTypes() throws(RecordError) {
        let isLeft = try store.read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM record_type WHERE removed = 1")
        }
        store.hasRemovedTypes.store(isLeft, ordering: .releasing)
    }

    /// Forgets removed types whose last deletions became final.
    func forgetRemovedTypes() throws(RecordError) {
        guard store.hasRemovedTypes.load(ordering: .acquiring) else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.forgetRemovedTypes()
        }
    }
}
