import Glibc
import RecordModel
import ServerTestSupport
import TestSupport

/// Chromium without a window, driven over a pair of pipes by the Chrome DevTools Protocol: JSON
/// messages, each with a NUL at its end. Its calls block: use it inside `RawHTTP.run`.
final class Browser {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let pid: pid_t
    private let input: Int32
    private let output: Int32
    private let profile: TemporaryDirectory
    private var received: [UInt8] = []
    private var events: [JSONValue] = []
    private var lastID: Int64 = 0

    init() throws {
        profile = try TemporaryDirectory()
        let toBrowser = try Self.makePipe()
        let fromBrowser = try Self.makePipe()
        (input, output) = (toBrowser.writing, fromBrowser.reading)
        defer {
            close(toBrowser.reading)
            close(fromBrowser.writing)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, toBrowser.reading, 3)
        posix_spawn_file_actions_adddup2(&actions, fromBrowser.writing, 4)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let arguments = [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-extensions", "--disable-background-networking",
            "--remote-debugging-pipe", "--user-data-dir=\(profile.path)", "about:blank",
        ]
        let argv = arguments.map { strdup($0) } + [nil]
        let names: [String] = ["PATH", "HOME", "TMPDIR"].compactMap { (name: String) in
            getenv(name).map { name + "=" + String(cString: $0) }
        }
        let envp = names.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, "chromium", &actions, &attributes, argv, envp)
        guard code == 0 else { throw Failure(description: "chromium: errno \(code)") }
        pid = child
    }

    deinit {
        close(input)
        close(output)
        kill(-pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// Beyond the numbers that the child gets, and closed in every other child.
    private static func makePipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(description: "pipe: \(errno)") }
        let high = ends.map { fcntl($0, F_DUPFD_CLOEXEC, 10) }
        for end in ends { close(end) }
        return (high[0], high[1])
    }

    /// Sends a command and gives its result.
    func call(_ method: String, _ parameters: [JSONMember] = [], session: Text? = nil) throws
        -> JSONValue
    {
        lastID += 1
        let id = lastID
        var members = [
            JSONMember(key: "id", value: JSONValue(id)),
            JSONMember(key: "method", value: .string(Text(method))),
            JSONMember(key: "params", value: .object(parameters)),
        ]
        if let session { members.append(JSONMember(key: "sessionId", value: .string(session))) }
        try send(JSONValue.object(members).serialized() + [0])
        while true {
            let message = try receive()
            guard message["id"]?.int64 == id else {
                events.append(message)
                continue
            }
            if let error = message["error"] {
                let text = error["message"]?.string?.string ?? "?"
                throw Failure(description: "\(method): \(text)")
            }
            return message["result"] ?? .null
        }
    }

    /// The parameters of the next event of this name; events before it are dropped.
    func event(_ method: String, session: Text? = nil) throws -> JSONValue {
        while true {
            let event = try events.isEmpty ? receive() : events.removeFirst()
            let isOfSession = session == nil || event["sessionId"]?.string == session
            if isOfSession, event["method"]?.string?.string == method {
                return event["params"] ?? .null
            }
        }
    }

    func forgetEvents() { events = [] }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(description: "chromium is gone: \(errno)") }
            rest = rest.dropFirst(count)
        }
    }

    private func receive() throws -> JSONValue {
        let deadline = Deadline(seconds: 60)
        while true {
            if let mark = received.firstIndex(of: 0) {
                let message = Array(received[..<mark])
                received.removeFirst(mark + 1)
                return try JSONParser.parse(message)
            }
            var item = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard !deadline.isOver, poll(&item, 1, 1000) >= 0 else {
                throw Failure(description: "chromium does not answer")
            }
            guard item.revents != 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { throw Failure(description: "chromium has ended") }
            received += buffer.prefix(count)
        }
    }
}

/// One tab of a browser.
struct BrowserTab {
    let browser: Browser
    let session: Text

    /// A new tab.
    init(_ browser: Browser) throws {
        let made = try browser.call(
            "Target.createTarget", [JSONMember(key: "url", value: "about:blank")])
        try self.init(browser, target: made["targetId"]?.string ?? "")
    }

    /// A tab that is there already, such as one that a page opened.
    init(_ browser: Browser, target: Text) throws {
        self.browser = browser
        let attached = try browser.call(
            "Target.attachToTarget",
            [
                JSONMember(key: "targetId", value: .string(target)),
                JSONMember(key: "flatten", value: .bool(true)),
            ])
        session = attached["sessionId"]?.string ?? ""
        _ = try call("Page.enable")
        _ = try call("Runtime.enable")
    }

    func call(_ method: String, _ parameters: [JSONMember] = []) throws -> JSONValue {
        try browser.call(method, parameters, session: session)
    }

    /// Returns once the page is loaded, after all redirects.
    func navigate(_ url: String) throws {
        browser.forgetEvents()
        _ = try call("Page.navigate", [JSONMember(key: "url", value: .string(Text(url)))])
        _ = try browser.event("Page.loadEventFired", session: session)
    }

    /// The value of an expression.
    func evaluate(_ expression: String) throws -> JSONValue {
        let answer = try call(
            "Runtime.evaluate",
            [
                JSONMember(key: "expression", value: .string(Text(expression))),
                JSONMember(key: "returnByValue", value: .bool(true)),
                JSONMember(key: "awaitPromise", value: .bool(true)),
                JSONMember(key: "userGesture", value: .bool(true)),
            ])
        if let exception = answer["exceptionDetails"] {
            throw Browser.Failure(
                description: "\(expression): \(exception["text"]?.string?.string ?? "?")")
        }
        return answer["result"]?["value"] ?? .null
    }

    func text(_ expression: String) throws -> String {
        try evaluate(expression).string?.string ?? ""
    }

    /// Types into the field that `selector` finds, key by key where it matters to the page.
    func fill(_ selector: String, _ value: String) throws {
        _ = try evaluate("document.querySelector('\(selector)').focus()")
        _ = try call("Input.insertText", [JSONMember(key: "text", value: .string(Text(value)))])
    }

    /// Clicks in the middle of what `selector` finds.
    func click(_ selector: String) throws {
        let place = try text(
            """
            (() => { const e = document.querySelector('\(selector)'); e.scrollIntoView();
            const r = e.getBoundingClientRect();
            return (r.x + r.width / 2) + ' ' + (r.y + r.height / 2) })()
            """
        ).split(separator: " ").compactMap { Double($0) }
        guard place.count == 2, let x = JSONNumber(place[0]), let y = JSONNumber(place[1]) else {
            throw Browser.Failure(description: "no \(selector)")
        }
        for type in ["mousePressed", "mouseReleased"] {
            _ = try call(
                "Input.dispatchMouseEvent",
                [
                    JSONMember(key: "type", value: .string(Text(type))),
                    JSONMember(key: "x", value: .number(x)),
                    JSONMember(key: "y", value: .number(y)),
                    JSONMember(key: "button", value: "left"),
                    JSONMember(key: "clickCount", value: JSONValue(1)),
                ])
        }
    }

    /// Clicks, and returns once the page that follows is loaded.
    func follow(_ selector: String) throws {
        browser.forgetEvents()
        try click(selector)
        _ = try browser.event("Page.loadEventFired", session: session)
    }

    func setScriptsDisabled() throws {
        _ = try call(
            "Emulation.setScriptExecutionDisabled",
            [JSONMember(key: "value", value: .bool(true))])
    }

    /// The screen of a small telephone.
    func setPhone() throws {
        _ = try call(
            "Emulation.setDeviceMetricsOverride",
            [
                JSONMember(key: "width", value: JSONValue(320)),
                JSONMember(key: "height", value: JSONValue(568)),
                JSONMember(key: "deviceScaleFactor", value: JSONValue(2)),
                JSONMember(key: "mobile", value: .bool(true)),
            ])
    }
}
