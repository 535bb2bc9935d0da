import Foundation
import Glibc
import Logging
import RecordControl
import RecordModel
import RecordStore

/// Tells people what others do with shares: a line in the log, and the command that config.json names.
struct ShareNotices: Sendable {
    /// For `/bin/sh -c`; nil for none.
    let command: String?
    let logger: Logger

    func tell(_ changes: [StoreChange], of store: RecordStore) {
        for change in changes {
            for news in change.shareNews {
                let path = news.invitation == nil ? Self.path(of: change.zone, store) : ""
                let message = news.message(about: path)
                logger.notice("\(message)")
                run(
                    [
                        "RECORDFS_EVENT": news.kind.rawValue, "RECORDFS_PATH": path,
                        "RECORDFS_LINK": news.invitation?.link ?? "",
                        "RECORDFS_WHO": news.who, "RECORDFS_MESSAGE": message,
                    ])
            }
        }
    }

    private static func path(of zone: ZoneID, _ store: RecordStore) -> String {
        do throws(RecordError) {
            guard let info = try store.keptZone(zone) else { return "a zone" }
            return RecordPath(database: info.database, owner: info.owner, zone: info.name)
                .description
        } catch {
            return "a zone"
        }
    }

    /// Nobody waits for it but a thread of its own.
    private func run(_ variables: [String: String]) {
        guard let command else { return }
        let inherited = environment().filter { line in
            !variables.keys.contains { line.hasPrefix("\($0)=") }
        }
        let lines = inherited + variables.map { "\($0)=\($1)" }
        let logger = logger
        let thread = Thread {
            let status = Self.spawn(["/bin/sh", "-c", command], lines)
            if status != 0 {
                logger.warning("The command notify has failed", metadata: ["status": "\(status)"])
            }
        }
        thread.name = "notify"
        thread.start()
    }

    private func environment() -> [String] {
        var lines: [String] = []
        var next = environ
        while let line = next.pointee {
            lines.append(String(cString: line))
            next += 1
        }
        return lines
    }

    /// Runs a program to its end: what it answers, or the errno that kept it from running.
    private static func spawn(_ words: [String], _ variables: [String]) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // The daemon leaves its signals to one thread; the command takes its own.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let code = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &environment)
        guard code == 0 else { return code }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return errno }
        }
        return status
    }
}

extension ShareNews {
    fileprivate func message(about path: String) -> String {
        switch kind {
        case .accepted: "\(who) has accepted \(path)".onOneLine
        case .left: "\(who) has \(path) no longer".onOneLine
        case .requested:
            "\(who) asks for access to \(path): recordfs share requests \(path)".onOneLine
        case .ended: "\(path) is not shared with you any more".onOneLine
        case .invited: invitation?.line ?? ""
        }
    }
}
