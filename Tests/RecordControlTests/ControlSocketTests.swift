import Glibc
import RecordControl
import RecordModel
import Synchronization
import Testing

@Suite("Control socket")
struct ControlSocketTests {
    /// A server whose answer to `put` is the text, and to everything else a refusal.
    private func echo(_ directory: String) throws -> ControlServer {
        try ControlServer(directory: directory, logger: .quiet) {
            (request, _) throws(RecordError) in
            guard case .put(let path, let text) = request else {
                throw RecordError(
                    .schemaMismatch, "no", at: TextPosition(line: 3, column: 7, offset: 40))
            }
            return ControlReply(.members(["path": .text(path.bytes)]), body: text)
        }
    }

    private func client(_ directory: String) throws -> ControlClient {
        try #require(try ControlClient.connect(directory: directory, timeoutSeconds: 10))
    }

    private func rawSocket(_ directory: String) throws -> ControlSocket {
        let socket = try #require(try ControlAddress(directory: directory).connect())
        socket.setTimeout(receivingSeconds: 10, sendingSeconds: 10)
        return socket
    }

    @Test("the socket is for its user only, and the directory stays as it is")
    func modes() throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let server = try echo(directory.path)
        defer { server.stop() }
        var status = stat()
        #expect(stat(directory.path, &status) == 0 && status.st_mode & 0o777 == 0o755)
        #expect(stat("\(directory.path)/control.sock", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_mode & S_IFMT == S_IFSOCK)
        #expect(try rawSocket(directory.path).peerUserID == geteuid())
    }

    @Test("an empty directory at the socket's place goes, and one with files is named")
    func directory() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/control.sock"
        #expect(mkdir(path, 0o755) == 0)
        try echo(directory.path).stop()
        #expect(mkdir(path, 0o755) == 0 && mkdir("\(path)/kept", 0o755) == 0)
        let error = #expect(throws: RecordError.self) { _ = try echo(directory.path) }
        #expect(error?.message.contains("is a directory; move it away") ?? false)
        #expect(access("\(path)/kept", F_OK) == 0)
    }

    @Test("a request with every byte in its body comes back as it was")
    func roundTrip() throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let client = try client(directory.path)
        let text = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        for _ in 0..<3 {
            let reply = try client.perform(.put(try RecordPath("private/Z/T/a"), text: text))
            #expect(reply.body == text)
            #expect(reply.result.stringMember("path") == "private/Z/T/a.json")
        }
    }

    @Test("a refusal arrives with code, message and position, and the connection lives on")
    func refusal() throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let client = try client(directory.path)
        let refused = try error { _ = try client.perform(.status) }
        #expect(
            refused
                == RecordError(
                    .schemaMismatch, "no", at: TextPosition(line: 3, column: 7, offset: 40)))
        _ = try client.perform(.put(try RecordPath("private/Z/T/a"), text: []))
    }

    @Test("every error code survives the socket", arguments: RecordError.Code.allCases)
    func codes(code: RecordError.Code) throws {
        let error = RecordError(code, "message", errno: 28)
        #expect(RecordError(json: error.json) == error)
    }

    @Test("a path longer than a socket address works")
    func longPath() throws {
        let directory = try TemporaryDirectory()
        let deep = directory.path + "/" + String(repeating: "d", count: 120)
        #expect(mkdir(deep, 0o700) == 0)
        let server = try echo(deep)
        defer { server.stop() }
        _ = try client(deep).perform(.put(try RecordPath("private/Z/T/a"), text: []))
    }

    @Test("a socket that a killed daemon left is nobody, and is replaced")
    func leftOver() throws {
        let directory = try TemporaryDirectory()
        do {
            _ = try ControlAddress(directory: directory.path).listen()
        }
        #expect(try ControlClient.connect(directory: directory.path) == nil)
        let server = try echo(directory.path)
        defer { server.stop() }
        _ = try client(directory.path).perform(.put(try RecordPath("private/Z/T/a"), text: []))
    }

    @Test("no socket is nobody")
    func nobody() throws {
        let directory = try TemporaryDirectory()
        #expect(try ControlClient.connect(directory: directory.path) == nil)
        #expect(try ControlClient.connect(directory: "\(directory.path)/none") == nil)
    }

    @Test(
        "a malformed message is refused and the connection closed",
        arguments: [
            ([0, 0, 0, 3, 0, 0, 0, 0] + bytes("{}}"), RecordError.Code.invalidJSON),
            ([0, 0, 0, 0, 0, 0, 0, 0], .invalidJSON),
            ([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], .tooLarge),
            ([0, 0, 0, 2, 0x04, 0, 0, 0], .tooLarge),
        ])
    func malformed(message: [UInt8], code: RecordError.Code) throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let socket = try rawSocket(directory.path)
        try socket.send(bytes: message)
        let answer = try #require(try socket.receive())
        #expect(try error { _ = try ControlReply(answer) }.code == code)
        #expect(try socket.receive() == nil)
        _ = try client(directory.path).perform(.put(try RecordPath("private/Z/T/a"), text: []))
    }

    @Test(
        "a message that ends early is refused",
        arguments: [
            [0, 0], [0, 0, 0, 9, 0, 0, 0, 0, 0x7B], [0, 0, 0, 2, 0, 0, 0, 5, 0x7B, 0x7D],
        ])
    func truncated(message: [UInt8]) throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let socket = try rawSocket(directory.path)
        try socket.send(bytes: message)
        shutdown(socket.descriptor, Int32(SHUT_WR))
        let answer = try #require(try socket.receive())
        #expect(try error { _ = try ControlReply(answer) }.code == .invalidArgument)
    }

    @Test(
        "well-formed messages that ask nothing known are refused, and the connection lives on",
        arguments: [
            (#"{"request":"put","path":"private/Z/T/a"}"#, RecordError.Code.unsupported),
            (#"{"version":2,"request":"status"}"#, .unsupported),
            (#"{"version":1,"request":"format"}"#, .unsupported),
            (#"{"version":1,"request":"verb","verb":"explode"}"#, .unsupported),
            (#"{"version":1,"request":"put"}"#, .invalidArgument),
            (#"{"version":1,"request":"put","path":"nowhere"}"#, .invalidName),
            (
                #"{"version":1,"request":"importBatch","path":"private/Z/T","rows":[["a",9]]}"#,
                .invalidArgument
            ),
            (
                #"{"version":1,"request":"importBatch","path":"private/Z/T","rows":[["a",-1]]}"#,
                .invalidArgument
            ),
            ("[]", .unsupported),
        ])
    func unknown(header: String, code: RecordError.Code) throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let socket = try rawSocket(directory.path)
        for _ in 0..<2 {
            try socket.send(ControlFrame(header: try JSONParser.parse(bytes(header))))
            let answer = try #require(try socket.receive())
            #expect(try error { _ = try ControlReply(answer) }.code == code)
        }
    }

    @Test("a request over the limit is refused before it is sent")
    func oversize() throws {
        let body = [UInt8](repeating: 0x20, count: ControlFrame.limit)
        let request = ControlRequest.put(try RecordPath("private/Z/T/a"), text: body)
        #expect(try error { _ = try request.frame.encoded() }.code == .tooLarge)
    }

    @Test("many clients at once each get their own answers")
    func concurrent() async throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let path = try RecordPath("private/Z/T/a")
        let place = directory.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let client = try #require(try ControlClient.connect(directory: place))
                    for round in 0..<50 {
                        let text = bytes("\(number)-\(round)")
                        #expect(try client.perform(.put(path, text: text)).body == text)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("connections over the limit are told to come back")
    func limit() throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        defer { server.stop() }
        let path = try RecordPath("private/Z/T/a")
        var clients: [ControlClient] = []
        for _ in 0..<ControlServer.connectionLimit {
            let client = try client(directory.path)
            _ = try client.perform(.put(path, text: []))
            clients.append(client)
        }
        let socket = try rawSocket(directory.path)
        let answer = try #require(try socket.receive())
        #expect(try error { _ = try ControlReply(answer) }.code == .timedOut)
        _ = try clients[0].perform(.put(path, text: []))
    }

    @Test("an answer that does not come in time is an error, not a wait for ever")
    func silence() throws {
        let directory = try TemporaryDirectory()
        let listener = try ControlAddress(directory: directory.path).listen()
        let client = try #require(
            try ControlClient.connect(directory: directory.path, timeoutSeconds: 1))
        #expect(try error { _ = try client.perform(.status) }.code == .timedOut)
        listener.shutDown()
    }

    @Test("stopping finishes what is being answered, ends idle clients and removes the socket")
    func stop() throws {
        let directory = try TemporaryDirectory()
        let server = try echo(directory.path)
        let client = try client(directory.path)
        _ = try client.perform(.put(try RecordPath("private/Z/T/a"), text: []))
        server.stop()
        #expect(access("\(directory.path)/control.sock", F_OK) != 0)
        #expect(try error { _ = try client.perform(.status) }.code == .ioFailure)
        server.stop()
    }
}
