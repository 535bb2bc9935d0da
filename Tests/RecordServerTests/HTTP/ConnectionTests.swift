import HTTPTypes
import RecordModel
import RecordServer
import RecordWire
import Testing

/// How connections behave over time: what is slow, large, crowded or broken off.
@Suite("Connections") struct ConnectionTests {
    static let query = "/database/1/iCloud.org.example.app/development/public/records/query"

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
            let connection = try RawConnection(port: port, deadline: 0.05)
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

    @Test("one connection too many of an address, or in all, is refused until another ends")
    func crowded() async throws {
        for isTotal in [false, true] {
            let server = try await server({
                if isTotal {
                    $0.limits.connections = 5
                } else {
                    $0.limits.connectionsPerAddress = 5
                }
                $0.limits.keepAliveSeconds = 30
            })
            try await server.raw { port in
                var connections: [RawConnection] = []
                for _ in 0..<5 {
                    let connection = try RawConnection(port: port)
                    try connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(try connection.readAnswer()?.status == 200)
                    connections.append(connection)
                }
                let refused = try RawConnection(port: port)
                let answer = try refused.readAnswer()
                #expect(answer?.status == 503)
                #expect(answer?.text.contains("TRY_AGAIN_LATER") == true)
                refused.close()
                connections[0].close()
                // The server learns of the ends in its own time.
                var status: Int?
                for _ in 0..<100 where status != 200 {
                    let next = try RawConnection(port: port)
                    try? next.send(
                        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    status = try next.readAnswer()?.status
                }
                #expect(status == 200)
            }
        }
    }

    @Test("500 slow connections do not delay an honest client")
    func slowloris() async throws {
        let server = try await TestServer(.socket) {
            $0.limits.headerSeconds = 120
            $0.limits.bodySeconds = 120
        }
        let target = try await server.target(.zonesList, .private, as: .alice)
        let times = try await server.raw { port in
            var slow: [RawConnection] = []
            for index in 0..<500 {
                let connection = try RawConnection(port: port)
                try connection.send(
                    index % 2 == 0
                        ? "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
                        : "GET /health HTTP/1.1\r\nHost: loc")
                slow.append(connection)
            }
            var times: [Duration] = []
            let honest = try RawConnection(port: port)
            for index in 0..<200 {
                for connection in slow.dropFirst(index % 10 * 50).prefix(50) {
                    try connection.send("a")
                }
                let start = ContinuousClock.now
                try honest.send(
                    "POST \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
                #expect(try honest.readAnswer()?.status == 200)
                times.append(ContinuousClock.now - start)
            }
            return times
        }
        let p99 = times.sorted()[times.count * 99 / 100]
        #expect(p99 < .seconds(1), "\(p99)")
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
