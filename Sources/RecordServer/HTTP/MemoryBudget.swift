import RecordModel
package import RecordWire
import Synchronization

/// The memory that all requests together may hold: their bodies, the values read out of them, and
/// their answers until the client has taken them.
package final class MemoryBudget: Sendable {
    private let bytes: Int
    private let held = Atomic<Int>(0)
    private let smallHeld = Atomic<Int>(0)
    /// Since the process was last asked to give back what is free.
    private let returned = Atomic<Int>(0)
    private let onReturned: (@Sendable () -> Void)?
    private static let returnedBytes = 16 << 20
    /// The first bytes of each request, which come out of a room of their own as long as it lasts, so
    /// that nobody can lock out small requests with large ones.
    package static let freeBytes = 64 << 10
    /// That room: with so many requests of `freeBytes` each at once, more are like large ones.
    package static let smallBytes = 8 << 20

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

    /// Whether there was room for so much of a small request.
    fileprivate func takeSmall(_ count: Int) -> Bool {
        guard smallHeld.add(count, ordering: .relaxed).newValue > Self.smallBytes else {
            return true
        }
        smallHeld.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func giveBackSmall(_ count: Int) { smallHeld.subtract(count, ordering: .relaxed) }

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
    private struct Charged {
        /// Out of the room of small requests.
        var small = 0
        var large = 0
    }

    private let budget: MemoryBudget
    private let charged = Mutex(Charged())
    /// Of the body and its values.
    private let base = Atomic<Int>(0)

    package init(_ budget: MemoryBudget) { self.budget = budget }

    deinit {
        charged.withLock { charged in
            budget.giveBack(charged.large)
            budget.giveBackSmall(charged.small)
        }
    }

    /// From now on the request holds so many bytes.
    ///
    /// Errors: `tryAgainLater` when they are more than are left, `limitExceeded` when they are more
    /// than there are; it then holds what it did.
    package func set(to bytes: Int) throws(ServerError) {
        try charged.withLock { charged throws(ServerError) in
            let due = bytes - settleSmall(bytes, &charged)
            if due > charged.large {
                try budget.take(
                    due - charged.large, whole: max(0, bytes - MemoryBudget.freeBytes))
            } else {
                budget.giveBack(charged.large - due)
            }
            charged.large = due
        }
    }

    /// What of so many bytes is out of the room of small requests.
    private func settleSmall(_ bytes: Int, _ charged: inout Charged) -> Int {
        let wanted = min(bytes, MemoryBudget.freeBytes)
        if wanted < charged.small {
            budget.giveBackSmall(charged.small - wanted)
            charged.small = wanted
        } else if wanted > charged.small, budget.takeSmall(wanted - charged.small) {
            charged.small = wanted
        }
        return charged.small
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

    /// As `set`, for what can be done without: false where there is no room.
    package func hasRoom(for bytes: Int) -> Bool {
        do throws(ServerError) {
            try set(to: bytes)
            return true
        } catch {
            return false
        }
    }

    /// The same for what cannot be refused any more.
    package func force(to bytes: Int) {
        charged.withLock { charged in
            let due = bytes - settleSmall(bytes, &charged)
            budget.giveBack(charged.large - due)
            charged.large = due
        }
    }
}
