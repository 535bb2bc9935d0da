import Foundation
import Glibc
import Logging
import RecordMount

/// Unmounts on SIGTERM, SIGINT and SIGHUP, from a thread that waits for them.
///
/// Make it before any other thread, so that all of them leave these signals to it.
struct StopSignals {
    private static let all = [SIGTERM, SIGINT, SIGHUP]

    init(mountpoint: String, logger: Logger) {
        var set = Self.set()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let thread = Thread {
            while true {
                var set = Self.set()
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                logger.info("Unmounting after signal \(number)")
                // The mount may still be on its way.
                while !Self.unmount(mountpoint, logger) { usleep(100_000) }
            }
        }
        thread.name = "signals"
        thread.start()
    }

    /// Lets a late signal end the process.
    func end() {
        for number in Self.all { signal(number, SIG_DFL) }
    }

    /// Files that are still open keep the mount alive under no name until they are closed.
    private static func unmount(_ mountpoint: String, _ logger: Logger) -> Bool {
        do {
            try MountDaemon.unmount(mountpoint: mountpoint, lazy: false)
            return true
        } catch {
            logger.warning("The mount is in use and is detached: \(error)")
            do {
                try MountDaemon.unmount(mountpoint: mountpoint, lazy: true)
                return true
            } catch {
                logger.error("It cannot be unmounted: \(error)")
                return false
            }
        }
    }

    private static func set() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in all { sigaddset(&set, number) }
        return set
    }
}
