import FuseKit
import RecordModel
import Synchronization

/// Calls of the kernel that wait for the record server. Each runs on its own thread, so that the
/// threads that read calls can continue. A signal of the caller ends the wait at once; the server
/// may still do the request.
final class ServerCalls: Sendable {
    /// The limit of threads. Further calls wait for a thread.
    private static let threadsMax = 64

    private typealias Work = @Sendable () -> Void

    private struct State {
        /// The answers of unfinished calls. The end of the mount uses them to end the calls.
        var waiting: [UInt64: Work] = [:]
        var next: UInt64 = 0
        var queue: [Work] = []
        var threads = 0
        var isOver = false
    }
    private let state = Mutex(State())

    /// Runs `body` on another thread, and then answers.
    func answer(
        _ reply: consuming EmptyReply, _ body: @escaping @Sendable () throws(RecordError) -> Void
    ) {
        let later = PendingReply(reply)
        let caller = ServedCaller.current
        let letGo: Work = {
            guard let reply = later.take() else { return }
            reply.fail(Errno(.interrupted))
        }
        let number = state.withLock { state -> UInt64? in
            guard !state.isOver else { return nil }
            state.next += 1
            state.waiting[state.next] = letGo
            return state.next
        }
        guard let number else { return letGo() }
        run { [self] in
            caller?.begin()
            let result = Result { () throws(RecordError) in try body() }
            ServedCaller.end()
            state.withLock { _ = $0.waiting.removeValue(forKey: number) }
            guard let reply = later.take() else { return }
            switch result {
            case .success: reply.send()
            case .failure(let error): reply.fail(Errno(error))
            }
        }
    }

    private func run(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.queue.append(work)
            guard state.threads < Self.threadsMax else { return false }
            state.threads += 1
            return true
        }
        guard needsThread else { return }
        do throws(Errno) {
            _ = try SystemThread(name: "fuse-server") { self.work() }
        } catch {
            // Running threads take the work. Without any thread the caller gets an error.
            let left = state.withLock { state -> [UInt64: Work] in
                state.threads -= 1
                guard state.threads == 0 else { return [:] }
                state.queue = []
                defer { state.waiting = [:] }
                return state.waiting
            }
            for letGo in left.values { letGo() }
        }
    }

    private func work() {
        while true {
            let work = state.withLock { state -> Work? in
                guard !state.queue.isEmpty else {
                    state.threads -= 1
                    return nil
                }
                return state.queue.removeFirst()
            }
            guard let work else { return }
            work()
        }
    }

    /// Answers all waiting calls: the mount ends, and takes no more such calls.
    func stop() {
        let waiting = state.withLock { state in
            state.isOver = true
            state.queue = []
            defer { state.waiting = [:] }
            return state.waiting
        }
        for letGo in waiting.values { letGo() }
    }
}
