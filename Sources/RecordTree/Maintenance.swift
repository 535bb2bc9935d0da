import CLinux
import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// How often the mount looks for what has outlived its time.
    private static let cleaningPeriod: Duration = .seconds(3600)
    /// How far the limit of what stays may be overrun: what comes in this time.
    private static let evictionPeriod: Duration = .seconds(60)
    /// How often it looks for texts that name bytes which do not come.
    private static let bytesPeriod: Duration = .seconds(10)

    /// Work that is due with time; called from the daemon's maintenance thread. Returns when the
    /// next piece is due.
    package func maintain() throws(RecordError) -> Timestamp? {
        _ = retryUnsaved()
        try finishTrashRemovals()
        store.keepSpace()
        expireWaitingReads()
        let uptime = options.clock.uptime
        store.noteText(bytes: state.withLock { $0.past.removeOld(at: uptime) })
        // What a large text took goes back to the system: the heap keeps it otherwise.
        if try store.releaseMemory() { malloc_trim(0) }
        try store.watchClock()
        return try finalizeDeletes(olderThan: options.grace)
    }

    /// Removes what has outlived its time, when that is due; in a large store it takes a while, and so
    /// has a thread of its own.
    package func clean() throws(RecordError) {
        try cleanWhenDue()
        try evictWhenDue()
        if store.isWritable, !options.isReadOnly {
            _ = try store.keepIndexes()
            _ = try store.keepSmall()
            if isDue(\.nextLookForBytes, every: Self.bytesPeriod) { try store.noteAwaitedBytes() }
        }
    }

    /// Reads a time of the state, and sets it to that of the next time when it has come.
    private func isDue(
        _ next: WritableKeyPath<State, Duration?>, every period: Duration
    ) -> Bool {
        let uptime = options.clock.uptime
        return state.withLock { state in
            if let next = state[keyPath: next], uptime < next { return false }
            state[keyPath: next] = uptime + period
            return true
        }
    }

    /// Removes old trash, the files that nothing refers to any more, and forgotten scratch files:
    /// at the first call and then once an hour.
    private func cleanWhenDue() throws(RecordError) {
        guard store.isWritable, !options.isReadOnly,
            isDue(\.nextCleaning, every: Self.cleaningPeriod)
        else { return }
        try store.purgeTrash()
        try store.collectAssets()
        if store.clockIsSteady(for: Self.scratchLifetime) { try removeForgottenScratch() }
    }

    /// Keeps the files that the server has too below their limit, while it can be asked for them and
    /// has told all that it knows: it may have been restored from a backup.
    private func evictWhenDue() throws(RecordError) {
        guard let limit = options.cacheBytes, store.isWritable, !options.isReadOnly else { return }
        guard isDue(\.nextEviction, every: Self.evictionPeriod),
            let status = options.exchange.status(), status["idle"]?.bool == true,
            status["needsSignIn"]?.bool == false, status["problems"]?.array?.isEmpty == true
        else { return }
        try store.evictAssets(keeping: limit)
    }

    /// Waiting deletes of at least this age become final, but for names that are there again and
    /// have their first save before them. Returns when the next one is due.
    @discardableResult
    func finalizeDeletes(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        guard store.isWritable else { return nil }
        let nextFollow = try followDue(olderThan: age)
        let returning = state.withLock { state in
            Set(state.pending.values.flatMap(\.values).map(\.record))
        }
        let next = try store.finalizeWaitingDeletes(
            olderThan: age, except: returning, author: .mount)
        return [next, nextFollow].compactMap(\.self).min()
    }

    /// Returns when what was removed before is deleted for good: until then its name may come back as the
    /// same record. That takes the grace time at most.
    package func outlastGrace() throws(RecordError) {
        let end = options.clock.uptime + options.grace + .seconds(1)
        while let next = try finalizeDeletes(olderThan: options.grace), options.clock.uptime < end {
            let rest = min(max(next - now, .milliseconds(1)), .milliseconds(100))
            usleep(UInt32(rest / .microseconds(1)))
        }
        while hasEndingShares, options.clock.uptime < end { usleep(10_000) }
    }

    /// Lets go whoever waits for events or for bytes from elsewhere: the mount ends.
    package func answerWaiting() {
        events.finish()
        interruptWaitingReads()
    }

    /// The last calls before the store closes: nothing waits over an unmount.
    package func finish() throws(RecordError) {
        answerWaiting()
        releaseHandles()
        endShares(olderThan: .seconds(Int64.max))
        if !retryUnsaved() {
            reportUnsaved()
            let count = unsavedCount
            guard count == 0 else {
                throw RecordError(
                    .noSpace, "The texts of \(count) records are lost; the log names them.")
            }
        }
        try store.watchClock()
        try finishTrashRemovals()
        try finalizeDeletes(olderThan: .zero)
        try store.sync()
    }

    /// Closes what the kernel still has open when the mount is taken from its users: each `write`
    /// that was answered is saved, as a record or as a draft.
    private func releaseHandles() {
        for number in state.withLock({ Array($0.handles.keys) }) { release(number) }
    }
}
