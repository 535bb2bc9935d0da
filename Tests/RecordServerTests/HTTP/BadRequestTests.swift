import HTTPTypes
import RecordModel
import ServerTestSupport
import TestSupport
import Testing

/// What is no clean request, over a socket: refused with a status of the 400s, never a 500, and
/// the server goes on.
@Suite("Bad requests") struct BadRequestTests {
    /// One text of a request, and the statuses that are right for it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let statuses: [Int]
        var testDescription: String { name }

        init(_ name: String, _ text: String, _ statuses: Int...) {
            self.name = name
            bytes = Array(text.utf8)
            self.statuses = statuses
        }
    }

    static let host = "Host: localhost\r\n"
    static let path =
        "/database/1/iCloud.org.example.app/development/public/records/query?ckAPIToken="
        + TestServer.apiTokens[0]
    private static let longKey = String(repeating: "k", count: 5_000)
    private static let longKeys = "{\"\(longKey)\":1,\"\(longKey)\":2}"
    static let cases: [Case] = [
        Case("no HTTP at all", "\u{16}\u{03}\u{01}hello\r\n\r\n", 400),
        Case("an unknown version", "GET / HTTP/3.7\r\n\(host)\r\n", 400),
        Case("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        Case("no Host", "GET /health HTTP/1.1\r\n\r\n", 400),
        Case("two Hosts", "GET /health HTTP/1.1\r\n\(host)Host: other\r\n\r\n", 400),
        Case("a Host that is none", "GET /health HTTP/1.1\r\nHost: a b<c>\r\n\r\n", 400),
        Case(
            "both Content-Length and Transfer-Encoding",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 2\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400),
        Case(
            "two Content-Lengths",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
            400),
        Case(
            "two equal Content-Lengths",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
            400),
        Case(
            "a negative Content-Length",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: -1\r\n\r\n", 400),
        Case(
            "a Content-Length beyond 64 bits",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 99999999999999999999\r\n\r\n", 400),
        Case(
            "a Content-Length in hexadecimal",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 0x2\r\n\r\n{}", 400),
        Case(
            "an unknown Transfer-Encoding",
            "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: gzip, chunked\r\n\r\n", 400),
        Case(
            "a chunk size that is no number",
            "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", 400),
        Case(
            "a chunk size beyond 64 bits",
            "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
                + "fffffffffffffffff\r\n{}\r\n", 400),
        Case(
            "a negative chunk size",
            "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n", 400),
        Case(
            "a chunk without its end of line",
            "POST \(path) HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
            400),
        Case(
            "a header of 1 MB",
            "GET /health HTTP/1.1\r\n\(host)X-Large: \(String(repeating: "a", count: 1 << 20))"
                + "\r\n\r\n", 431),
        Case(
            "100 000 header fields",
            "GET /health HTTP/1.1\r\n\(host)\(String(repeating: "A: b\r\n", count: 100_000))\r\n",
            431),
        Case(
            "a path of 1 MB",
            "GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\n\(host)\r\n", 400, 414, 431),
        Case(
            "a bare line feed in a header",
            "GET /health HTTP/1.1\r\n\(host)X-A: b\rX-Injected: c\r\n\r\n", 400),
        Case("a NUL in a header", "GET /health HTTP/1.1\r\n\(host)X-A: b\u{0}c\r\n\r\n", 400),
        Case("a space before a colon", "GET /health HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
        Case("a folded header", "GET /health HTTP/1.1\r\n\(host)X-A: b\r\n c\r\n\r\n", 400),
        Case("a method that is none", "GE(T /health HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an unknown method", "FROB \(path) HTTP/1.1\r\n\(host)\r\n", 400, 405),
        Case("CONNECT", "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", 405),
        Case("TRACE", "TRACE \(path) HTTP/1.1\r\n\(host)\r\n", 405),
        Case("DELETE of an operation", "DELETE \(path) HTTP/1.1\r\n\(host)\r\n", 405),
        Case("two slashes", "GET //health HTTP/1.1\r\n\(host)\r\n", 400),
        Case(
            "two slashes inside",
            "POST /database//1/a/development/public/records/query HTTP/1.1\r\n"
                + "\(host)Content-Length: 2\r\n\r\n{}", 400),
        Case("a path that goes up", "GET /a/../health HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an encoded path that goes up", "GET /a/%2e%2E/health HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an encoded NUL", "GET /health%00 HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an encoded slash", "GET /a%2Fhealth HTTP/1.1\r\n\(host)\r\n", 400),
        Case("a backslash", "GET /a\\health HTTP/1.1\r\n\(host)\r\n", 400),
        Case("a broken escape", "GET /health%2 HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an escape that is no UTF-8", "GET /nothing/%ff%fe HTTP/1.1\r\n\(host)\r\n", 400, 404),
        Case("a target without a slash", "GET health HTTP/1.1\r\n\(host)\r\n", 400),
        Case("a target of another scheme", "GET ftp://localhost/ HTTP/1.1\r\n\(host)\r\n", 400),
        Case("an unknown path", "GET /nothing/here HTTP/1.1\r\n\(host)\r\n", 404),
        Case("an unknown expectation", "POST \(path) HTTP/1.1\r\n\(host)Expect: tea\r\n\r\n", 417),
        Case(
            "a body in another coding",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
            415),
        Case(
            "a body that is too large by its length",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 5000000\r\n\r\n{", 413),
        Case(
            "a body with a duplicate key",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: 13\r\n\r\n{\"a\":1,\"a\":2}", 400, 401),
        Case(
            "a body with a long duplicate key",
            "POST \(path) HTTP/1.1\r\n\(host)Content-Length: \(longKeys.utf8.count)\r\n\r\n"
                + longKeys, 400),
        Case(
            "an unknown environment",
            "POST /database/1/iCloud.org.example.app/staging/public/records/query HTTP/1.1\r\n"
                + "\(host)Content-Length: 2\r\n\r\n{}", 400),
        Case(
            "an unknown database",
            "POST /database/1/iCloud.org.example.app/development/secret/records/query HTTP/1.1\r\n"
                + "\(host)Content-Length: 2\r\n\r\n{}", 400),
    ]

    @Test("a bad request gets its status as JSON, and the server goes on", arguments: cases)
    func refused(bad: Case) async throws {
        let server = try await TestServer(.socket)
        let answer = try await server.raw { port in
            let connection = try RawConnection(port: port)
            // The server may end the connection before it has read all.
            try? connection.send(bad.bytes)
            return try connection.readAnswer()
        }
        let status = try #require(answer?.status)
        #expect(bad.statuses.contains(status), "\(status): \(answer?.text ?? "")")
        let json = try JSONParser.parse(try #require(answer).body)
        #expect(json["serverErrorCode"]?.string != nil)
        #expect(json["uuid"]?.string?.utf8.count == 36)
        let reason = try #require(json["reason"]?.string?.utf8)
        #expect((1...500).contains(reason.count))
        let next = try await server.request(.get, "/health")
        #expect(next.status == 200)
    }
}
