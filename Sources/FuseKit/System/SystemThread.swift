import CFuse3
import Glibc

/// A thread outside of Swift's pool: the pool has as many threads as there are processors, and they
/// must never wait.
package struct SystemThread: Sendable {
    private let thread: pthread_t

    /// Starts `body` on a new thread that receives none of the signals that ask a process to end.
    /// - Parameter name: the name in `ps -L`, at most 15 bytes.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        // The thread lives longer than this call, so it gets a retained box and releases it itself.
        let box = Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                setSignals()
                recordfs_name_thread(body.name)
                body.run()
                return nil
            }, box.toOpaque())
        guard error == 0 else {
            box.release()
            throw Errno(error)
        }
        self.thread = thread
    }

    package func join() {
        pthread_join(thread, nil)
    }

    /// Ends the system call in which the thread waits, with EINTR. Only for a thread that has not
    /// been joined, after `prepareInterrupts`.
    func interrupt() {
        pthread_kill(thread, SIGUSR1)
    }

    /// Makes the signal of `interrupt` do nothing except interrupt.
    static func prepareInterrupts() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        sigaction(SIGUSR1, &action, nil)
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}

/// Sets the signals of this thread. A thread starts with those of its maker, which may have blocked
/// all of them.
private func setSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    sigemptyset(&signals)
    sigaddset(&signals, SIGUSR1)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
}
