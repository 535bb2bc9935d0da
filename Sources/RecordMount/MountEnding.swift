import FuseKit
import Glibc
import Logging
import RecordModel

/// Ends a mount in good order although it may have users. This happens on request, and when
/// somebody has detached the mount: nobody could reach it then, but the daemon would keep the
/// store.
///
/// It has its own thread, which waits for the request and for changes of the kernel's mount table.
final class MountEnding: Sendable {
    /// The time that the kernel may take to hand over the pages of shared mappings.
    private static let pagesLimit: Duration = .seconds(3)

    private let session: Session
    private let request: StopSignal
    private let collect: @Sendable (Duration) -> Void
    private let logger: Logger
    private let hasEnded = StopSignal()

    /// - Parameters:
    ///   - request: is set by anyone who wants the end, also before the mount.
    ///   - collect: makes the kernel hand over the pages of open files, within the time of its
    ///     argument.
    init(
        _ session: Session, request: StopSignal,
        collect: @escaping @Sendable (Duration) -> Void, logger: Logger
    ) {
        self.session = session
        self.request = request
        self.collect = collect
        self.logger = logger
    }

    /// Starts the thread. To be called when the kernel has the mount.
    func start() throws(MountError) {
        do throws(Errno) {
            _ = try SystemThread(name: "ending") { [self] in
                if waitForReason() { end() }
            }
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    /// Notes that the mount has ended by itself.
    func stop() { hasEnded.set() }

    /// - Returns: false when the mount has ended in the meantime.
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
        // Data that programs have written into shared mappings must reach the open files first. A
        // request to write everything back (syncfs) does not wait for that.
        collect(Self.pagesLimit)
        session.stop()
    }

    private func detach() {
        do throws(MountError) {
            try session.unmount()
        } catch {
            logger.warning("The mount is in use and is taken away from its users: \(error)")
            do throws(MountError) {
                try session.unmount(lazy: true)
            } catch {
                // Its calls are no longer answered: the mount is stale, as after a crash.
                logger.error("The mount cannot be detached: \(error)")
            }
        }
    }
}
