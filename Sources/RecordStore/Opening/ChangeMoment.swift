package import RecordModel
import Synchronization

/// The moment of the changes that the writer makes, as its triggers ask for it.
final class ChangeMoment: Sendable {
    private struct State {
        var last = Timestamp(nanoseconds: .min)
        var current = Timestamp(nanoseconds: 0)
    }
    /// A clock that was set back by more than this is followed: each file goes on from its own time.
    private static let steps: Duration = .seconds(1)

    private let state = Mutex(State())

    /// That of the transaction under way.
    var nanoseconds: Int64 { state.withLock { $0.current.nanoseconds } }

    func set(_ moment: Timestamp) { state.withLock { $0.current = moment } }

    /// A moment that was never given before, unless the clock was set back.
    func next(now: Timestamp) -> Timestamp {
        state.withLock { state in
            let isAhead = state.last >= now && state.last - now < Self.steps
            state.last = isAhead ? state.last + .nanoseconds(1) : now.asStored
            return state.last
        }
    }
}

extension RecordStore {
    /// The moment of a change that is about to be made here (`st_ctime`): later than all before, unless
    /// the clock was set back.
    package func nextChange() -> Timestamp { moment.next(now: options.clock.now) }
}
