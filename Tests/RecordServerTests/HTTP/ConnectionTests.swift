import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// How connections behave over time: what is slow, large, crowded or broken off.
@Suite("Connections") struct ConnectionTests {
    /// Without a user, but with an API token: bodies are read only for those who may ask.
    static let query =
        "/database/1/iCloud.org.example.app/development/public/records/query?ckAPIToken="
        + TestServer.apiTokens[0]

    /// One second for everything, so that tests wait for little.
    private func server(
        _ configure: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        try await TestServer(.socket) {
            $0.limits.headerSeconds = 1
            $0.limits.bodySeconds = 1
            $0.limits.uploadIdleSeconds = 1
            $0.limits.keepAliveSeconds = 1
            configure(&$0)
        }
    }

    @Test("a header that never ends is answered 408 and the connection ends")
    func slowHeader() async throws {
        let server = try await server()
        let (answer, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send("GET /health HTTP/1.1\r\nHost: local")
            return (try connection.readAnswer(), try connection.readToEnd())
        }
        #expect(answer?.status == 408)
        #expect(answer?.header("connection") == "close")
        #expect(rest.isEmpty)
    }

    @Test("a header that comes byte by byte is not given more time")
    func drippedHeader() async throws {
        let server = try await server()
        let answer = try await server.raw { port in
            let connection = try RawConnection(port: port, pause: 0.05)
            var answer: RawAnswer?
            try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            // Each turn waits for an answer for a moment and then sends one more byte.
            for _ in 0..<200 where answer == nil {
                do { answer = try connection.readAnswer() } catch { try connection.send("a") }
            }
            return answer
        }
        #expect(answer?.status == 408)
    }

    @Test("the answer to the last request says so, and nothing is answered after it")
    func lastRequest() async throws {
        let server = try await server()
        let (first, last, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
            try connection.send(
                request + "\r\n" + request + "Connection: close\r\n\r\n" + request + "\r\n")
            return (
                try connection.readAnswer(), try connection.readAnswer(),
                try connection.readToEnd()
            )
        }
        #expect(first?.status == 200 && first?.header("connection") == nil)
        #expect(last?.status == 200 && last?.header("connection") == "close")
        #expect(rest.isEmpty)
    }

    @Test("a connection that sends nothing ends without an answer")
    func silent() async throws {
        let server = try await server()
        let bytes = try await server.raw { try RawConnection(port: $0).readToEnd() }
        #expect(bytes.isEmpty)
    }

    @Test("a connection that is kept alive ends when it is idle for too long")
    func keepAlive() async throws {
        let server = try await server()
        let (first, second, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let first = try connection.readAnswer()
            try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return (first, try connection.readAnswer(), try connection.readToEnd())
        }
        #expect(first?.status == 200)
        #expect(second?.status == 200)
        #expect(rest.isEmpty)
    }

    @Test("a body that never ends is answered 408")
    func slowBody() async throws {
        let server = try await server()
        let answer = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(Self.query) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            return try connection.readAnswer()
        }
        #expect(answer?.status == 408)
        #expect(answer?.header("connection") == "close")
    }

    @Test("a chunked body that never ends is answered 413 at the limit")
    func endlessChunks() async throws {
        let server = try await server({ $0.limits.bodySeconds = 30 })
        let (answer, sent) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(Self.query) HTTP/1.1\r\nHost: localhost\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n")
            let chunk =
                Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 65_536)
                + Array("\r\n".utf8)
            var sent = 0
            do {
                while sent < 64 << 20 {
                    try connection.send(chunk)
                    sent += 65_536
                }
            } catch {}
            return (try connection.readAnswer(), sent)
        }
        #expect(answer?.status == 413)
        #expect(answer?.text.contains("LIMIT_EXCEEDED") == true)
        #expect(sent < 32 << 20)
    }

    @Test("a body that ends too early is refused and not taken for the whole")
    func truncatedBody() async throws {
        let server = try await server()
        let answer = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(Self.query) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{}")
            connection.finishSending()
            return try connection.readAnswer()
        }
        #expect(answer == nil || answer?.status == 400)
    }

    @Test("a connection that is reset inside a body leaves the server alone")
    func reset() async throws {
        let server = try await server()
        try await server.raw { port in
            for _ in 0..<50 {
                let connection = try RawConnection(port: port)
                try connection.send(
                    "POST \(Self.query) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
                connection.reset()
            }
        }
        #expect(try await server.request(.get, "/health").status == 200)
    }

    @Test("Expect: 100-continue is answered before the body, but not for one that is too large")
    func expectation() async throws {
        let server = try await server()
        let target = try await server.target(.zonesList, .private, as: .alice)
        let (first, second) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            let first = try connection.readAnswer()
            try connection.send("{}")
            return (first, try connection.readAnswer())
        }
        #expect(first?.status == 100)
        #expect(second?.status == 200)
        let refused = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            return try connection.readAnswer()
        }
        #expect(refused?.status == 413)
    }

    @Test("pipelined requests are answered in their order, up to a bad one")
    func pipelining() async throws {
        let server = try await server()
        let (answers, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    + "GET /health HTTP/9.9\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            var answers: [Int] = []
            while let answer = try connection.readAnswer() { answers.append(answer.status) }
            return (answers, try connection.readToEnd())
        }
        #expect(answers == [200, 404, 200, 400])
        #expect(rest.isEmpty)
    }

    @Test("a request for another protocol is answered as what it is")
    func upgrade() async throws {
        let server = try await server()
        let (answer, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
                    + "Upgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\n"
                    + "Sec-WebSocket-Version: 13\r\n\r\n")
            return (try connection.readAnswer(), try connection.readToEnd())
        }
        #expect(answer?.status == 200)
        #expect(rest.isEmpty)
    }

    @Test("a client of HTTP/1.0 gets its answer and the end of the connection")
    func version10() async throws {
        let server = try await server()
        let (answer, rest) = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send("GET /health HTTP/1.0\r\n\r\n")
            return (try connection.readAnswer(), try connection.readToEnd())
        }
        #expect(answer?.status == 200)
        #expect(answer?.header("connection") == "close")
        #expect(rest.isEmpty)
    }

    @Test("a target in absolute form is answered like its path")
    func absoluteForm() async throws {
        let server = try await server()
        let answer = try await server.request(.get, "http://localhost/health")
        #expect(answer.status == 200)
    }

    @Test("one connection too many, of a client or in all, ends the one that is idle for longest")
    func crowdedByIdle() async throws {
        for isTotal in [false, true] {
            let server = try await crowdedServer(5, isTotal: isTotal)
            try await server.raw { port in
                var connections: [RawConnection] = []
                for _ in 0..<5 {
                    let connection = try RawConnection(port: port)
                    try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(try connection.readAnswer()?.status == 200)
                    connections.append(connection)
                }
                let next = try RawConnection(port: port)
                try next.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try next.readAnswer()?.status == 200)
                #expect(try connections[0].readToEnd().isEmpty)
                for connection in connections.dropFirst() + [next] {
                    try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(try connection.readAnswer()?.status == 200)
                }
            }
        }
    }

    private func crowdedServer(_ limit: Int, isTotal: Bool) async throws -> TestServer {
        try await server {
            if isTotal {
                $0.limits.connections = limit
            } else {
                $0.limits.connectionsPerAddress = limit
            }
            $0.limits.keepAliveSeconds = 600
            $0.limits.headerSeconds = 600
            $0.limits.bodySeconds = 600
        }
    }

    /// Every second one stops in the body of a request to the target, the others in a header.
    private static func slowConnection(
        _ port: Int, _ index: Int, _ target: String
    ) throws -> RawConnection {
        let connection = try RawConnection(port: port)
        try connection.send(
            index % 2 == 0
                ? "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{"
                : "GET /health HTTP/1.1\r\nHost: loc")
        return connection
    }

    @Test("slow connections up to the limit keep no neighbour out", arguments: [false, true])
    func neighbour(_ isTotal: Bool) async throws {
        let server = try await crowdedServer(20, isTotal: isTotal)
        let target = try await server.target(.zonesList, .private, as: .alice)
        let statuses = try await server.raw { port in
            var slow: [RawConnection] = []
            var statuses: [Int?] = []
            for index in 0..<60 {
                slow.append(try Self.slowConnection(port, index, target))
                guard index >= 20 else { continue }
                let honest = try RawConnection(port: port)
                try honest.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                statuses.append(try honest.readAnswer()?.status)
                honest.close()
            }
            return statuses
        }
        #expect(statuses == Array(repeating: 200, count: 40))
    }

    @Test("where every connection has a request at work, one too many is refused until one ends")
    func crowdedByWork() async throws {
        for isTotal in [false, true] {
            let server = try await server {
                if isTotal {
                    $0.limits.connections = 3
                } else {
                    $0.limits.connectionsPerAddress = 3
                }
                $0.limits.keepAliveSeconds = 600
                $0.push.holdTime = .seconds(600)
            }
            var polls: [RawConnection] = []
            for _ in 0..<3 {
                // Through the service, which needs no connection.
                let path = try await courier(server)
                polls.append(
                    try await server.raw { port in
                        let poll = try RawConnection(port: port)
                        try poll.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        return poll
                    })
                let deadline = Deadline(seconds: 20)
                while server.service.push.statistics.waitingPolls != polls.count {
                    try #require(!deadline.isOver)
                    await Task.yield()
                }
            }
            let refused = try await server.raw { try RawConnection(port: $0).readAnswer() }
            #expect(refused?.status == 503)
            #expect(refused?.text.contains("TRY_AGAIN_LATER") == true)
            server.service.push.shutdown()
            let answer = try await server.raw { [polls] port in
                for poll in polls { #expect(try poll.readAnswer()?.status == 200) }
                let next = try RawConnection(port: port)
                try next.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return try next.readAnswer()
            }
            #expect(answer?.status == 200)
        }
    }

    /// The path of a courier of a new device of alice.
    private func courier(_ server: TestServer) async throws -> String {
        let alice = try #require(TestServer.Person.alice.user)
        let session = SessionRow(
            id: Text(SecureRandom.hex128()), user: alice, container: TestServer.development,
            createdMilliseconds: 1, expiresMilliseconds: .max, label: "")
        let user = try #require(
            try await server.storage.write { (transaction) throws(ServerError) in
                try transaction.putSession(session)
                return try transaction.user(alice)
            })
        let answer = try await server.service.answer(
            ["apnsEnvironment": "development"],
            OperationContext(
                endpoint: .tokensCreate, container: TestServer.development, scope: .public,
                caller: .user(user), session: session.id, requestID: "r", now: server.clock.now,
                baseURL: ""))
        return try #require(try JSONParser.parse(answer)["webcourierURL"]?.string).string
    }

    @Test("500 slow connections keep no answer from an honest client, and stay")
    func slowloris() async throws {
        // Longer than a client waits: who stood in a row behind one of them would get nothing.
        let server = try await TestServer(.socket) {
            $0.limits.headerSeconds = 3_600
            $0.limits.bodySeconds = 3_600
        }
        let target = try await server.target(.zonesList, .private, as: .alice)
        let answers = try await server.raw { port in
            var slow: [RawConnection] = []
            for index in 0..<500 {
                slow.append(try Self.slowConnection(port, index, target))
            }
            var answers: [Int?] = []
            let honest = try RawConnection(port: port)
            for index in 0..<200 {
                for connection in slow.dropFirst(index % 10 * 50).prefix(50) {
                    try connection.send("a")
                }
                try honest.send(
                    "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
                answers.append(try honest.readAnswer()?.status)
            }
            return answers
        }
        #expect(answers == Array(repeating: 200, count: 200))
    }

    @Test("a graceful stop ends idle connections and lets requests end")
    func stop() async throws {
        let server = try await server {
            $0.limits.keepAliveSeconds = 60
            $0.limits.bodySeconds = 60
        }
        let target = try await server.target(.zonesList, .private, as: .alice)
        let (idle, busy) = try await server.raw { port in
            let idle = try RawConnection(port: port)
            try idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try idle.readAnswer()
            let busy = try RawConnection(port: port)
            try busy.send(
                "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            #expect(try busy.readAnswer()?.status == 100)
            return (idle, busy)
        }
        async let stopped: Void = server.stop()
        let answer = try await server.raw { port in
            #expect(try idle.readToEnd().isEmpty)
            // Idle connections and the listening socket end in no certain order.
            var accepts = true
            for _ in 0..<200 where accepts {
                accepts = (try? RawConnection(port: port).readToEnd()) != nil
            }
            #expect(!accepts)
            try busy.send("{}")
            return try busy.readAnswer()
        }
        #expect(answer?.status == 200)
        try await stopped
    }

    @Test("a graceful stop breaks off what takes too long")
    func stopDeadline() async throws {
        let server = try await server {
            $0.limits.bodySeconds = 600
            $0.stopSeconds = 1
        }
        let connection = try await server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send(
                "POST \(Self.query) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            #expect(try connection.readAnswer()?.status == 100)
            return connection
        }
        try await server.stop()
        connection.close()
    }
}
