package import RecordModel
import RecordSQL
import Synchronization

extension StoreUpkeep {
    /// Checks whether the clock was set. The process that keeps the store open calls this about
    /// every second. When the clock was set, the grace times of waiting deletions, and of files that
    /// follow or leave, start again, because their times come from another clock.
    package func watchClock() throws(RecordError) {
        guard store.isWritable else { return }
        let (now, uptime) = (store.options.clock.now, store.options.clock.uptime)
        if !store.clockWatch.withLock({ $0.hasBegun }) {
            let (seen, steady) = try storedClock()
            store.clockWatch.withLock { watch in
                guard !watch.hasBegun else { return }
                watch.begin(now: now, uptime: uptime, seen: seen, steady: steady)
            }
        }
        guard store.clockWatch.withLock({ $0.look(now: now, uptime: uptime) }) else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.connection.run(
                "UPDATE record SET waiting_since = ? WHERE waiting_since IS NOT NULL",
                [.time(now)])
            try transaction.connection.run("UPDATE follow SET since = ?", [.time(now)])
            try transaction.connection.run(
                "UPDATE asset SET leaving = ? WHERE leaving IS NOT NULL", [.time(now)])
            try self.saveClock(transaction)
        }
    }

    /// Returns whether the clock has not jumped recently: after a jump, data may seem older than
    /// this only because of the jump.
    package func clockIsSteady(for age: Duration) -> Bool {
        store.clockWatch.withLock { $0.isSteady(for: age) }
    }

    /// Saves the state of the clock for the next process that opens the store.
    func saveClock(_ transaction: Transaction) throws(RecordError) {
        let steady = store.clockWatch.withLock { $0.steady }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta VALUES ('clockSeen', ?), ('clockSteady', ?)",
            [.time(transaction.now), .optional(steady?.components.seconds)])
    }

    private func storedClock() throws(RecordError) -> (seen: Timestamp?, steady: Duration?) {
        try store.read { connection throws(RecordError) in
            func number(_ key: String) throws(RecordError) -> Int64? {
                try connection.first("SELECT value FROM meta WHERE key = ?", [.text(key)]) {
                    $0.int64IfPresent(0)
                } ?? nil
            }
            return (
                try number("clockSeen").map { Timestamp(nanoseconds: $0) },
                try number("clockSteady").map { Duration.seconds($0) }
            )
        }
    }
}
