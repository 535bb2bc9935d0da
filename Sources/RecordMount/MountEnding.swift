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
    private let collect: @Sendable (Duration) -> Void
    private let logger: Logger
    private let hasEnded = StopSignal()

    /// - Parameters:
    ///   - request: set by whoever wants the end, also before the mount.
    ///   - collect: makes the kernel hand over the pages of open files, and takes no longer than it is
    ///     told.
    init(
        _ session: Session, request: StopSignal,
        collect: @escaping @Sendable (Duration) -> Void, logger: Logger
    ) {
        self.session = session
        self.request = request
        self.collect = collect
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
        // What programs have written into shared mappings reaches the open files first. A request to
        // write all back (syncfs) does not wait until it is done.
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
                // Its calls are answered no more; it is stale, as after a crash.
                logger.error("The mount cannot be detached: \(error)")
            }
        }
    }
}
