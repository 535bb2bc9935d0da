import CNetlink
import Dispatch
import Glibc
import RecordModel
import Synchronization

/// Notes whether the record server answers, as the last request of any kind has shown. Callers that
/// wait after unanswered requests learn of the first answer to any request, and of a changed
/// network.
package final class Reachability: Sendable {
    private struct State {
        var isAway = false
        var listeners: [@Sendable () -> Void] = []
    }
    private let state = Mutex(State())

    package init() {}

    /// Calls `body` when the server may answer again after it did not: at once with its first
    /// answer, and when the machine's network has changed. From any thread.
    package func onReturn(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(body) }
    }

    package func noteNoAnswer() { state.withLock { $0.isAway = true } }

    package func noteAnswer() {
        let listeners = state.withLock { state -> [@Sendable () -> Void] in
            guard state.isAway else { return [] }
            state.isAway = false
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    /// Calls the listeners also when no request has failed: none may have been tried since the
    /// network was lost.
    package func noteChangedNetwork() {
        for listener in state.withLock(\.listeners) { listener() }
    }

    /// Notes the outcome of a request.
    func noting<Answer>(
        _ request: () async throws(SyncProblem) -> Answer
    ) async throws(SyncProblem) -> Answer {
        do throws(SyncProblem) {
            let answer = try await request()
            noteAnswer()
            return answer
        } catch {
            // A request that was cancelled has no answer, although the server may be reachable.
            if !error.isUnanswered { noteAnswer() } else if !Task.isCancelled { noteNoAnswer() }
            throw error
        }
    }
}

/// Reports changes of the machine's addresses and routes.
final class NetworkWatch: Sendable {
    /// A row of changes within this time is reported once. Containers cause such rows.
    private static let pause = DispatchTimeInterval.seconds(2)

    private let source: Mutex<any DispatchSourceRead>

    /// Begins to watch. Nil when the system reports no changes.
    init?(_ changed: @escaping @Sendable () -> Void) {
        let descriptor = netlink_open()
        guard descriptor >= 0 else { return nil }
        let queue = DispatchQueue(label: "recordfs.network")
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        let pending = PendingTelling()
        source.setEventHandler {
            netlink_drain(descriptor)
            guard pending.begin() else { return }
            queue.asyncAfter(deadline: .now() + Self.pause) {
                pending.end()
                changed()
            }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
        self.source = Mutex(source)
    }

    deinit { source.withLock { $0.cancel() } }
}

/// Notes whether a change is about to be reported.
private final class PendingTelling: Sendable {
    private let isPending = Mutex(false)

    /// Returns false when a report is already pending.
    func begin() -> Bool {
        isPending.withLock { isPending in
            defer { isPending = true }
            return !isPending
        }
    }

    func end() { isPending.withLock { $0 = false } }
}
