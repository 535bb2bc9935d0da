package import RecordModel
import RecordSQL
import Synchronization

import class GRDB.DatabaseQueue

extension RecordStore {
    /// A text over this, in bytes, leaves SQLite's caches full and holes in the heap.
    private static let largeText = 1 << 20

    /// Whoever is done with a text says how large it was, for `releaseMemory`.
    package func noteText(bytes: Int) {
        if bytes > Self.largeText { noteMuchWork() }
    }

    /// Whoever has moved many records says so when it is done: that leaves the same behind as a large text.
    package func noteMuchWork() {
        // Twice: who says it may hold the last of it for a moment longer.
        releasesDue.store(2, ordering: .relaxed)
    }

    /// After a large text or many records SQLite gives back what it has cached. False when there was none, and
    /// nothing to do.
    package func releaseMemory() throws(RecordError) -> Bool {
        let due = releasesDue.load(ordering: .relaxed)
        guard due > 0 else { return false }
        // A text that is noted meanwhile starts the count again.
        _ = releasesDue.compareExchange(expected: due, desired: due - 1, ordering: .relaxed)
        for queue in [reader, writer].compactMap(\.self) {
            do {
                try queue.inDatabase { database in
                    try SQLConnection(database).run("PRAGMA shrink_memory")
                }
            } catch {
                throw RecordError(storeError: error)
            }
        }
        return true
    }

    /// How many deletes one transaction makes final: the saves of the mount go between two.
    private static let batchSize: Int64 = 200

    /// Makes waiting deletes of at least this age final. Gives the time when the next one is due.
    ///
    /// - Parameters:
    ///   - age: the store's grace when nil.
    ///   - returning: records whose files are there again and will be saved.
    package func finalizeWaitingDeletes(
        olderThan age: Duration? = nil, except returning: Set<RecordID> = [], author: Author
    ) throws(RecordError) -> Timestamp? {
        let grace = age ?? options.grace
        while true {
            let limit = limit(grace)
            let due = try waiting(until: limit, except: returning)
            guard !due.isEmpty else { break }
            try write(author: author, isFreeing: true) { transaction throws(RecordError) in
                for id in due where try transaction.isWaiting(id, until: limit) {
                    try transaction.finalizeDelete(id)
                }
            }
        }
        try finalizeLeavingAssets(until: limit(grace), author: author)
        return try firstWaiting().map { $0 + grace }
    }

    private func limit(_ grace: Duration) -> Int64 { (options.clock.now - grace).nanoseconds }

    /// The fields whose files were moved away leave their records. One of a record that waits for its
    /// deletion goes with it, or when it has come back.
    private func finalizeLeavingAssets(until limit: Int64, author: Author) throws(RecordError) {
        let due = try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
                WHERE a.leaving <= ? AND r.state != 2 ORDER BY a.field, a.idx DESC
                """, [.integer(limit)]
            ) { $0.asset() }
        }
        for asset in due {
            try write(author: author, isFreeing: true) { transaction throws(RecordError) in
                guard let now = try transaction.asset(asset.id), now.isLeaving else { return }
                do throws(RecordError) {
                    try transaction.removeAsset(now.record, now.field, now.index)
                } catch  where error.code == .accessDenied {
                    try transaction.keepLeaving(now)
                }
            }
        }
    }

    private func waiting(
        until limit: Int64, except returning: Set<RecordID>
    ) throws(RecordError) -> [RecordID] {
        try read { connection throws(RecordError) in
            try connection.all(
                "SELECT id FROM record WHERE waiting_since <= ? ORDER BY waiting_since LIMIT ?",
                [.integer(limit), .integer(Self.batchSize + Int64(returning.count))]
            ) { RecordID($0.int64(0)) }
        }.filter { !returning.contains($0) }
    }

    private func firstWaiting() throws(RecordError) -> Timestamp? {
        try read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT waiting_since FROM record WHERE waiting_since IS NOT NULL
                UNION ALL SELECT a.leaving FROM asset a JOIN record r ON r.id = a.record_id
                    WHERE a.leaving IS NOT NULL AND r.state != 2
                ORDER BY 1 LIMIT 1
                """
            ) { $0.time(0) }
        }
    }

    /// Deletes for good what was deleted, and conflicts that were settled, longer ago than this, unless the clock has jumped since;
    /// in pieces, between which the saves of the mount go. Gives how many.
    ///
    /// - Parameter age: the store's retention when nil.
    @discardableResult
    package func purgeTrash(olderThan age: Duration? = nil) throws(RecordError) -> Int {
        let age = age ?? options.retention.trashAge
        try watchClock()
        let now = options.clock.now
        let isSteady = clockIsSteady(for: age)
        try write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try self.saveClock(transaction)
            if isSteady { try transaction.removeConflicts(settledUntil: now - age) }
        }
        guard isSteady else { return 0 }
        var count = 0
        while true {
            let removed = try write(author: .mount, isFreeing: true) {
                transaction throws(RecordError) in
                let old = try transaction.connection.all(
                    "SELECT id FROM trash WHERE deleted <= ? OR deleted > ? LIMIT ?",
                    [
                        .time(now - age), .time(now + ClockWatch.jump), .integer(Self.batchSize),
                    ]
                ) { $0.int64(0) }
                for id in old { try transaction.removeTrash(id) }
                return old.count
            }
            count += removed
            if removed < Self.batchSize { return count }
        }
    }
}

extension Transaction {
    /// Whether the record still waits: it may have come back since it was listed.
    fileprivate func isWaiting(_ id: RecordID, until limit: Int64) throws(RecordError) -> Bool {
        try connection.first(
            "SELECT waiting_since <= ? FROM record WHERE id = ?",
            [.integer(limit), .integer(id.rawValue)]
        ) { $0.bool(0) } ?? false
    }
}
