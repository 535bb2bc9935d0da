import Glibc
import Synchronization

/// The threads that answer the kernel's calls. While one of them waits for a server, nobody's calls are
/// answered: what waits checks that it is on no such thread, in builds for debugging.
package enum AnsweringThreads {
    private static let threads = Mutex<Set<pthread_t>>([])

    /// The calling thread begins to answer calls.
    package static func enter() { threads.withLock { _ = $0.insert(pthread_self()) } }

    /// The calling thread answers no more calls.
    package static func leave() { threads.withLock { _ = $0.remove(pthread_self()) } }

    package static var includeCurrent: Bool {
        threads.withLock { $0.contains(pthread_self()) }
    }

    /// Stops a build for debugging that would wait on such a thread.
    package static func checkMayWait() {
        assert(!includeCurrent, "a thread that answers the kernel waits for the network")
    }
}
