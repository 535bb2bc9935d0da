import CLinux
import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Does the work that depends on time, and the last work before the store closes.
final class TimedWork: Sendable {
    let events: EventLog
    let fetching: AssetFetching
    let finalDeletes: FinalDeletes
    let handleRequests: HandleRequests
    let handles: OpenHandles
    let options: TreeOptions
    let records: OpenRecords
    let saving: RecordSaving
    let scratchCleaning: ScratchCleaning
    let shareEnding: ShareEnding
    let store: RecordStore
    let trash: TrashEntries
    private let due = Mutex<[Work: Duration]>([:])

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ renamingRooms: RenamingRooms, handleRequests: HandleRequests
    ) {
        events = ground.events
        fetching = assetRooms.fetching
        finalDeletes = renamingRooms.finalDeletes
        self.handleRequests = handleRequests
        handles = ground.handles
        options = ground.options
        records = recordRooms.records
        saving = recordRooms.saving
        scratchCleaning = scratchRooms.scratchCleaning
        shareEnding = shareRooms.shareEnding
        store = ground.store
        trash = controlRooms.trash
    }

    /// The periodic work, by which the uptime of the next time is kept.
    private enum Work { case cleaning, eviction, lookingForBytes }

    /// The time between two removals of expired data.
    private static let cleaningPeriod: Duration = .seconds(3600)

    /// The time between two checks of the cache limit. The cache may exceed the limit by the data
    /// that arrives within this time.
    private static let evictionPeriod: Duration = .seconds(60)

    /// The time between two searches for texts that name missing bytes.
    private static let bytesPeriod: Duration = .seconds(10)

    /// Does the work that depends on time. The daemon's maintenance thread calls it. Returns the
    /// time when the next work is due.
    func maintain() throws(RecordError) -> Timestamp? {
        _ = saving.retryUnsaved()
        try trash.finishRemovals()
        store.upkeep.keepSpace()
        fetching.expire()
        store.upkeep.noteText(bytes: records.forgetOldPast())
        // The memory of a large text is returned to the system; otherwise the heap would keep it.
        if try store.upkeep.releaseMemory() { malloc_trim(0) }
        try store.upkeep.watchClock()
        try store.upkeep.writeDirectoryTimes()
        return try finalDeletes.finish(olderThan: options.grace)
    }

    /// Removes expired data when that is due. In a large store this takes a while, so it has its
    /// own thread.
    func clean() throws(RecordError) {
        try cleanWhenDue()
        try evictWhenDue()
        if store.isWritable, !options.isReadOnly {
            _ = try store.index.keepIndexes()
            _ = try store.upkeep.keepSmall()
            if isDue(.lookingForBytes, every: Self.bytesPeriod) {
                try store.syncState.noteAwaitedBytes()
            }
        }
    }

    /// Returns whether the time of a work has passed, and then sets it to the next time.
    private func isDue(_ work: Work, every period: Duration) -> Bool {
        let uptime = options.clock.uptime
        return due.withLock { due in
            if let next = due[work], uptime < next { return false }
            due[work] = uptime + period
            return true
        }
    }

    /// Removes old trash, the files that nothing refers to any more, and forgotten scratch files:
    /// at the first call and then once an hour.
    private func cleanWhenDue() throws(RecordError) {
        guard store.isWritable, !options.isReadOnly,
            isDue(.cleaning, every: Self.cleaningPeriod)
        else { return }
        try store.upkeep.purgeTrash()
        try store.assets.collectAssets()
        if store.upkeep.clockIsSteady(for: ScratchCleaning.scratchLifetime) {
            try scratchCleaning.removeForgottenScratch()
        }
    }

    /// Keeps the files that the server has too below their limit. This happens only while the
    /// server can be reached and has reported everything that it knows, because it may have been
    /// restored from a backup.
    private func evictWhenDue() throws(RecordError) {
        guard let limit = options.cacheBytes, store.isWritable, !options.isReadOnly else { return }
        guard isDue(.eviction, every: Self.evictionPeriod),
            let status = options.server.status(), status["idle"]?.bool == true,
            status["needsSignIn"]?.bool == false, status["problems"]?.array?.isEmpty == true
        else { return }
        try store.assets.evictAssets(keeping: limit)
    }

    /// Returns when records that were removed before are deleted for good. Until then their names
    /// may return as the same records. That takes the grace time at most.
    func outlastGrace() throws(RecordError) {
        let end = options.clock.uptime + options.grace + .seconds(1)
        while let next = try finalDeletes.finish(olderThan: options.grace),
            options.clock.uptime < end
        {
            let rest = min(max(next - options.now, .milliseconds(1)), .milliseconds(100))
            usleep(UInt32(rest / .microseconds(1)))
        }
        while shareEnding.hasEndingShares, options.clock.uptime < end { usleep(10_000) }
    }

    /// Ends all waits for events and for bytes that are not on this machine, because the mount
    /// ends.
    func answerWaiting() {
        events.finish()
        fetching.interrupt()
    }

    /// Does the last work before the store closes: nothing stays waiting after an unmount.
    func finish() throws(RecordError) {
        answerWaiting()
        releaseHandles()
        shareEnding.endShares(olderThan: .seconds(Int64.max))
        if !saving.retryUnsaved() {
            saving.reportUnsaved()
            let count = saving.unsavedCount
            guard count == 0 else {
                throw RecordError(
                    .noSpace, "The texts of \(count) records are lost; the log names them.")
            }
        }
        try store.upkeep.watchClock()
        try trash.finishRemovals()
        try finalDeletes.finish(olderThan: .zero)
        try store.sync()
    }

    /// Closes the files that the kernel still has open when the mount is taken from its users. Each
    /// acknowledged `write` is saved, as a record or as a draft.
    private func releaseHandles() {
        for handle in handles.all { handleRequests.release(handle.number) }
    }
}
