import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Metrics and health") struct MetricsTests {
    @Test("requests are counted by operation and status, with their times")
    func counts() async throws {
        let server = try await TestServer {
            $0.rates.user = RateSettings.Bucket(perSecond: 0.1, burst: 3)
        }
        for _ in 0..<4 { _ = try await server.call(.zonesList) }
        let text = try await server.request(.get, "/metrics").text
        for line in [
            #"recordfs_requests_total{endpoint="zones/list",status="200"} 3"#,
            #"recordfs_requests_total{endpoint="zones/list",status="429"} 1"#,
            #"recordfs_request_seconds_bucket{endpoint="zones/list",le="+Inf"} 4"#,
            #"recordfs_request_seconds_count{endpoint="zones/list"} 4"#,
            "recordfs_throttled_total 1", "recordfs_open_connections 0", "recordfs_long_polls 0",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test("every metric is one that Prometheus can read")
    func format() async throws {
        let server = try await TestServer()
        _ = try await server.call(.zonesList)
        _ = try await server.request(.get, "/a\"b\\c{d}")
        let answer = try await server.request(.get, "/metrics")
        #expect(answer.headers[.contentType] == "text/plain; version=0.0.4")
        #expect(answer.text.hasSuffix("\n"))
        var declared: Set<Substring> = []
        for line in answer.text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3)
            if words[0] == "#" {
                if words[1] == "TYPE" { #expect(declared.insert(words[2]).inserted) }
                continue
            }
            let name = line.prefix { $0 != "{" && $0 != " " }
            let isDeclared =
                declared.contains(name)
                || ["_bucket", "_sum", "_count"].contains {
                    name.hasSuffix($0) && declared.contains(name.dropLast($0.count))
                }
            #expect(isDeclared, "\(line)")
            #expect(Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
        }
    }

    @Test("metrics are for this machine only, and not through a proxy, without a token")
    func loopback() async throws {
        let server = try await TestServer()
        let forwarded: HTTPFields = [.via: "1.1 proxy"]
        for (peer, headers, status) in [
            ("127.0.0.1", HTTPFields(), 200), ("::1", [:], 200), ("::ffff:127.0.0.1", [:], 200),
            ("192.0.2.1", [:], 403), ("2001:db8::1", [:], 403), ("", [:], 403),
            ("127.0.0.1", forwarded, 403),
        ] {
            let answer = try await server.application.respond(
                .get, "/metrics", headers: headers, peer: peer)
            #expect(answer.status == status, "\(peer)")
        }
    }

    @Test("with a token the metrics are for whoever knows it")
    func token() async throws {
        let server = try await TestServer { $0.metricsToken = "correct horse" }
        for (header, status) in [
            (nil, 403), ("Bearer correct horse", 200), ("Bearer correct hors", 403),
            ("Bearer correct horsf", 403), ("correct horse", 403), ("bearer ", 403),
        ] {
            var headers = HTTPFields()
            headers[.authorization] = header
            let answer = try await server.application.respond(
                .get, "/metrics", headers: headers, peer: "192.0.2.1")
            #expect(answer.status == status, "\(header ?? "none")")
        }
    }

    @Test("open connections and refused requests are counted")
    func connections() async throws {
        let server = try await TestServer(.socket)
        let text = try await server.raw { port in
            let idle = try RawConnection(port: port)
            try idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try idle.readAnswer()
            let bad = try RawConnection(port: port)
            try bad.send("GET /health HTTP/1.1\r\n\r\n")
            _ = try bad.readAnswer()
            let reader = try RawConnection(port: port)
            try reader.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
            defer { idle.close() }
            return try reader.readAnswer()?.text ?? ""
        }
        #expect(text.contains(#"recordfs_refused_total{reason="400"} 1"#))
        let open = text.split(separator: "\n").first {
            $0.hasPrefix("recordfs_open_connections ")
        }
        #expect(open.flatMap { Int($0.split(separator: " ")[1]) }.map { $0 >= 2 } == true)
    }

    @Test("health needs a storage that can be read")
    func health() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        let server = try await TestServer(storage: storage)
        #expect(try await server.request(.get, "/health").status == 200)
        try await RawHTTP.run { storage.close() }
        let answer = try await server.request(.get, "/health")
        #expect(answer.status == 503)
        #expect(answer.code == "TRY_AGAIN_LATER")
    }
}
