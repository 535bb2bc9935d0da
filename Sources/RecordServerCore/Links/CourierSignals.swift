package import RecordModel
import Synchronization

/// Reports changes of couriers to all processes of a server, so that their long polls wake.
///
/// A signal is a hint and may be lost: frames are in the storage, where every process regularly
/// looks for the frames of its own polls.
package protocol CourierSignals: Sendable {
    /// Sends a signal without waiting for anybody.
    func send(_ signal: CourierSignal)
    /// Calls `receive` from now on with every signal, from any sender, also from this process.
    func listen(_ receive: @escaping @Sendable (CourierSignal) -> Void)
}

package enum CourierSignal: Hashable, Sendable {
    /// The queues of these devices hold frames, by the hash of their courier.
    case frames([Text])
    /// A device polls at the hub with this number since then. Nobody listens to its older polls any
    /// more. Two polls that begin together do not end each other.
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
