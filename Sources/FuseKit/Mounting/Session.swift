import CFuse3
import Glibc
import Synchronization

/// One mount of a file system, from `mount` to the end of `run`.
package final class Session: Sendable {
    private enum State: Sendable {
        case new
        case mounted(SessionPointer)
        case running(Readers)
        case ended
    }

    package let mountpoint: String
    package let notifier = Notifier()
    private let options: MountOptions
    private let guardProgram: [String]
    private let readerBegins: @Sendable () -> Void
    private let readerEnds: @Sendable () -> Void
    private let box: FileSystemBox
    /// Guards the change from one stage of life to the next.
    private let state = Mutex(State.new)
    /// The kernel's number of the mounted file system. It shows whether a mount is this one.
    private let device = Mutex<String?>(nil)

    /// - Parameters:
    ///   - mountpoint: an absolute path without symbolic links.
    ///   - guardProgram: the words that start this program as a `ConnectionGuard`. Without them
    ///     there is no guard.
    ///   - readerBegins: called by each thread that executes calls before its first one.
    ///   - readerEnds: called by such a thread after its last call.
    package init(
        fileSystem: any FileSystem, mountpoint: String, options: MountOptions,
        guardProgram: [String] = [], readerBegins: @escaping @Sendable () -> Void = {},
        readerEnds: @escaping @Sendable () -> Void = {}
    ) {
        self.mountpoint = mountpoint
        self.options = options
        self.guardProgram = guardProgram
        self.readerBegins = readerBegins
        self.readerEnds = readerEnds
        box = FileSystemBox(fileSystem)
    }

    deinit {
        let unused: SessionPointer? = state.withLock { state in
            defer { state = .ended }
            if case .mounted(let session) = state { return session }
            return nil
        }
        if let unused {
            detach()
            unused.destroy()
        }
    }

    /// Mounts. From now on calls wait in the kernel until `run`.
    package func mount() throws(MountError) {
        guard access("/dev/fuse", F_OK) == 0 else {
            throw MountError(
                .deviceMissing,
                "/dev/fuse does not exist: load the kernel module (modprobe fuse), or in a container "
                    + "pass --device /dev/fuse --cap-add SYS_ADMIN")
        }
        guard geteuid() == 0 || MountPoint.helper != nil else { throw MountPoint.helperMissing }
        try MountPoint.check(mountpoint, allowsFiles: options.hidesFiles)
        let session = try SessionPointer(box: box, options: options)
        guard fuse_session_mount(session.raw, mountpoint) == 0 else {
            session.destroy()
            throw MountError(.failed, "could not mount at \(mountpoint)" + hint)
        }
        InitAnswer.watch(session.raw)
        device.withLock { $0 = MountPoint.device(at: mountpoint) }
        state.withLock { $0 = .mounted(session) }
    }

    /// Answers calls until the file system is unmounted, by `unmount` or by another program, or
    /// until `stop`. Then ends the notifier and calls the file system's `destroy`.
    /// - Parameter threads: the number of threads that execute calls. More than one matter only
    ///   when calls are slow (see `Readers`).
    package func run(threads: Int = Session.defaultThreads) throws(MountError) {
        let start: (SessionPointer, Readers)? = state.withLock { state in
            guard case .mounted(let session) = state else { return nil }
            let readers = Readers(session, begins: readerBegins, ends: readerEnds)
            state = .running(readers)
            return (session, readers)
        }
        guard let (session, readers) = start else {
            throw MountError(.notMounted, "\(mountpoint) is not mounted")
        }
        var guardian: pid_t?
        defer {
            state.withLock { $0 = .ended }
            notifier.stop()
            detach()
            session.destroy()
            if let guardian { ConnectionGuard.end(guardian) }
        }
        guardian = try startGuard()
        do throws(Errno) {
            try notifier.start(session)
            try readers.run(threads: max(1, threads))
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    private func startGuard() throws(MountError) -> pid_t? {
        guard !guardProgram.isEmpty, let device = device.withLock({ $0 }) else { return nil }
        do {
            return try ConnectionGuard.start(guardProgram, mountpoint: mountpoint, device: device)
        } catch {
            throw MountError(.failed, "could not start a process: \(error)")
        }
    }

    /// Unmounts, which makes `run` return when there are no users any more.
    /// - Parameter lazy: whether to unmount also while the file system is in use.
    package func unmount(lazy: Bool = false) throws(MountError) {
        guard hasMountpoint else {
            throw MountError(.notMounted, "\(mountpoint) is not this mount any more")
        }
        try MountPoint.unmount(mountpoint, lazy: lazy)
    }

    /// Makes `run` return although the file system has users. Their calls fail from then on.
    ///
    /// Not to be called from a thread that executes calls, nor from the notifier's thread.
    package func stop() {
        let readers: Readers? = state.withLock { state in
            switch state {
            case .mounted(let session):
                fuse_session_exit(session.raw)
                return nil
            case .running(let readers): return readers
            case .new, .ended: return nil
            }
        }
        guard let readers else { return }
        // The notifier is stopped first, while there are readers: it may itself wait for a call
        // through the mount.
        notifier.stop()
        readers.stop()
    }

    /// Indicates whether the file system is still mounted somewhere. Without a mount it may still
    /// have users that have it open.
    package var isMounted: Bool {
        guard let device = device.withLock({ $0 }) else { return true }
        return MountPoint.isMounted(device: device)
    }

    /// Indicates whether this file system is the one that is mounted at the mountpoint.
    private var hasMountpoint: Bool {
        guard let device = device.withLock({ $0 }) else { return true }
        return MountPoint.device(at: mountpoint) == device
    }

    /// Removes a mount whose calls will not be answered.
    private func detach() {
        guard device.withLock({ $0 }) != nil, hasMountpoint else { return }
        do {
            try MountPoint.unmount(mountpoint, lazy: true)
        } catch {
            // Somebody else has unmounted it already, or this process may not. In the second case
            // it is stale, as after a crash.
        }
    }

    /// The default number of threads. With it the mount stays usable during three slow calls, such
    /// as fsync on a slow disk.
    package static var defaultThreads: Int { 4 }

    private var hint: String {
        if options.allowOther, geteuid() != 0 {
            return ": allow_other needs the line user_allow_other in /etc/fuse.conf"
        }
        return geteuid() == 0
            ? " (a container needs the capability SYS_ADMIN)" : " (see the message of fusermount3)"
    }
}
