import CLinux
import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// The time between two removals of expired data.
    private static let cleaningPeriod: Duration = .seconds(3600)
    /// The time between two checks of the cache limit. The cache may exceed the limit by the data
    /// that arrives within this time.
    private static let evictionPeriod: Duration = .seconds(60)
    /// The time between two searches for texts that name missing bytes.
    private static let bytesPeriod: Duration = .seconds(10)

    /// Does the work that depends on time. The daemon's maintenance thread calls it. Returns the
    /// time when the next work is due.
    package func maintain() throws(RecordError) -> Timestamp? {
        _ = retryUnsaved()
        try finishTrashRemovals()
        store.keepSpace()
        expireWaitingReads()
        let uptime = options.clock.uptime
        store.noteText(bytes: state.withLock { $0.past.removeOld(at: uptime) })
        // The memory of a large text is returned to the system; otherwise the heap would keep it.
        if try store.releaseMemory() { malloc_trim(0) }
        try store.watchClock()
        return try finalizeDeletes(olderThan: options.grace)
    }

    /// Removes expired data when that is due. In a large store this takes a while, so it has its
    /// own thread.
    package func clean() throws(RecordError) {
        try cleanWhenDue()
        try evictWhenDue()
        if store.isWritable, !options.isReadOnly {
            _ = try store.keepIndexes()
            _ = try store.keepSmall()
            if isDue(\.nextLookForBytes, every: Self.bytesPeriod) { try store.noteAwaitedBytes() }
        }
    }

    /// Returns whether a time of the state has passed, and then sets it to the next time.
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

    /// Keeps the files that the server has too below their limit. This happens only while the
    /// server can be reached and has reported everything that it knows, because it may have been
    /// restored from a backup.
    private func evictWhenDue() throws(RecordError) {
        guard let limit = options.cacheBytes, store.isWritable, !options.isReadOnly else { return }
        guard isDue(\.nextEviction, every: Self.evictionPeriod),
            let status = options.exchange.status(), status["idle"]?.bool == true,
            status["needsSignIn"]?.bool == false, status["problems"]?.array?.isEmpty == true
        else { return }
        try store.evictAssets(keeping: limit)
    }

    /// Makes waiting deletes of at least this age final, except for names that exist again and wait
    /// for their first save. Returns the time when the next delete is due.
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

    /// Returns when records that were removed before are deleted for good. Until then their names
    /// may return as the same records. That takes the grace time at most.
    package func outlastGrace() throws(RecordError) {
        let end = options.clock.uptime + options.grace + .seconds(1)
        while let next = try finalizeDeletes(olderThan: options.grace), options.clock.uptime < end {
            let rest = min(max(next - now, .milliseconds(1)), .milliseconds(100))
            usleep(UInt32(rest / .microseconds(1)))
        }
        while hasEndingShares, options.clock.uptime < end { usleep(10_000) }
    }

    /// Ends all waits for events and for bytes that are not on this machine, because the mount
    /// ends.
    package func answerWaiting() {
        events.finish()
        interruptWaitingReads()
    }

    /// Does the last work before the store closes: nothing stays waiting after an unmount.
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

    /// Closes the files that the kernel still has open when the mount is taken from its users. Each
    /// acknowledged `write` is saved, as a record or as a draft.
    private func releaseHandles() {
        for number in state.withLock({ Array($0.handles.keys) }) { release(number) }
    }
}
