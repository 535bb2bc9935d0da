import Synchronization

/// One long poll that waits. It is woken any number of times, and ended once.
final class PollWaiter: Sendable {
    enum Signal: Sendable { case woken, ended }

    private enum State: Sendable {
        case idle
        case signalled(Signal)
        case waiting(CheckedContinuation<Signal, Never>)
    }

    private let state = Mutex(State.idle)
    let deadline: ContinuousClock.Instant

    init(deadline: ContinuousClock.Instant) { self.deadline = deadline }

    func wake() { signal(.woken) }
    func end() { signal(.ended) }

    private func signal(_ signal: Signal) {
        let waiting: CheckedContinuation<Signal, Never>? = state.withLock { state in
            switch state {
            case .idle, .signalled(.woken):
                state = .signalled(signal)
                return nil
            case .signalled(.ended): return nil
            case .waiting(let continuation):
                state = signal == .ended ? .signalled(.ended) : .idle
                return continuation
            }
        }
        waiting?.resume(returning: signal)
    }

    /// Returns the next signal, or the one that arrived since the last call.
    func next() async -> Signal {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let signal: Signal? = state.withLock { state in
                    switch state {
                    case .signalled(.woken):
                        state = .idle
                        return .woken
                    case .signalled(.ended): return .ended
                    case .idle, .waiting:
                        state = .waiting(continuation)
                        return nil
                    }
                }
                if let signal { continuation.resume(returning: signal) }
            }
        } onCancel: {
            end()
        }
    }
}
