import CLinux
import FuseKit
import Glibc
import Logging
import RecordModel

/// Ends a mount in good order although it may have users: when it is asked to, and when somebody
/// has detached it, after which nobody could reach it but the daemon would keep the store.
///
/// A thread of its own, which waits for the request and for changes of the kernel's mount table.
final class MountEnding: Sendable {
    /// How long the kernel may take to hand over the pages of shared mappings.
    private static let pagesLimit: Duration = .seconds(3)

    private let session: Session
    private let request: StopSignal
    private let logger: Logger
    private let hasEnded = StopSignal()

    /// - Parameter request: set by whoever wants the end, also before the mount.
    init(_ session: Session, request: StopSignal, logger: Logger) {
        self.session = session
        self.request = request
        self.logger = logger
    }

    /// From when the kernel has the mount.
    func start() throws(MountError) {
        do throws(Errno) {
            _ = try SystemThread(name: "ending") { [self] in
                if waitForReason() { end() }
            }
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    /// The mount has ended by itself.
    func stop() { hasEnded.set() }

    /// - Returns: false when the mount has ended meanwhile.
    private func waitForReason() -> Bool {
        let table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        defer { close(table) }
        while session.isMounted {
            var events = [
                pollfd(fd: request.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasEnded.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: table, events: Int16(POLLPRI), revents: 0),
            ]
            _ = poll(&events, nfds_t(events.count), -1)
            if hasEnded.isSet { return false }
            if request.isSet { return true }
        }
        return !hasEnded.isSet
    }

    private func end() {
        if session.isMounted { detach() }
        session.stop()
    }

    private func detach() {
        do throws(MountError) {
            try session.unmount()
        } catch {
            logger.warning("The mount is in use and is taken away from its users: \(error)")
            collectPages()
            do throws(MountError) {
                try session.unmount(lazy: true)
            } catch {
                // Its calls are answered no more; it is stale, as after a crash.
                logger.error("The mount cannot be detached: \(error)")
            }
        }
    }

    /// What programs have written into shared mappings reaches the open files first.
    private func collectPages() {
        let done = StopSignal()
        let mountpoint = session.mountpoint
        do throws(Errno) {
            _ = try SystemThread(name: "pages") {
                let root = open(mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                if root >= 0 {
                    syncfs(root)
                    close(root)
                }
                done.set()
            }
        } catch {
            logger.warning("Pages of mappings could not be collected: \(error)")
            return
        }
        _ = done.wait(Self.pagesLimit)
    }
}
