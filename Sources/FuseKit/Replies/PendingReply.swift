import CFuse3
import Synchronization

/// A reply that other code will answer later: the callback keeps it here and returns.
///
/// The first caller of `take` answers it. If the caller of the operation gets a signal in the
/// meantime, it gets EINTR at once, and `take` then returns nil. A reply that was not taken answers
/// EIO when it is released.
package final class PendingReply<Kind>: Sendable {
    private struct State: ~Copyable, Sendable {
        var reply: Reply<Kind>?
        /// Retained for libfuse as long as there is a reply. The code that takes the reply releases
        /// it.
        var handler: Unmanaged<InterruptHandler>?
        /// Indicates that the registration has not returned. libfuse calls back from within it when
        /// the signal has already arrived, and uses the request after that: until it returns nobody
        /// may answer.
        var isRegistering = true
        var isInterrupted = false
    }

    /// Decides which code answers.
    private let state: Mutex<State>
    private let onInterrupt: @Sendable () -> Void

    /// - Parameter onInterrupt: called after the EINTR, on a reading thread or, when the signal has
    ///   already arrived, within this call. The work may be stopped then.
    package init(
        _ reply: consuming Reply<Kind>, onInterrupt: @escaping @Sendable () -> Void = {}
    ) {
        let raw = reply.request.peek()
        state = Mutex(State(reply: reply, handler: nil))
        self.onInterrupt = onInterrupt
        // libfuse keeps only the address of the handler, beyond this call.
        let handler = Unmanaged.passRetained(
            InterruptHandler { [weak self] in self?.interrupt() })
        state.withLock { $0.handler = handler }
        fuse_req_interrupt_func(
            raw,
            { _, context in
                guard let context else { return }
                Unmanaged<InterruptHandler>.fromOpaque(context).takeUnretainedValue().run()
            }, handler.toOpaque())
        let isInterrupted = state.withLock { state in
            state.isRegistering = false
            return state.isInterrupted
        }
        guard isInterrupted, let reply = take() else { return }
        reply.fail(.EINTR)
        onInterrupt()
    }

    deinit { _ = take() }

    /// Returns the reply to the first caller, and nil to all others.
    package func take() -> Reply<Kind>? {
        var handler: Unmanaged<InterruptHandler>?
        let taken = state.withLock { state in
            handler = state.handler.take()
            return state.reply.take()
        }
        guard let reply = consume taken else { return nil }
        // Waits for an interrupt that is being delivered: it finds no reply to take.
        fuse_req_interrupt_func(reply.request.peek(), nil, nil)
        handler?.release()
        return reply
    }

    private func interrupt() {
        // libfuse holds the request's lock here, so the handler must not be unregistered.
        var handler: Unmanaged<InterruptHandler>?
        let taken = state.withLock { state -> Reply<Kind>? in
            state.isInterrupted = true
            guard !state.isRegistering else { return nil }
            handler = state.handler.take()
            return state.reply.take()
        }
        guard let reply = consume taken else { return }
        reply.fail(.EINTR)
        onInterrupt()
        handler?.release()
    }
}

private final class InterruptHandler: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
