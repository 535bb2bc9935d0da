package import RecordModel
import Synchronization

/// The time of the changes that the writer makes, for its triggers.
final class ChangeMoment: Sendable {
    private struct State {
        var last = Timestamp(nanoseconds: .min)
        var current = Timestamp(nanoseconds: 0)
    }
    /// The limit up to which a clock that was set back is ignored. If it was set back by more, the
    /// new time is used, and each file continues from its own time.
    private static let steps: Duration = .seconds(1)

    private let state = Mutex(State())

    /// The time of the transaction under way.
    var nanoseconds: Int64 { state.withLock { $0.current.nanoseconds } }

    func set(_ moment: Timestamp) { state.withLock { $0.current = moment } }

    /// Returns a time that was never returned before, unless the clock was set back.
    func next(now: Timestamp) -> Timestamp {
        state.withLock { state in
            let isAhead = state.last >= now && state.last - now < Self.steps
            state.last = isAhead ? state.last + .nanoseconds(1) : now.asStored
            return state.last
        }
    }
}

extension RecordStore {
    /// Returns the time of a change that is about to be made here (`st_ctime`): later than all
    /// before, unless the clock was set back.
    package func nextChange() -> Timestamp { moment.next(now: options.clock.now) }
}
