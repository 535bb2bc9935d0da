import Glibc
import Synchronization
import TestSupport

/// The calls that reached a file system, in words, in their order.
final class CallLog: @unchecked Sendable {
    // @unchecked: the semaphore's address never changes; the rest is behind the mutex.
    private let calls = Mutex<[String]>([])
    private let arrival = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() {
        arrival.initialize(to: sem_t())
        sem_init(arrival, 0, 0)
    }

    deinit {
        sem_destroy(arrival)
        arrival.deallocate()
    }

    func add(_ call: String) {
        calls.withLock { $0.append(call) }
        sem_post(arrival)
    }

    var all: [String] { calls.withLock { $0 } }

    func clear() { calls.withLock { $0 = [] } }

    func contains(_ call: String) -> Bool { all.contains(call) }

    /// How many calls begin so.
    func count(_ prefix: String) -> Int { all.count { $0.hasPrefix(prefix) } }

    /// Waits until a call has come.
    func waits(for call: String) -> Bool {
        let deadline = Deadline(seconds: 20)
        while !contains(call) {
            guard !deadline.isOver else { return false }
            var end = timespec()
            clock_gettime(CLOCK_REALTIME, &end)
            end.tv_sec += 1
            sem_timedwait(arrival, &end)
        }
        return true
    }
}
