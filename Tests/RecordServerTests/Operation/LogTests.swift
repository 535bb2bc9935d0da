import Glibc
import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Log") struct LogTests {
    @Test(
        "a line of the log says who did what, and holds no secret and no content",
        arguments: TestServer.Transport.allCases)
    func request(transport: TestServer.Transport) async throws {
        let log = LogCollector()
        let server = try await TestServer(transport, logger: log.logger)
        let token = try await server.token(of: .alice)
        let answer = try await server.call(
            .recordsLookup, .private, as: .alice,
            ["records": [["recordName": "secret-diary"]]])
        let line = try #require(log.lines.first { $0.contains("endpoint=records/lookup") })
        for part in [
            "method=POST", "status=\(answer.status)", "container=iCloud.org.example.app",
            "scope=private", "user=_000000000000000000000000000a11ce", "ms=", "in=", "out=",
        ] {
            #expect(line.contains(part), "\(part) in \(line)")
        }
        let id = try #require(
            HTTPField.Name("x-apple-request-uuid").flatMap { answer.headers[$0] })
        #expect(line.contains("id=\(id)"))
        for secret in [token.string, TestServer.apiTokens[0], "secret-diary", "ckWebAuthToken"] {
            #expect(!log.text.contains(secret))
        }
    }

    @Test("a request that fails has the code of its error in the log, not the reason")
    func failure() async throws {
        let log = LogCollector()
        let server = try await TestServer(logger: log.logger)
        _ = try await server.request(
            .post, "/database/1/iCloud.org.example.app/development/private/zones/list?ckAPIToken=x",
            body: Array(#"{"zones": "private words"}"#.utf8))
        let line = try #require(log.lines.last)
        #expect(line.contains("status=401"))
        #expect(line.contains("code=AUTHENTICATION_FAILED"))
        #expect(!log.text.contains("private words"))
    }

    @Test("an unknown path with a secret in it does not reach the log")
    func unknownPath() async throws {
        let log = LogCollector()
        let server = try await TestServer(logger: log.logger)
        for path in [
            "/courier/hidden-secret", "/assets/down/hidden-secret",
            "/hidden-secret?a=hidden-secret",
        ] {
            _ = try await server.request(.get, path)
        }
        #expect(log.lines.count >= 3)
        #expect(!log.text.contains("hidden-secret"))
    }

    @Test("numbers are numbers in a log of JSON objects")
    func numbers() async throws {
        let directory = try TemporaryDirectory()
        let process = try await ServerProcess.serve(
            data: directory.path + "/data", arguments: ["--log-format", "json"])
        _ = try await RawHTTP.request(port: process.port, "GET", "/health")
        process.signal(SIGTERM)
        #expect(try await process.wait() == 0)
        let line = try #require(
            process.errorText.split(separator: "\n").first { $0.contains("health") })
        let json = try JSONParser.parse(Array(line.utf8))
        #expect(json["status"] == 200)
        #expect(json["in"] == 0)
        #expect(json["ms"]?.int64 != nil && json["out"]?.int64 != nil, "\(line)")
        #expect(json["id"]?.string != nil && json["level"] == "info")
    }
}
