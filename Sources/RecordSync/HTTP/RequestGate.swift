import Synchronization

/// Lets one request at a time be sent, in the order of their arrival.
final class RequestGate: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        /// The number of requests that have waited so far.
        var number = 0
    }

    private let state = Mutex(State())

    /// Returns when no other request is inside. After that, `leave` has to be called.
    ///
    /// - Throws: unreachable, when the task is cancelled while it waits.
    func enter() async throws(SyncProblem) {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let isInside = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isInside = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let isInside { continuation.resume(returning: isInside) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let place = state.waiting.firstIndex { $0.number == number }
                return place.map { state.waiting.remove(at: $0).continuation }
            }
            continuation?.resume(returning: false)
        }
        guard isInside else { throw .unreachable("the request was given up") }
    }

    func leave() {
        let next = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return CheckedContinuation<Bool, Never>?.none
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
