import Synchronization

/// The way to the kernel for changes that it cannot know.
final class KernelNotifier: Sendable {
    private struct Receivers {
        var notify: (@Sendable (KernelNotice) -> Void)?
        var deliver: (@Sendable ([KernelNotice]) -> Void)?
    }

    private let receivers = Mutex(Receivers())

    /// Sets the receivers of the notices. Called once, before the mount.
    ///
    /// - Parameter deliver: returns when the kernel has received the notices, or after a moment
    ///   without it.
    func set(
        _ notify: @escaping @Sendable (KernelNotice) -> Void,
        deliver: @escaping @Sendable ([KernelNotice]) -> Void
    ) {
        receivers.withLock { $0 = Receivers(notify: notify, deliver: deliver) }
    }

    func notify(_ notices: [KernelNotice]) {
        guard let notify = receivers.withLock({ $0.notify }) else { return }
        for notice in notices { notify(notice) }
    }

    /// Notifies the kernel before the current call is answered, so that its caller sees no outdated
    /// state. Only for attributes and pages, because the call itself holds the lock of a name.
    func deliver(_ notices: [KernelNotice]) {
        // Another thread sends the notices, and this one waits for it.
        guard !notices.isEmpty, let deliver = receivers.withLock({ $0.deliver }) else { return }
        deliver(notices)
    }

    /// Returns when the kernel has received all earlier notices, or after a moment without it.
    func waitUntilHeard() { receivers.withLock({ $0.deliver })?([]) }
}
