import RecordModel
package import RecordWire
import Synchronization

/// The memory that all requests together may hold: their bodies, the values read out of them, and
/// their answers until the client has taken them.
package final class MemoryBudget: Sendable {
    private let bytes: Int
    private let held = Atomic<Int>(0)
    /// Since the process was last asked to give back what is free.
    private let returned = Atomic<Int>(0)
    private let onReturned: (@Sendable () -> Void)?
    private static let returnedBytes = 16 << 20
    /// Of each request, for nothing, so that nobody can lock out small requests with large ones.
    package static let freeBytes = 64 << 10

    /// `onReturned` is called whenever much was given back, and has to be quick.
    package init(bytes: Int, onReturned: (@Sendable () -> Void)? = nil) {
        self.bytes = bytes
        self.onReturned = onReturned
    }

    /// Errors: `limitExceeded` for a request that would have `whole` bytes, which are more than all
    /// may have, `tryAgainLater` when there is not so much left.
    fileprivate func take(_ count: Int, whole: Int) throws(ServerError) {
        guard whole <= bytes else {
            throw ServerError(
                .limitExceeded,
                "The values of the request, or its answer, take more memory than the server has "
                    + "for requests. Send or ask for less at once.")
        }
        guard held.add(count, ordering: .relaxed).newValue > bytes else { return }
        held.subtract(count, ordering: .relaxed)
        throw ServerError(
            .tryAgainLater, "The server holds too many large requests and answers.",
            retryAfter: 5)
    }

    /// What is negative is taken, whether there is room or not.
    fileprivate func giveBack(_ count: Int) {
        held.subtract(count, ordering: .relaxed)
        guard count > 0, let onReturned,
            returned.add(count, ordering: .relaxed).newValue >= Self.returnedBytes
        else { return }
        if returned.exchange(0, ordering: .relaxed) >= Self.returnedBytes { onReturned() }
    }
}

/// What one request holds; given back when nobody has this any more.
package final class MemoryHold: Sendable {
    private let budget: MemoryBudget
    private let charged = Mutex(0)
    /// Of the body and its values.
    private let base = Atomic<Int>(0)

    package init(_ budget: MemoryBudget) { self.budget = budget }

    deinit { budget.giveBack(charged.withLock { $0 }) }

    /// From now on the request holds so many bytes.
    ///
    /// Errors: `tryAgainLater` when they are more than are left, `limitExceeded` when they are more
    /// than there are; it then holds what it did.
    package func set(to bytes: Int) throws(ServerError) {
        let due = max(0, bytes - MemoryBudget.freeBytes)
        try charged.withLock { charged throws(ServerError) in
            if due > charged {
                try budget.take(due - charged, whole: due)
            } else {
                budget.giveBack(charged - due)
            }
            charged = due
        }
    }

    /// The same for a request that will hold more as it is being done.
    package func setBase(to bytes: Int) throws(ServerError) {
        try set(to: bytes)
        base.store(bytes, ordering: .relaxed)
    }

    /// From now on the request holds so many bytes besides the base. Errors: as `set`.
    package func add(_ bytes: Int) throws(ServerError) {
        try set(to: base.load(ordering: .relaxed) + bytes)
    }

    /// The same for what cannot be refused any more.
    package func force(to bytes: Int) {
        let due = max(0, bytes - MemoryBudget.freeBytes)
        charged.withLock { charged in
            budget.giveBack(charged - due)
            charged = due
        }
    }

    /// Whether it is so little that it counts for nothing.
    package var isFree: Bool { charged.withLock { $0 == 0 } }
}
