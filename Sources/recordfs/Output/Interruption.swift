import Glibc
import Synchronization

/// The signal that asked this process to end; 0 before.
private let receivedSignal = Atomic<Int32>(0)

/// The wish of a user to end a command that has to put something in order first: Ctrl-C or SIGTERM.
/// A second one ends the process at once.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM]

    static var isWanted: Bool { receivedSignal.load(ordering: .relaxed) != 0 }

    /// Only notes a signal from now on.
    static func delay() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { signal in
            receivedSignal.store(signal, ordering: .relaxed)
        }
        action.sa_flags = Int32(bitPattern: UInt32(SA_RESTART) | UInt32(SA_RESETHAND))
        for signal in signals { sigaction(signal, &action, nil) }
    }

    /// Ends the process as the noted signal would have done, if there is one.
    static func obey() {
        let noted = receivedSignal.load(ordering: .relaxed)
        guard noted != 0 else { return }
        signal(noted, SIG_DFL)
        raise(noted)
    }
}
