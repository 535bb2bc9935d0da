package import RecordModel
import RecordSQL
import Synchronization

extension StoreUpkeep {
    /// The size of a text, in bytes, above which it leaves SQLite's caches full and holes in the
    /// heap.
    private static let largeText = 1 << 20

    /// Notes the size of a text that the caller no longer needs, for `releaseMemory`.
    package func noteText(bytes: Int) {
        if bytes > Self.largeText { noteMuchWork() }
    }

    /// Notes that the caller has finished moving many records, which has the same effect as a large
    /// text.
    package func noteMuchWork() {
        // Twice, because the caller may hold the last of it for a moment longer.
        store.releasesDue.store(2, ordering: .relaxed)
    }

    /// Makes SQLite release its cached memory after a large text or many records. Returns false
    /// when there was no such work and there is nothing to do.
    package func releaseMemory() throws(RecordError) -> Bool {
        let due = store.releasesDue.load(ordering: .relaxed)
        guard due > 0 else { return false }
        // A text that is noted meanwhile starts the count again.
        _ = store.releasesDue.compareExchange(expected: due, desired: due - 1, ordering: .relaxed)
        for queue in [store.reader, store.writer].compactMap(\.self) {
            try queue.use { connection throws(RecordError) in
                try connection.run("PRAGMA shrink_memory")
            }
        }
        return true
    }

    /// Makes waiting deletions of at least this age final. Returns the time when the next one is
    /// due.
    ///
    /// - Parameters:
    ///   - age: the store's grace time when nil.
    ///   - returning: records whose files exist again and will be saved.
    package func finalizeWaitingDeletes(
        olderThan age: Duration? = nil, except returning: Set<RecordID> = [], author: Author
    ) throws(RecordError) -> Timestamp? {
        let grace = age ?? store.options.grace
        while true {
            let limit = limit(grace)
            // First a look without a transaction, because mostly there is nothing to do.
            let isDue = try store.read { connection throws(RecordError) in
                try !Self.waiting(connection, until: limit, except: returning).isEmpty
            }
            guard isDue else { break }
            try store.write(author: author, isFreeing: true) { transaction throws(RecordError) in
                for id in try Self.waiting(
                    transaction.connection, until: limit, except: returning)
                {
                    try transaction.upkeep.requireWaiting(id, until: limit)
                    try transaction.records.finalizeDelete(id)
                }
            }
        }
        try forgetRemovedTypes()
        try finalizeLeavingAssets(until: limit(grace), author: author)
        return try firstWaiting().map { $0 + grace }
    }

    private func limit(_ grace: Duration) -> Int64 { (store.options.clock.now - grace).nanoseconds }

    /// Removes the fields whose files were moved away from their records. A field of a record that
    /// waits for its deletion is removed with it, or after the record has come back.
    private func finalizeLeavingAssets(until limit: Int64, author: Author) throws(RecordError) {
        let due = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.asset) FROM asset a JOIN record r ON r.id = a.record_id
                WHERE a.leaving <= ? AND r.state != 2 ORDER BY a.field, a.idx DESC
                """, [.integer(limit)]
            ) { $0.asset() }
        }
        for asset in due {
            try store.write(author: author, isFreeing: true) { transaction throws(RecordError) in
                guard let now = try transaction.records.asset(asset.id), now.isLeaving else {
                    return
                }
                do throws(RecordError) {
                    try transaction.assets.removeAsset(now.record, now.field, now.index)
                } catch  where error.code == .accessDenied {
                    try transaction.assets.keepLeaving(now)
                }
            }
        }
    }

    /// Returns the next records whose waiting deletions are due.
    private static func waiting(
        _ connection: SQLConnection, until limit: Int64, except returning: Set<RecordID>
    ) throws(RecordError) -> [RecordID] {
        try connection.all(
            "SELECT id FROM record WHERE waiting_since <= ? ORDER BY waiting_since LIMIT ?",
            [.integer(limit), .integer(batchSize + Int64(returning.count))]
        ) { RecordID($0.int64(0)) }.filter { !returning.contains($0) }
    }

    private func firstWaiting() throws(RecordError) -> Timestamp? {
        try store.read { connection throws(RecordError) in
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
}

extension UpkeepWriting {
    /// Throws corrupt when only the index says that the record waits: it would be due again and again.
    fileprivate func requireWaiting(_ id: RecordID, until limit: Int64) throws(RecordError) {
        let isWaiting = try transaction.connection.first(
            "SELECT waiting_since <= ? FROM record WHERE id = ?",
            [.integer(limit), .integer(id.rawValue)]
        ) { $0.bool(0) }
        if isWaiting != true { throw .disorder("record") }
    }
}
