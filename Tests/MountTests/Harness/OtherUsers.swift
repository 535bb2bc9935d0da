import Glibc
import TestSupport
import Testing

/// Users of this machine besides the one who runs the tests, each with a uid, a home and a umask of its
/// own, who may mount.
///
/// They live in a mount and a process namespace of their own. These end with this value, also when the
/// test process is killed, and with them all daemons and mounts, however a test has ended.
final class OtherUsers: Sendable {
    /// Where their homes are, as their own processes see it: not below /tmp, where editors behave
    /// differently, and every user may walk there.
    static let home = "/home"

    fileprivate let homes: String
    private let folder: String
    private let holder: Child
    /// What holds the namespaces reads from it, until this process is gone or lets go of it.
    private let life: Int32

    init() throws {
        try #require(
            geteuid() == 0, "this test is of several users: run it as root (see scripts/test)")
        folder = try TestRoot.makeDirectory("users")
        homes = "\(folder)/homes"
        for name in ["homes", "homes/bin", "dev"] {
            try SystemCall.makeDirectory("\(folder)/\(name)")
        }
        try succeed("cp", try Executable.recordfs(), "\(homes)/bin/recordfs")
        try succeed("chmod", "755", homes, "\(homes)/bin", "\(homes)/bin/recordfs")
        try succeed("cp", "/etc/passwd", "\(folder)/passwd")
        try succeed("mkfifo", "\(folder)/life")
        life = try SystemCall.open("\(folder)/life", O_RDWR)
        holder = try Child(
            [
                "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--mount-proc",
                "bash", "-c", Self.hold, folder, Self.home,
            ])
        let isReady = MountTable.wait(
            seconds: 20, until: { holder.outputSoFar == "ready\n" },
            orUntil: { !holder.isRunning })
        guard isReady else { throw ChildFailure(description: "unshare: \(holder.errorsSoFar)") }
    }

    /// Where only root may open /dev/fuse, another node of the device lets the users. The first process of
    /// a namespace takes all others along when it ends; a shell that waits reaps their children.
    private static let hold = """
        set -e
        mount --bind "$0/homes" "$1"; mount --bind "$0/passwd" /etc/passwd
        if ! setpriv --reuid=65534 --regid=65534 --clear-groups test -r /dev/fuse -a -w /dev/fuse; then
            mount -t tmpfs none "$0/dev"; cp -a /dev/fuse "$0/dev/fuse"; chmod 666 "$0/dev/fuse"
            mount --bind "$0/dev/fuse" /dev/fuse
        fi
        cat "$0/life" & echo ready; wait
        """

    deinit {
        close(life)
        do {
            _ = try holder.wait(seconds: 20)
        } catch {
            Issue.record("the processes of other users do not end: \(error)")
        }
        TestRoot.removeTree(folder)
    }

    /// Makes a user with an empty home.
    func add(_ name: String, id: UInt32, umask: String) throws -> OtherUser {
        // fusermount3 mounts for nobody without a name. What is mounted is this file, not its name.
        let users = try SystemCall.readText("\(folder)/passwd")
        try SystemCall.writeFile(
            "\(folder)/passwd", "\(name):x:\(id):\(id)::\(Self.home)/\(name):/bin/bash\n" + users)
        try SystemCall.makeDirectory("\(homes)/\(name)")
        try succeed("chown", "\(id):\(id)", "\(homes)/\(name)")
        try succeed("chmod", "755", "\(homes)/\(name)")
        return OtherUser(name: name, id: id, umask: umask, users: self)
    }

    /// What starts a program in the namespaces.
    fileprivate var entering: [String] {
        let own = "/proc/\(holder.pid)/ns"
        return ["nsenter", "--mount=\(own)/mnt", "--pid=\(own)/pid_for_children"]
    }
}

/// One of `OtherUsers`.
struct OtherUser: Sendable {
    let name: String
    let id: UInt32
    let umask: String
    fileprivate let users: OtherUsers

    var home: String { "\(OtherUsers.home)/\(name)" }
    /// The same folder for this process, which sees no mounts in it.
    var homeOutside: String { "\(users.homes)/\(name)" }
    var recordfs: String { "\(OtherUsers.home)/bin/recordfs" }

    /// A command line that runs the given one as this user, in the home.
    func command(_ arguments: [String]) -> [String] {
        users.entering + [
            "setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups", "bash", "-c",
            "umask \(umask); cd \(home) && exec \"$@\"", "bash",
        ] + arguments
    }
}
