import CTestSystem
import Glibc
import TestSupport

/// A program on a terminal of its own, driven as a person would: keys in, screen text out.
final class Terminal {
    private let primary: Int32
    private let pid: pid_t
    private let exit = ProcessExit()
    private var screen: [UInt8] = []
    /// Bytes of the plain text that matches have used up.
    private var seen = 0

    init(
        _ arguments: [String], environment: [String: String] = [:], directory: String? = nil
    ) throws {
        var name = [CChar](repeating: 0, count: 256)
        primary = test_open_terminal(&name, name.count)
        guard primary >= 0 else { throw SystemCallError("posix_openpt") }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a new session opens is its controlling terminal.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        if let directory { test_spawn_directory(&actions, directory) }
        pid = try Child.spawn(arguments, environment, &actions, 0x80)  // POSIX_SPAWN_SETSID
        exit.watch(pid)
    }

    deinit {
        if !exit.isEnded { kill(-pid, SIGKILL) }
        close(primary)
    }

    func send(_ keys: String) throws { try SystemCall.write(primary, Array(keys.utf8)) }

    /// Waits until one of `texts` appears in what the program has drawn since the last match.
    @discardableResult
    func expect(_ texts: String..., seconds: Double = 20) throws -> String {
        let deadline = Deadline(seconds: seconds)
        while true {
            let drawn = Array(plain(screen[...]).utf8)
            let fresh = drawn[min(seen, drawn.count)...]
            for text in texts {
                if let found = fresh.firstRange(of: Array(text.utf8)) {
                    seen = found.upperBound
                    return text
                }
            }
            guard try readMore(deadline) else {
                throw ChildFailure(
                    description: "the terminal never showed \(texts); it showed: "
                        + String(decoding: fresh.suffix(2000), as: UTF8.self))
            }
        }
    }

    /// What has been drawn since the last match, and what the program still draws until it ends.
    func finish(seconds: Double = 20) throws -> ChildResult {
        let deadline = Deadline(seconds: seconds)
        while try readMore(deadline) {}
        guard let status = exit.status(within: Double(deadline.milliseconds) / 1000 + 1) else {
            kill(-pid, SIGKILL)
            throw ChildFailure(
                description: "still running; last drawn: \(text.suffix(2000))")
        }
        return ChildResult(status: status, output: plain(screen[...]), errors: "")
    }

    var text: String { plain(screen[...]) }
    /// What has been drawn, with escape sequences.
    var drawn: String { String(decoding: screen, as: UTF8.self) }

    private func readMore(_ deadline: Deadline) throws -> Bool {
        var event = pollfd(fd: primary, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, deadline.milliseconds) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // EIO says that the last process on the terminal has gone.
        let count = buffer.withUnsafeMutableBytes { read(primary, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        screen += buffer.prefix(count)
        return true
    }

    /// The drawn text without escape sequences; cursor movements become spaces.
    private func plain(_ bytes: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == 0x1b else {
                text.append(byte)
                continue
            }
            guard let kind = rest.popFirst() else { break }
            if kind == UInt8(ascii: "[") {
                let final = rest.firstIndex { (0x40...0x7e).contains($0) } ?? rest.endIndex
                if final < rest.endIndex, rest[final] != UInt8(ascii: "m") { text.append(0x20) }
                rest = rest[min(final + 1, rest.endIndex)...]
            } else if kind == UInt8(ascii: "]") {
                let final = rest.firstIndex { $0 == 0x07 || $0 == 0x1b } ?? rest.endIndex
                rest = rest[min(final + 1, rest.endIndex)...]
            } else if kind == UInt8(ascii: "(") {
                rest = rest.dropFirst()
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
