package import RecordModel
import Synchronization

/// Tells all processes of a server what became of couriers, so that their long polls wake.
///
/// A signal is a hint and may be lost: frames are in the storage, where every process looks now and
/// then for those of its own polls.
package protocol CourierSignals: Sendable {
    /// Does not wait for anybody.
    func send(_ signal: CourierSignal)
    /// From now on calls `receive` with every signal, whoever sent it, this process too.
    func listen(_ receive: @escaping @Sendable (CourierSignal) -> Void)
}

package enum CourierSignal: Hashable, Sendable {
    /// The queues of these devices hold frames, by the hash of their courier.
    case frames([Text])
    /// A device polls at the hub with this number since then: its older polls have nobody who listens. Two
    /// that begin together do not end each other.
    case polls(Text, hub: UInt64, since: ContinuousClock.Instant)
}

/// Signals within one process.
package final class LocalCourierSignals: CourierSignals {
    private let receivers = Mutex<[@Sendable (CourierSignal) -> Void]>([])

    package init() {}

    package func send(_ signal: CourierSignal) {
        for receive in receivers.withLock({ $0 }) { receive(signal) }
    }

    package func listen(_ receive: @escaping @Sendable (CourierSignal) -> Void) {
        receivers.withLock { $0.append(receive) }
    }
}
