import Glibc
import Synchronization

/// The threads that answer the kernel's calls.
///
/// While such a thread waits for a server, the mount answers no calls. Code that waits therefore
/// checks, in builds for debugging, that it does not run on such a thread.
package enum AnsweringThreads {
    private static let threads = Mutex<Set<pthread_t>>([])

    /// Marks the calling thread as one that answers calls.
    package static func enter() { threads.withLock { _ = $0.insert(pthread_self()) } }

    /// Marks the calling thread as one that no longer answers calls.
    package static func leave() { threads.withLock { _ = $0.remove(pthread_self()) } }

    package static var includeCurrent: Bool {
        threads.withLock { $0.contains(pthread_self()) }
    }

    /// Stops a debug build whose current thread is an answering thread and is about to wait.
    package static func checkMayWait() {
        assert(!includeCurrent, "a thread that answers the kernel waits for the network")
    }
}
