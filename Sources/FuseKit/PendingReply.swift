import CFuse3
import Synchronization

/// A reply that somebody else will answer later: the callback keeps it here and returns.
///
/// Whoever takes it first answers it. A caller that gets a signal in the meantime is answered
/// EINTR at once, and `take` then gives nil. Dropped untaken, it answers EIO.
package final class PendingReply<Answer>: Sendable {
    private struct State: ~Copyable, Sendable {
        var reply: Reply<Answer>?
        /// Retained for libfuse as long as there is a reply; released by whoever takes that.
        var handler: Unmanaged<InterruptHandler>?
        /// libfuse calls back from within the registration when the signal has come already, and
        /// goes on to use the request: until that returns nobody may answer.
        var isRegistering = true
        var isInterrupted = false
    }

    /// Decides who answers.
    private let state: Mutex<State>
    private let onInterrupt: @Sendable () -> Void

    /// - Parameter onInterrupt: called after the EINTR, on a reading thread or, when the signal has
    ///   come already, within this call; the work may be given up.
    package init(
        _ reply: consuming Reply<Answer>, onInterrupt: @escaping @Sendable () -> Void = {}
    ) {
        let raw = reply.request.peek()
        state = Mutex(State(reply: reply, handler: nil))
        self.onInterrupt = onInterrupt
        // libfuse keeps the handler by its address only, beyond this call.
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

    /// The reply, for the first who asks.
    package func take() -> Reply<Answer>? {
        var handler: Unmanaged<InterruptHandler>?
        let taken = state.withLock { state in
            handler = state.handler.take()
            return state.reply.take()
        }
        guard let reply = consume taken else { return nil }
        // Waits for an interrupt that is being delivered: it finds nothing to take.
        fuse_req_interrupt_func(reply.request.peek(), nil, nil)
        handler?.release()
        return reply
    }

    private func interrupt() {
        // libfuse holds the request's lock here, so the handler must not be unregistered.
        var handler: Unmanaged<InterruptHandler>?
        let taken = state.withLock { state -> Reply<Answer>? in
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
