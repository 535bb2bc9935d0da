import HTTPTypes
import RecordModel
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Uploads and downloads over connections that are slow or come to a stop.
@Suite("Transfers") struct TransferTests {
    @Test("an upload that stops is answered 408, one that goes on slowly is not")
    func slowUpload() async throws {
        let fixture = try await AssetFixture(.socket) { $0.limits.uploadIdleSeconds = 1 }
        let (slow, stopped) = (try await fixture.uploadPath(), try await fixture.uploadPath())
        let statuses = try await fixture.server.raw { port in
            let going = try RawConnection(port: port)
            let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30\r\n\r\n"
            try going.send("POST \(slow) \(head)")
            let stopping = try RawConnection(port: port)
            try stopping.send("POST \(stopped) \(head)0123456789")
            // Ten bytes are sent each time nothing came back for a tenth of a second: for longer
            // in all than an upload may pause.
            let listener = try RawConnection(port: port, pause: 0.5)
            for _ in 0..<3 {
                try going.send("0123456789")
                #expect(throws: RawHTTPError.self) { try listener.readAnswer() }
            }
            return [try going.readAnswer()?.status, try stopping.readAnswer()?.status]
        }
        #expect(statuses == [200, 408])
        #expect(try await fixture.files.count == 1)
    }

    /// Returns when so many clients have lost their connections because they took nothing.
    private static func waitForSlowReaders(_ count: Int, _ port: Int) throws {
        while true {
            let metrics = try RawConnection(port: port)
            try metrics.send(
                "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let text = try metrics.readAnswer()?.text ?? ""
            if text.contains(#"recordfs_refused_total{reason="slow-reader"} \#(count)"#) { return }
        }
    }

    @Test("a client that takes nothing of a large answer loses its connection")
    func slowReader() async throws {
        let fixture = try await AssetFixture(.socket) { $0.limits.writeIdleSeconds = 1 }
        let asset = try await fixture.upload([UInt8](repeating: 7, count: 32 << 20))
        try await fixture.put([asset])
        let path = try await fixture.downloadPath(asset)
        let received = try await fixture.server.raw { port in
            let connection = try RawConnection(port: port)
            try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // The open connections are those of this loop and the one that reads nothing.
            try Self.waitForSlowReaders(1, port)
            return try connection.readToEnd().count
        }
        #expect(received < 32 << 20)
    }

    @Test("a client that sends many requests and takes no answer has no more time")
    func takesNoAnswers() async throws {
        let fixture = try await AssetFixture(.socket) {
            $0.limits.writeIdleSeconds = 1
            $0.limits.answerSeconds = 3_600
        }
        try await fixture.server.raw { port in
            let connection = try RawConnection(port: port, receiveBuffer: 4_096)
            let request = "GET /sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try connection.send(String(repeating: request, count: 2_000))
            try Self.waitForSlowReaders(1, port)
        }
    }

    @Test("of answers to clients that take nothing, only little is handed on")
    func paced() async throws {
        let fixture = try await AssetFixture(.socket) { $0.limits.writeIdleSeconds = 1 }
        let count = 8
        let asset = try await fixture.upload([UInt8](repeating: 7, count: 32 << 20))
        try await fixture.put([asset])
        let path = try await fixture.downloadPath(asset)
        try await fixture.server.raw { port in
            let connections = try (0..<count).map { _ in
                try RawConnection(port: port, receiveBuffer: 4_096)
            }
            for connection in connections {
                try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            }
            // Each has come to a stop when it is ended for that.
            try Self.waitForSlowReaders(count, port)
        }
        let most = fixture.server.application.metrics.waitingBytes.most
        // Two parts each: one that waits, and the next.
        #expect(most > count * (64 << 10))
        #expect(most <= count * (256 << 10))
    }

    @Test("a client that reads slowly gets all of a large answer")
    func patientReader() async throws {
        let fixture = try await AssetFixture(.socket) { $0.limits.writeIdleSeconds = 1 }
        let size = 16 << 20
        let asset = try await fixture.upload([UInt8](repeating: 7, count: size))
        try await fixture.put([asset])
        let path = try await fixture.downloadPath(asset)
        let body = try await fixture.server.raw { port in
            let connection = try RawConnection(port: port)
            let pause = try RawConnection(port: port, pause: 0.02)
            try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            var received: [UInt8] = []
            while received.count < size, let piece = try connection.readPiece() {
                received += piece
                _ = try? pause.readAnswer()
            }
            return received.count
        }
        #expect(body > size)
    }
}
