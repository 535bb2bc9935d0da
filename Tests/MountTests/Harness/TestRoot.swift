import Glibc

/// The folder in which the mount tests make their stores and mounts.
///
/// Not under /tmp: vim and emacs make no backup files there, and so would not save as they do
/// in people's folders.
enum TestRoot {
    /// `RECORDFS_TEST_ROOT` or `~/.cache/recordfs-tests`, then this process's id.
    static let directory: String = {
        let path = "\(base)/\(getpid())"
        do {
            try removeLeftovers()
            try SystemCall.makeDirectories(path)
            atexit {
                MountedStores.tearDown()
                TestRoot.remove(TestRoot.directory)
            }
        } catch {
            print("cannot make \(path): \(error)")
        }
        return path
    }()

    /// Where each test process has its folder. Nothing that makes `directory` may ask for that again,
    /// the programs that take old mounts away among it: they have their output here.
    static let base: String = {
        let home = getenv("HOME").map { String(cString: $0) } ?? "/var/cache"
        let named = getenv("RECORDFS_TEST_ROOT").map { String(cString: $0) }
        let path = named ?? "\(home)/.cache/recordfs-tests"
        do { try SystemCall.makeDirectories(path) } catch { print("cannot make \(path): \(error)") }
        return path
    }()

    private static let next = Locked(0)

    /// A new empty folder.
    static func makeDirectory(_ name: String = "case") throws -> String {
        let number = next.update { count in
            count += 1
            return count
        }
        let path = "\(directory)/\(name)-\(number)"
        try SystemCall.makeDirectory(path)
        return path
    }

    /// Unmounts and removes what test processes left that no longer run.
    private static func removeLeftovers() throws {
        for name in try SystemCall.list(base) {
            guard let pid = pid_t(name), kill(pid, 0) != 0, errno == ESRCH else { continue }
            remove("\(base)/\(name)")
        }
    }

    /// Kills the daemons whose mounts are below `path`, unmounts these and removes the folder.
    static func remove(_ path: String) {
        for mount in MountTable.points(below: path).reversed() { MountTable.detach(mount) }
        removeTree(path)
    }

    /// As `rm -rf`, but never into another file system.
    static func removeTree(_ path: String) { removeTree(bytes: Array(path.utf8)) }

    /// By bytes: tests make names that are no UTF-8.
    private static func removeTree(bytes path: [UInt8]) {
        let text = path.map { CChar(bitPattern: $0) } + [0]
        var before = stat()
        guard lstat(text, &before) == 0 else { return }
        guard before.st_mode & S_IFMT == S_IFDIR else {
            unlink(text)
            return
        }
        for name in (try? SystemCall.listBytes(path)) ?? [] {
            let entry = path + [UInt8(ascii: "/")] + name
            var inside = stat()
            guard lstat(entry.map { CChar(bitPattern: $0) } + [0], &inside) == 0,
                inside.st_dev == before.st_dev
            else { continue }
            removeTree(bytes: entry)
        }
        rmdir(text)
    }
}
