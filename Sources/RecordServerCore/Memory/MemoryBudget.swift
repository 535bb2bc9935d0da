import RecordModel
package import RecordWire
import Synchronization

/// The memory that all requests together may hold: their bodies, the values read out of them, and
/// their answers until the client has received them.
package final class MemoryBudget: Sendable {
    private let bytes: Int
    private let held = Atomic<Int>(0)
    private let smallHeld = Atomic<Int>(0)
    /// The bytes given back since the process was last asked to return free memory.
    private let returned = Atomic<Int>(0)
    private let onReturned: (@Sendable () -> Void)?
    private static let returnedBytes = 16 << 20
    /// The first bytes of each request. They use a room of their own as long as there is some left,
    /// so that large requests cannot lock out small ones.
    package static let freeBytes = 64 << 10
    /// The size of that room. When so many requests of `freeBytes` each are running, further ones
    /// count like large ones.
    package static let smallBytes = 8 << 20

    /// Makes a budget. `onReturned` is called whenever much was given back, and has to be quick.
    package init(bytes: Int, onReturned: (@Sendable () -> Void)? = nil) {
        self.bytes = bytes
        self.onReturned = onReturned
    }

    /// Takes `count` bytes. Errors: `limitExceeded` for a request that would have `whole` bytes,
    /// which are more than all requests may have; `tryAgainLater` when not enough is left.
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

    /// Takes `count` bytes for a small request, and returns whether there was room.
    fileprivate func takeSmall(_ count: Int) -> Bool {
        guard smallHeld.add(count, ordering: .relaxed).newValue > Self.smallBytes else {
            return true
        }
        smallHeld.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func giveBackSmall(_ count: Int) { smallHeld.subtract(count, ordering: .relaxed) }

    /// Gives bytes back. A negative number takes bytes, even when there is no room.
    fileprivate func giveBack(_ count: Int) {
        held.subtract(count, ordering: .relaxed)
        guard count > 0, let onReturned,
            returned.add(count, ordering: .relaxed).newValue >= Self.returnedBytes
        else { return }
        if returned.exchange(0, ordering: .relaxed) >= Self.returnedBytes { onReturned() }
    }
}

/// The memory that one request holds. It is given back when nothing refers to this object any more.
package final class MemoryHold: Sendable {
    private struct Charged {
        /// The bytes from the room of small requests.
        var small = 0
        var large = 0
    }

    private let budget: MemoryBudget
    private let charged = Mutex(Charged())
    /// The bytes of the body and its values.
    private let base = Atomic<Int>(0)

    package init(_ budget: MemoryBudget) { self.budget = budget }

    deinit {
        charged.withLock { charged in
            budget.giveBack(charged.large)
            budget.giveBackSmall(charged.small)
        }
    }

    /// Sets the number of bytes that the request holds.
    ///
    /// Errors: `tryAgainLater` when more than that is needed than is left, `limitExceeded` when
    /// more is needed than exists. The request then holds as much as before.
    package func set(to bytes: Int) throws(ServerError) {
        try charged.withLock { charged throws(ServerError) in
            let due = bytes - chargeSmall(bytes, &charged)
            if due > charged.large {
                try budget.take(
                    due - charged.large, whole: max(0, bytes - MemoryBudget.freeBytes))
            } else {
                budget.giveBack(charged.large - due)
            }
            charged.large = due
        }
    }

    /// Returns the part of the bytes that comes from the room of small requests.
    private func chargeSmall(_ bytes: Int, _ charged: inout Charged) -> Int {
        let wanted = min(bytes, MemoryBudget.freeBytes)
        if wanted < charged.small {
            budget.giveBackSmall(charged.small - wanted)
            charged.small = wanted
        } else if wanted > charged.small, budget.takeSmall(wanted - charged.small) {
            charged.small = wanted
        }
        return charged.small
    }

    /// Sets the number of bytes for a request that will hold more while it is handled.
    package func setBase(to bytes: Int) throws(ServerError) {
        try set(to: bytes)
        base.store(bytes, ordering: .relaxed)
    }

    /// Sets the number of bytes that the request holds besides the base. Errors: as `set`.
    package func add(_ bytes: Int) throws(ServerError) {
        try set(to: base.load(ordering: .relaxed) + bytes)
    }

    /// Holds the bytes as `set` does, for optional work. Returns false when there is no room.
    package func hasRoom(for bytes: Int) -> Bool {
        do throws(ServerError) {
            try set(to: bytes)
            return true
        } catch {
            return false
        }
    }

    /// Holds the bytes for work that cannot be refused any more.
    package func force(to bytes: Int) {
        charged.withLock { charged in
            let due = bytes - chargeSmall(bytes, &charged)
            budget.giveBack(charged.large - due)
            charged.large = due
        }
    }
}
