import Logging
package import RecordModel
import RecordSQL
import Synchronization

extension StoreUpkeep {
    /// Writes the times of directories whose entries no longer come and go, so that the rows are
    /// exact again.
    package func writeDirectoryTimes() throws(RecordError) {
        try writeDirectoryTimes(at: store.options.clock.now, all: false)
    }

    /// Writes the times of all directories. A failure loses nothing but times: the next opening
    /// then gives its own.
    func writeDirectoryTimesAtClose() {
        do throws(RecordError) {
            try writeDirectoryTimes(at: store.options.clock.now, all: true)
        } catch {
            store.options.logger.warning(
                "The times of directories were not written", metadata: ["error": "\(error)"])
        }
    }

    private func writeDirectoryTimes(at now: Timestamp, all: Bool) throws(RecordError) {
        guard store.isWritable else { return }
        let due = store.directoryTimes.withLock { times in
            let due = times.due(at: all ? nil : now)
            if due.isEmpty { times.forget([:], at: now) }
            return due
        }
        guard !due.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for (type, times) in due { try transaction.write(times, of: type) }
            transaction.whenCommitted {
                self.store.directoryTimes.withLock { $0.forget(due, at: now) }
            }
        }
    }

    /// Gives directories the time of this opening when the last process ended before it had written
    /// theirs: a time that is too late makes programs look again, one that is too early hides a
    /// change from them.
    func correctLeftDirectoryTimes() throws(RecordError) {
        guard store.isWritable else { return }
        let left = try store.read { connection throws(RecordError) in
            try connection.all("SELECT id FROM record_type WHERE is_busy = 1") {
                TypeID($0.int64(0))
            }
        }
        guard !left.isEmpty else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            for type in left { try transaction.touch(type) }
        }
    }
}

extension Transaction {
    /// Writes the latest times of a directory, unless its row has later ones.
    fileprivate func write(
        _ times: DirectoryTimes.Times, of type: TypeID
    ) throws(RecordError) {
        try connection.run(
            """
            UPDATE record_type SET modified = ?1, status_changed = ?2
            WHERE id = ?3 AND is_busy = 1 AND status_changed < ?2
            """, [.time(times.modified), .time(times.changed), .integer(type.rawValue)])
        try connection.run(
            "UPDATE record_type SET is_busy = 0 WHERE id = ? AND is_busy = 1",
            [.integer(type.rawValue)])
    }
}
