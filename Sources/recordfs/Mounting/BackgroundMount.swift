import Glibc
import RecordControl
import RecordDaemon
import RecordModel

/// Starts this program again to serve a mount in a session of its own, and waits until it does.
struct BackgroundMount {
    let settings: MountSettings

    func start() throws(CommandFailure) {
        let log = HostPaths.log(ofState: settings.directory)
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
        switch ReadyPipe.Message(Self.readAll(ends[0])) {
        case .ready: return
        case .failed(let failure):
            let failure = CommandFailure(failure)
            let lines = Self.helperLines(in: log, from: logged)
            throw CommandFailure(
                failure.subject, ([failure.message] + lines).joined(separator: "\n"),
                status: failure.status)
        case nil:
            throw CommandFailure(
                settings.mountpoint,
                "the background process ended before it was ready. \(log) may say why.")
        }
    }

    private func spawn(ready: Int32, log: String) throws(CommandFailure) {
        try reporting(log) { () throws(RecordError) in
            try HostDirectory.make(HostDirectory.parent(of: log))
        }
        let words =
            ["recordfs"] + settings.arguments(readyDescriptor: ProcessStart.passedNumber)
        // The mount must not keep the caller's files open.
        var process = ProcessStart("/proc/self/exe", words)
        process.log = log
        process.passedOn = ready
        do throws(ProcessStart.Failure) {
            _ = try process.run()
        } catch {
            throw Self.failure("cannot be started", error.errno)
        }
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

    private static func failure(_ what: String, _ code: Int32) -> CommandFailure {
        CommandFailure("mount", "\(what): \(String(cString: strerror(code))).")
    }
}
