import Foundation
import Glibc
import Logging
import RecordMount

/// Asks a mount to end on SIGTERM, SIGINT and SIGHUP, from a thread that waits for them.
///
/// Make it before any other thread, so that all of them leave these signals to it.
struct StopSignals {
    private static let all = [SIGTERM, SIGINT, SIGHUP]

    init(stop: StopSignal, logger: Logger) {
        var set = Self.set()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let thread = Thread {
            while true {
                var set = Self.set()
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                logger.info("Unmounting after signal \(number)", source: LogCategory.mount)
                stop.set()
            }
        }
        thread.name = "signals"
        thread.start()
    }

    private static func set() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in all { sigaddset(&set, number) }
        return set
    }
}
