package import RecordModel
import RecordSQL

extension StoreUpkeep {
    /// The condition of an entry of the trash whose time is over. A time that lies in the future was
    /// noted by a clock that was wrong.
    static let isOldTrash = isOld("deleted")

    /// Returns the same condition for a conflict that was settled.
    static let isOldConflict = isOld("settled")

    private static func isOld(_ column: String) -> String { "(\(column) <= ? OR \(column) > ?)" }

    /// Returns the values of these conditions.
    static func ends(of age: Duration, at now: Timestamp) -> [SQLValue] {
        [.time(now - age), .time(now + ClockWatch.jump)]
    }

    /// Deletes for good the records that were deleted, and the conflicts that were settled, longer
    /// ago than this, unless the clock has jumped since. It works in steps, between which the mount
    /// can save. Returns the number of records.
    ///
    /// - Parameter age: the store's retention when nil.
    @discardableResult
    package func purgeTrash(olderThan age: Duration? = nil) throws(RecordError) -> Int {
        let age = age ?? store.options.retention.trashAge
        try watchClock()
        let now = store.options.clock.now
        let isSteady = clockIsSteady(for: age)
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try self.saveClock(transaction)
            if isSteady { try transaction.merging.removeConflicts(settled: age, at: now) }
        }
        guard isSteady else { return 0 }
        var count = 0
        while true {
            let removed = try store.write(author: .mount, isFreeing: true) {
                transaction throws(RecordError) in
                let old = try transaction.connection.all(
                    "SELECT id FROM trash WHERE \(Self.isOldTrash) LIMIT ?",
                    Self.ends(of: age, at: now) + [.integer(Self.batchSize)]
                ) { $0.int64(0) }
                for id in old { try transaction.records.removeTrash(id) }
                return old.count
            }
            count += removed
            if removed < Self.batchSize { return count }
        }
    }
}
