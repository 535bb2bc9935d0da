package import RecordModel
import RecordWire
import Synchronization

/// Throttles of one process. A restart forgets them: a client that was slowed down begins again.
package final class LocalThrottles: Throttles {
    private struct Key: Hashable {
        let kind: ThrottleCharge.Kind
        let name: String
    }

    /// The amount that is missing in an account, as the time until it is full again.
    private struct Debt {
        var nanoseconds: Int64
        var at: Timestamp

        /// Returns the debt at a later time. A clock that was set back changes nothing.
        func later(at now: Timestamp) -> Debt {
            let passed = max(0, now.nanoseconds - at.nanoseconds)
            return Debt(nanoseconds: max(0, nanoseconds - passed), at: now)
        }
    }

    private struct State {
        var debts: [Key: Debt] = [:]
        /// The number of known debts at which full accounts are removed.
        var sweepCount = LocalThrottles.smallestSweep
    }

    private static let smallestSweep = 10_000
    private let state = Mutex(State())

    package init() {}

    package func take(_ charges: [ThrottleCharge], now: Timestamp) -> Duration? {
        state.withLock { state in
            if state.debts.count >= state.sweepCount { Self.sweep(&state, now) }
            let after = charges.map { charge in
                let debt = state.debts[Self.key(charge)]?.later(at: now)
                return (debt?.nanoseconds ?? 0) + charge.allowance.interval
            }
            let waits = zip(charges, after).map { $1 - $0.allowance.whole }
            if let wait = waits.max(), wait > 0 { return .nanoseconds(wait) }
            for (charge, debt) in zip(charges, after) {
                state.debts[Self.key(charge)] = Debt(nanoseconds: debt, at: now)
            }
            return nil
        }
    }

    package func giveBack(_ charges: [ThrottleCharge], now: Timestamp) {
        state.withLock { state in
            for charge in charges {
                let key = Self.key(charge)
                guard var debt = state.debts[key]?.later(at: now) else { continue }
                debt.nanoseconds -= charge.allowance.interval
                state.debts[key] = debt.nanoseconds > 0 ? debt : nil
            }
        }
    }

    package func spend(_ charge: ThrottleCharge, times: Int64, now: Timestamp) {
        let (spent, overflow) = charge.allowance.interval.multipliedReportingOverflow(by: times)
        state.withLock { state in
            let debt = state.debts[Self.key(charge)]?.later(at: now).nanoseconds ?? 0
            let sum = debt.addingReportingOverflow(spent)
            state.debts[Self.key(charge)] = Debt(
                nanoseconds: overflow || sum.overflow ? .max / 4 : sum.partialValue, at: now)
        }
    }

    package func missing(_ charge: ThrottleCharge, now: Timestamp) -> Int64 {
        let debt = state.withLock { $0.debts[Self.key(charge)]?.later(at: now).nanoseconds ?? 0 }
        let interval = charge.allowance.interval
        return debt / interval + (debt % interval > 0 ? 1 : 0)
    }

    package func forget(_ charges: [ThrottleCharge]) {
        state.withLock { state in
            for charge in charges { state.debts[Self.key(charge)] = nil }
        }
    }

    private static func key(_ charge: ThrottleCharge) -> Key {
        Key(kind: charge.kind, name: charge.name)
    }

    private static func sweep(_ state: inout State, _ now: Timestamp) {
        state.debts = state.debts.filter { $0.value.later(at: now).nanoseconds > 0 }
        state.sweepCount = max(smallestSweep, 2 * state.debts.count)
    }
}
