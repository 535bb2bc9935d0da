import FuseKit
import Glibc
import RecordControl
import RecordModel

/// Starts this program again to serve a mount in a session of its own, and waits until it does.
///
/// The child writes `R` to a pipe when the directory can be used, or `E` and its error as JSON.
struct BackgroundMount {
    /// The pipe's number in the child.
    private static let readyDescriptor: Int32 = 3

    let settings: MountSettings

    func start() throws(CommandFailure) {
        let log = Places.log(ofState: settings.directory)
        Self.rotate(log)
        let logged = Self.size(log)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure("cannot be started", errno) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        defer { close(ends[0]) }
        do {
            defer { close(ends[1]) }
            try spawn(ready: ends[1], log: log)
        }
        let answer = Self.readAll(ends[0])
        switch answer.first {
        case UInt8(ascii: "R"): return
        case UInt8(ascii: "E"):
            throw Self.refusal(
                Array(answer.dropFirst()), helper: Self.helperLines(in: log, from: logged))
        default:
            throw CommandFailure(
                settings.mountpoint,
                "the background process ended before it was ready. \(log) may say why.")
        }
    }

    private func spawn(ready: Int32, log: String) throws(CommandFailure) {
        try reporting(log) { () throws(RecordError) in
            try HostDirectory.make(
                log.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" })
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        posix_spawn_file_actions_adddup2(&actions, ready, Self.readyDescriptor)
        // The mount must not keep the caller's files open.
        closeInherited(from: Self.readyDescriptor + 1, in: &actions)
        let words = ["recordfs"] + settings.arguments(readyDescriptor: Self.readyDescriptor)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        arguments.append(nil)
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, arguments, environ)
        guard code == 0 else { throw Self.failure("cannot be started", code) }
    }

    /// Keeps one old log, so that logs stay small.
    private static func rotate(_ log: String) {
        if size(log) > 1 << 20 { rename(log, "\(log).1") }
    }

    private static func size(_ log: String) -> off_t {
        var status = stat()
        return stat(log, &status) == 0 ? status.st_size : 0
    }

    /// Returns the messages of libfuse and its helper. They know why a mount was refused, and write
    /// it only to standard error, which is the log.
    private static func helperLines(in log: String, from start: off_t) -> [String] {
        let descriptor = open(log, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        guard lseek(descriptor, start, SEEK_SET) == start else { return [] }
        return String(decoding: readAll(descriptor), as: UTF8.self)
            .split(separator: "\n").map(String.init).filter { $0.hasPrefix("fuse") }
    }

    private static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += chunk[0..<count]
        }
    }

    private static func refusal(_ json: [UInt8], helper lines: [String]) -> CommandFailure {
        do {
            let value = try JSONParser.parse(json)
            let failure = CommandFailure(value.stringMember("subject"), RecordError(json: value))
            return CommandFailure(
                failure.subject, ([failure.message] + lines).joined(separator: "\n"),
                status: failure.status)
        } catch {
            return CommandFailure(nil, error)
        }
    }

    private static func failure(_ what: String, _ code: Int32) -> CommandFailure {
        CommandFailure("mount", "\(what): \(String(cString: strerror(code))).")
    }
}
