import CFuse3
import Glibc

/// Ends the connection to the kernel when the process that serves it is killed and cannot end by
/// itself, so that nobody waits for ever for an answer of a dead file system.
///
/// A killed process ends when its last thread does. The thread that notifies the kernel of changes
/// may wait there, unaffected by signals, for a lock whose owner waits for an answer of this same
/// process. Then neither ends, and all users of the mount wait with them. Therefore a second
/// process waits for the death of the first one's main thread. It is a newly started program and
/// not a fork: it shares neither memory nor mappings nor descriptors with the guarded process.
///
/// It needs the kernel's control files for FUSE, as systemd mounts them, or it must run as root.
package struct ConnectionGuard: Sendable {
    /// The time that a killed process may take to end without help.
    private static let patience = (turns: 6, pause: timespec(tv_sec: 0, tv_nsec: 50_000_000))

    /// The guarded process.
    let guarded: pid_t
    /// The kernel's number of the connection: the minor number of the mounted device.
    let connection: String
    let mountpoint: String

    // MARK: In the guarded process

    /// Starts the guard of the calling thread, which must live as long as the mount is served.
    /// - Parameters:
    ///   - program: the words that start this program in such a way that it calls `watch` with the
    ///     words after them.
    ///   - device: the number of the mounted file system, as `0:41`.
    /// - Returns: the guard's process, for `end`.
    static func start(
        _ program: [String], mountpoint: String, device: String
    ) throws(Errno) -> pid_t {
        let connection = device.split(separator: ":").last ?? ""
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        closeInherited(from: 3, in: &actions)
        posix_spawn_file_actions_addchdir_np(&actions, "/")
        let words = program + ["\(getpid())", "\(connection)", mountpoint]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var process: pid_t = 0
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, arguments, environ)
        guard code == 0 else { throw Errno(code) }
        return process
    }

    /// Ends the guard, which is no longer needed after the end of the connection.
    static func end(_ process: pid_t) {
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    // MARK: In the guard

    /// - Parameter words: the words that `start` added.
    package init?(_ words: [String]) {
        guard words.count == 3, let guarded = pid_t(words[0]) else { return nil }
        self.guarded = guarded
        connection = words[1]
        mountpoint = words[2]
    }

    /// Waits until the guarded process dies, and ends its connection if it does not end by itself.
    ///
    /// The only signal that ends the guard is SIGKILL: a signal to the group or the name of the
    /// daemon must not leave the daemon without its guard.
    package func watch() {
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
        recordfs_name_thread("fuse-guard")
        recordfs_signal_at_death(SIGUSR1)
        var signal: Int32 = 0
        while getppid() == guarded, signal != SIGUSR1 { sigwait(&all, &signal) }
        for _ in 0..<Self.patience.turns {
            guard isLeftWithThreads else { return }
            var pause = Self.patience.pause
            nanosleep(&pause, nil)
        }
        abort()
    }

    /// Indicates whether a killed process still has running threads. Until they end, its first
    /// thread remains. A directory has a link for each directory in it, and two more.
    private var isLeftWithThreads: Bool {
        var status = stat()
        return stat("/proc/\(guarded)/task", &status) == 0 && status.st_nlink > 3
    }

    private func abort() {
        let file = open("/sys/fs/fuse/connections/\(connection)/abort", O_WRONLY | O_CLOEXEC)
        if file >= 0, write(file, "1", 1) == 1 { return }
        MountPoint.endConnection(mountpoint)
    }
}
