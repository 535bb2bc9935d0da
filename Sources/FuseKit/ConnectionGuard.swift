import CFuse3
import Glibc

/// Ends the connection to the kernel when this process is killed and cannot end by itself, so that
/// nobody waits for ever for an answer of a dead file system.
///
/// A process of its own without memory or descriptors of this one; see `guard.h` for why one is
/// needed. It needs the kernel's control files for FUSE, as systemd mounts them, or to be root.
struct ConnectionGuard {
    private let process: pid_t

    /// Guards a mount from the calling thread, which must live as long as the mount is served.
    /// - Parameter device: the number of the mounted file system, as `0:41`.
    init(mountpoint: String, device: String) {
        let connection = device.split(separator: ":").last ?? ""
        process = recordfs_start_guard(
            "/sys/fs/fuse/connections/\(connection)/abort", mountpoint)
    }

    /// The connection has ended.
    func end() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
