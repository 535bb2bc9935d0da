import Glibc
import Logging
import TestSupport
import Testing

@testable import RecordDaemon

/// The command of a notice, as a process.
@Suite struct NoticeRunnerTests {
    @Test("the command has the variables of the notice, and those of the daemon")
    func variables() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        // Open for both, so that it has no end before the command has written.
        let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        try #require(pipe >= 0)
        defer { close(pipe) }
        let runner = NoticeRunner("echo \"$RECORDFS_WHO ${PATH:+path}\" > '\(path)'", .quiet)
        runner.run(["RECORDFS_WHO": "ada@example.org"])
        var events = [pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)]
        try #require(poll(&events, 1, Deadline(seconds: 10).milliseconds) == 1)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(pipe, &bytes, bytes.count)
        #expect(
            String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
                == "ada@example.org path\n")
    }
}
