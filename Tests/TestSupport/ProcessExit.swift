import Dispatch
package import Glibc
import Synchronization

/// The end of a process, awaited by any number of callers.
package final class ProcessExit: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    private let code = Mutex<Int32?>(nil)

    package init() {}

    package func watch(_ pid: pid_t) {
        DispatchQueue(label: "wait.\(pid)").async { [self] in
            var raw: Int32 = 0
            while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
            let signal = raw & 0x7F
            let status = signal == 0 ? (raw >> 8) & 0xFF : 128 + signal
            code.withLock { $0 = status }
            ended.signal()
        }
    }

    /// The exit code, or 128 and the signal as a shell counts it; nil when the process still runs
    /// after so many seconds.
    package func status(within seconds: Double) -> Int32? {
        guard ended.wait(timeout: .now() + seconds) == .success else { return nil }
        ended.signal()
        return code.withLock { $0 }
    }

    package var isEnded: Bool { status(within: 0) != nil }
}
