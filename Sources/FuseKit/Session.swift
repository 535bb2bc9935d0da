import CFuse3
import Glibc
import Synchronization

/// One mount of a file system, from `mount` to the end of `run`.
package final class Session: Sendable {
    private enum State: Sendable {
        case new
        case mounted(SessionPointer)
        case running
        case ended
    }

    package let mountpoint: String
    package let notifier = Notifier()
    private let options: MountOptions
    private let box: FileSystemBox
    /// Guards the step from one life stage to the next.
    private let state = Mutex(State.new)

    /// - Parameter mountpoint: an absolute path without symbolic links.
    package init(fileSystem: any FileSystem, mountpoint: String, options: MountOptions) {
        self.mountpoint = mountpoint
        self.options = options
        box = FileSystemBox(fileSystem)
    }

    deinit {
        state.withLock { state in
            if case .mounted(let session) = state { session.destroy() }
            state = .ended
        }
    }

    /// Mounts; calls wait in the kernel from now on until `run`.
    package func mount() throws(MountError) {
        guard access("/dev/fuse", F_OK) == 0 else {
            throw MountError(
                .deviceMissing,
                "/dev/fuse does not exist: load the kernel module (modprobe fuse), or in a container "
                    + "pass --device /dev/fuse --cap-add SYS_ADMIN")
        }
        guard geteuid() == 0 || MountPoint.helper != nil else { throw MountPoint.helperMissing }
        try MountPoint.check(mountpoint)
        let session = try SessionPointer(box: box, options: options)
        guard fuse_session_mount(session.raw, mountpoint) == 0 else {
            session.destroy()
            throw MountError(.failed, "could not mount at \(mountpoint)" + hint)
        }
        InitAnswer.watch(session.raw)
        state.withLock { $0 = .mounted(session) }
    }

    /// Answers calls until the file system is unmounted, by `unmount` or by anybody else; then
    /// ends the notifier and calls the file system's `destroy`.
    /// - Parameter threads: how many carry out calls; more than one matter only when calls are slow
    ///   (see `Readers`).
    package func run(threads: Int = Session.defaultThreads) throws(MountError) {
        let session: SessionPointer? = state.withLock { state in
            guard case .mounted(let session) = state else { return nil }
            state = .running
            return session
        }
        guard let session else { throw MountError(.notMounted, "\(mountpoint) is not mounted") }
        defer {
            notifier.stop()
            session.destroy()
            state.withLock { $0 = .ended }
        }
        do throws(Errno) {
            try notifier.start(session)
            try Readers(session).run(threads: max(1, threads))
        } catch {
            throw MountError(.failed, "could not start a thread: \(error)")
        }
    }

    /// Unmounts, which makes `run` return once the last user is gone.
    /// - Parameter lazy: also while in use.
    package func unmount(lazy: Bool = false) throws(MountError) {
        try MountPoint.unmount(mountpoint, lazy: lazy)
    }

    /// Three slow calls, such as fsync on a slow disk, leave the mount usable.
    package static var defaultThreads: Int { 4 }

    private var hint: String {
        if options.allowOther, geteuid() != 0 {
            return ": allow_other needs the line user_allow_other in /etc/fuse.conf"
        }
        return geteuid() == 0
            ? " (a container needs the capability SYS_ADMIN)" : " (see the message of fusermount3)"
    }
}
