import RecordModel
import RecordWire
import Synchronization

/// The uses of web auth tokens that this process has seen. The numbers are stored at most once a
/// second, with the times of the tokens that are in their grace time. A stop loses nothing. A crash
/// makes lost tokens valid for longer, by at most that second.
final class SessionUses: Sendable {
    private struct Entry {
        var use: TokenUse
        var isDirty = false
        var lastUse: Int64
    }

    private struct State {
        var entries: [Text: Entry] = [:]
        var isFlushScheduled = false
        var lastCleaning: Int64 = 0
    }

    private static let cleaningInterval: Int64 = 3_600_000

    private let storage: any Storage
    /// The grace time in milliseconds.
    private let grace: Int64
    private let state = Mutex(State())

    init(storage: any Storage, graceSeconds: Int64) {
        self.storage = storage
        grace = graceSeconds * 1000
    }

    /// Returns whether the token with this number is valid now, by `session` as just read.
    func accept(_ generation: Int64, of session: SessionRow, at now: Int64) -> Bool {
        let (isGood, mustSchedule) = state.withLock { state in
            let stored = TokenUse(session)
            var entry = state.entries[session.id] ?? Entry(use: stored, lastUse: now)
            entry.use.merge(stored, grace: grace)
            let before = entry.use.generation
            let isGood = entry.use.accept(generation, at: now, grace: grace)
            entry.isDirty = entry.isDirty || entry.use.generation > before
            entry.lastUse = now
            state.entries[session.id] = entry
            let mustSchedule = entry.isDirty && !state.isFlushScheduled
            if mustSchedule { state.isFlushScheduled = true }
            return (isGood, mustSchedule)
        }
        if mustSchedule { scheduleFlush(at: now) }
        return isGood
    }

    private func scheduleFlush(at now: Int64) {
        Task {
            try? await Task.sleep(for: .seconds(1))
            state.withLock { $0.isFlushScheduled = false }
            do throws(ServerError) {
                try await flush(at: now)
            } catch {
                // The entries that were not stored are still marked, and the next flush stores
                // them.
            }
        }
    }

    /// Stores the newest numbers, and forgets sessions that are not in use.
    func flush(at now: Int64) async throws(ServerError) {
        let (dirty, mustClean) = state.withLock { state in
            let mustClean = now - state.lastCleaning >= Self.cleaningInterval
            if mustClean { state.lastCleaning = now }
            return (state.entries.filter { $0.value.isDirty }.mapValues(\.use), mustClean)
        }
        guard !dirty.isEmpty || mustClean else { return }
        try await storage.write { [grace] (transaction) throws(ServerError) in
            for (id, use) in dirty {
                guard var row = try transaction.session(id), row.generation < use.generation else {
                    continue
                }
                var merged = TokenUse(row)
                merged.merge(use, grace: grace)
                merged.store(in: &row)
                try transaction.putSession(row)
            }
            if mustClean { try transaction.removeSessions(expiredBefore: now) }
        }
        state.withLock { state in
            for (id, use) in dirty where state.entries[id]?.use == use {
                state.entries[id]?.isDirty = false
            }
            let horizon = now - max(grace, 60_000)
            state.entries = state.entries.filter { $0.value.isDirty || $0.value.lastUse > horizon }
        }
    }
}
