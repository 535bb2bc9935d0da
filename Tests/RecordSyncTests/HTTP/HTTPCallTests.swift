import Foundation
import RecordModel
import RecordSync
import Synchronization
import TestSupport
import Testing

/// Requests over real connections to servers that behave in their own ways.
@Suite("Requests over HTTP") struct HTTPCallTests {
    private let http = HTTPCall()

    private func wait(_ what: String, _ isSo: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !isSo() {
            guard ContinuousClock.now < deadline else {
                throw RecordError(.timedOut, "not in time: \(what)")
            }
            await Task.yield()
        }
    }

    @Test("have the status, the headers in lower case and the whole body of the answer")
    func answer() async throws {
        let heads = Mutex<[String]>([])
        let server = try ScriptedServer { _, connection in
            while let head = connection.head() {
                heads.withLock { $0.append(head) }
                // What comes before the answer is none.
                connection.send("HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\n")
                connection.send(
                    "HTTP/1.1 404 Not here\r\nX-One:  a: b\r\nContent-Length: 4\r\n\r\nbo")
                connection.send("dy")
            }
        }
        for _ in 0..<2 {
            let answer = try await http.send(
                "POST", server.url, headers: [("X-Asked", "yes"), ("Content-Type", "text/x")],
                body: .bytes(Array("text".utf8)))
            #expect(answer.status == 404)
            #expect(answer["x-one"] == "a: b")
            #expect(answer["X-Early"] == nil)
            #expect(answer.body == Array("body".utf8))
        }
        let all = heads.withLock { $0 }
        let head = try #require(all.first)
        #expect(head.hasPrefix("POST / HTTP/1.1\r\n"))
        #expect(head.contains("X-Asked: yes\r\n"))
        #expect(head.contains("Content-Type: text/x\r\n"))
        #expect(head.hasSuffix("\r\n\r\ntext"))
        // Nothing that nobody has asked for.
        #expect(head.components(separatedBy: "\r\n").count == 7, "\(head)")
    }

    @Test("without a body are GET, and their empty answers have none")
    func empty() async throws {
        let server = try ScriptedServer { _, connection in
            while connection.head() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        for method in ["GET", "POST"] {
            let answer = try await http.send(method, server.url)
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
        }
    }

    @Test("do not follow to another place, and take no answer that breaks off")
    func brokenOff() async throws {
        let server = try ScriptedServer { number, connection in
            _ = connection.head()
            connection.send(
                number == 0
                    ? "HTTP/1.1 302 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfive!")
        }
        #expect(try await http.send("GET", server.url).status == 302)
        await #expect(throws: SyncProblem.self) { try await http.send("GET", server.url) }
        await #expect(throws: SyncProblem.self) {
            _ = try await http.receive(server.url, bytes: 10) { _ in true }
        }
    }

    @Test("are sent anew, with the whole file, when a kept connection turns out to be closed")
    func closedConnection() async throws {
        let bodies = Mutex<[Int]>([])
        let server = try ScriptedServer { number, connection in
            var got = connection.head()?.components(separatedBy: "\r\n\r\n").last?.utf8.count ?? 0
            // The first one closes after its answer, without saying so.
            while number > 0, got < 300_000, let piece = connection.read() { got += piece.count }
            bodies.withLock { $0.append(got) }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let folder = try TemporaryDirectory()
        let path = folder.path + "/file"
        try Data(repeating: 120, count: 300_000).write(to: URL(fileURLWithPath: path))
        _ = try await http.send("GET", server.url)
        let file = OutgoingFile(path: path, size: 300_000)
        let answer = try await http.send("POST", server.url, body: .file(file))
        #expect(answer.status == 200)
        #expect(bodies.withLock { $0 }.last == 300_000)
    }

    @Test("read no more of an answer than is taken")
    func backPressure() async throws {
        let sent = Mutex(0)
        let total = 64 << 20
        let server = try ScriptedServer { _, connection in
            _ = connection.head()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n")
            let piece = [UInt8](repeating: 7, count: 1 << 16)
            while sent.withLock({ $0 < total }), connection.send(piece) {
                sent.withLock { $0 += piece.count }
            }
        }
        let got = Mutex(0)
        _ = try await http.receive(server.url, bytes: Int64(total)) { piece in
            let isFirst = got.withLock { got in
                defer { got += piece.count }
                return got == 0
            }
            guard isFirst else { return true }
            // Until the server waits: it has sent nothing for a while.
            var (last, since) = (-1, ContinuousClock.now)
            while ContinuousClock.now - since < .milliseconds(200) {
                let now = sent.withLock(\.self)
                if now != last { (last, since) = (now, ContinuousClock.now) }
                await Task.yield()
            }
            #expect(last < total / 2)
            return true
        }
        #expect(got.withLock(\.self) == total)
    }

    @Test("end their connection when nobody wants the rest", arguments: [false, true])
    func given(up isCancelled: Bool) async throws {
        let isClosed = Mutex(false)
        let server = try ScriptedServer { _, connection in
            _ = connection.head()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
            while connection.read() != nil {}
            isClosed.withLock { $0 = true }
        }
        let http = http
        let hasBegun = Mutex(false)
        let task = Task {
            _ = try await http.receive(server.url, bytes: 10) { _ in
                hasBegun.withLock { $0 = true }
                return isCancelled
            }
        }
        if isCancelled {
            try await wait("a piece has come") { hasBegun.withLock(\.self) }
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
        } else {
            try await task.value
        }
        try await wait("the server's end is closed") { isClosed.withLock(\.self) }
    }

    @Test("are not waited for longer than their patience, also behind the head of an answer")
    func patience() async throws {
        let server = try ScriptedServer { _, connection in
            _ = connection.head()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx")
            while connection.read() != nil {}
        }
        await #expect(throws: SyncProblem.self) {
            try await http.send("GET", server.url, patience: .milliseconds(300))
        }
    }

    @Test("say why there is no answer")
    func unreachable() async throws {
        let port = try RawConnection.freePort()
        for url in ["http://127.0.0.1:\(port)/", "ftp://127.0.0.1/", "http://[::", ""] {
            do {
                _ = try await http.send("GET", url)
                Issue.record("\(url) has answered")
            } catch {
                guard case .unreachable(let words) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(words.count > 8, "\(url): \(words)")
            }
        }
    }
}
