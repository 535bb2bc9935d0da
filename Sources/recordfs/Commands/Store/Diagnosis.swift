import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore

/// The result of one check.
struct Finding {
    enum State: String {
        case good, warning, wrong

        var mark: String {
            switch self {
            case .good: "ok     "
            case .warning: "warning"
            case .wrong: "WRONG  "
            }
        }
    }

    let check: String
    let state: State
    let message: String
    /// The command that fixes it.
    var mend: String?
}

/// Checks everything on this machine that a mount needs.
struct Diagnosis {
    let store: StoreAccess

    /// The option that makes a command use this store.
    private var option: String { store.isDefault ? "" : " --state \(store.directory)" }

    func run() -> [Finding] {
        [
            device(), unmounter(), otherUsers(), configuration(), directory(), content(),
            daemon(), space(),
        ].compactMap(\.self) + staleMounts()
    }

    private func device() -> Finding {
        let check = "/dev/fuse"
        if access(check, R_OK | W_OK) == 0 {
            return Finding(check: check, state: .good, message: "can be used")
        }
        if errno == ENOENT {
            return Finding(
                check: check, state: .wrong, message: "is missing", mend: "sudo modprobe fuse")
        }
        return Finding(
            check: check, state: .wrong, message: "may not be opened by this user",
            mend: "sudo chmod 666 /dev/fuse")
    }

    private func unmounter() -> Finding {
        let folders = (environmentVariable("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        guard let path = folders.map({ "\($0)/fusermount3" }).first(where: isProgram)
        else {
            return Finding(
                check: "fusermount3", state: .wrong, message: "is not installed",
                mend: "sudo apt-get install fuse3")
        }
        var status = stat()
        if geteuid() != 0, stat(path, &status) == 0, status.st_mode & S_ISUID == 0 {
            return Finding(
                check: "fusermount3", state: .wrong, message: "\(path) is not setuid root",
                mend: "sudo chmod u+s \(path)")
        }
        return Finding(check: "fusermount3", state: .good, message: path)
    }

    private func isProgram(_ path: String) -> Bool { access(path, X_OK) == 0 }

    private func otherUsers() -> Finding? {
        guard geteuid() != 0 else { return nil }
        var isAllowed = false
        if let text = read("/etc/fuse.conf") {
            isAllowed = text.split(separator: "\n").contains {
                $0.trimmed == "user_allow_other"
            }
        }
        return Finding(
            check: "--allow-other", state: .good,
            message: isAllowed ? "is allowed" : "is not allowed to users (needed only for it)",
            mend: isAllowed ? nil : "echo user_allow_other | sudo tee -a /etc/fuse.conf")
    }

    private func configuration() -> Finding {
        do {
            _ = try Configuration.read()
            return Finding(check: "settings", state: .good, message: HostPaths.configuration)
        } catch {
            return Finding(
                check: "settings", state: .wrong, message: "\(HostPaths.configuration): \(error)")
        }
    }

    private func directory() -> Finding {
        let path = store.directory
        var status = stat()
        guard stat(path, &status) == 0 else {
            return Finding(
                check: "state directory", state: .good, message: "\(path) is made at first use")
        }
        if status.st_uid != geteuid() {
            return Finding(
                check: "state directory", state: .wrong, message: "\(path) is another user's",
                mend: "sudo chown -R $(id -u):$(id -g) \(path)")
        }
        if status.st_mode & 0o077 != 0 {
            return Finding(
                check: "state directory", state: .warning, message: "others can look into \(path)",
                mend: "chmod 700 \(path)")
        }
        return Finding(check: "state directory", state: .good, message: path)
    }

    private func content() -> Finding? {
        let opened: RecordStore
        do {
            opened = try RecordStore.openForReading(directory: store.directory)
        } catch {
            if error.code == .notFound { return nil }
            // A store that cannot be opened cannot be checked. The message says what to do.
            return Finding(check: "store", state: .wrong, message: error.description)
        }
        do {
            let counts = try opened.syncState.counts()
            return Finding(
                check: "store", state: counts.drafts == 0 ? .good : .warning,
                message: "\(Showing.count(counts.records, "record")), "
                    + "\(Showing.count(counts.drafts, "draft"))",
                mend: counts.drafts == 0 ? nil : "recordfs draft list\(option)")
        } catch {
            return Finding(
                check: "store", state: .wrong, message: error.description,
                mend: "recordfs fsck\(option)")
        }
    }

    private func daemon() -> Finding {
        do {
            guard let status = try store.daemon(timeoutSeconds: 5) else {
                return Finding(check: "daemon", state: .good, message: "none runs")
            }
            let version = status.stringMember("version") ?? ""
            let place = status.stringMember("mountpoint") ?? "nowhere"
            guard version == ProgramVersion.number else {
                return Finding(
                    check: "daemon", state: .warning,
                    message: "runs version \(version), this is \(ProgramVersion.number)",
                    mend: "recordfs unmount \(place) && recordfs mount\(option) \(place)")
            }
            if case .detached(_, let pid) = MountState(of: store, status) {
                return Finding(
                    check: "daemon", state: .wrong,
                    message: "process \(pid) has the store, but its mount is not there",
                    mend: "kill \(pid)")
            }
            return Finding(check: "daemon", state: .good, message: "serves \(place)")
        } catch {
            return Finding(
                check: "daemon", state: .wrong, message: "does not answer: \(error)",
                mend: MountTable.mounts(ofStore: store.directory).last.map {
                    "recordfs unmount --lazy \($0.mountpoint)"
                })
        }
    }

    private func space() -> Finding? {
        var path = store.directory
        var status = statvfs()
        while statvfs(path, &status) != 0 {
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
            path = String(path[..<slash])
        }
        let free = Int64(clamping: status.f_bavail).multipliedClamped(
            by: Int64(clamping: status.f_frsize))
        return Finding(
            check: "free space", state: free < 100 << 20 ? .warning : .good,
            message: "\(Showing.size(free)) for \(store.directory)")
    }

    /// Returns the stale mounts. A stale mount of another store is only a warning.
    private func staleMounts() -> [Finding] {
        MountTable.recordMounts().filter { MountTable.isStale($0.mountpoint) }.map { stale in
            Finding(
                check: "mount",
                state: HostDirectory.isSame(stale.source, store.directory) ? .wrong : .warning,
                message: "\(stale.mountpoint) has lost its process",
                mend: "recordfs mount \(stale.mountpoint)")
        }
    }

    private func read(_ path: String) -> String? {
        do {
            return String(decoding: try readWholeFile(path), as: UTF8.self)
        } catch {
            return nil
        }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" && $0 != "#" }
    }
}
