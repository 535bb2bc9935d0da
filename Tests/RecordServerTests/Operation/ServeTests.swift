import Glibc
import RecordModel
import ServerTestSupport
import TestSupport
import Testing

/// The real program, as its operator sees it.
@Suite("Serve", .serialized) struct ServeTests {
    private let files: TemporaryDirectory
    private var data: String { files.path + "/deep/data" }

    init() throws { files = try TemporaryDirectory() }

    /// The value behind a name in the block that the first run prints.
    private func shown(_ name: String, _ output: String) -> String? {
        output.split(separator: "\n").first { $0.hasPrefix("  \(name) ") }?
            .split(separator: " ").last.map(String.init)
    }

    @Test("the first run shows what it made once, and its token works")
    func firstRun() async throws {
        let first = try await ServerProcess.serve(
            data: data, arguments: ["--container", "iCloud.org.example.first"])
        #expect(shown("URL", first.outputText) == "http://127.0.0.1:\(first.port)")
        #expect(shown("container", first.outputText) == "iCloud.org.example.first")
        #expect(shown("administrator", first.outputText) == "admin@localhost")
        #expect(shown("password", first.outputText)?.count == 20)
        let token = try #require(shown("API token, production", first.outputText))
        let path = "/database/1/iCloud.org.example.first/production/private/zones/list"
        let answer = try await RawHTTP.request(
            port: first.port, "POST", path + "?ckAPIToken=\(token)")
        #expect(answer.status == 421, "\(answer.text)")
        #expect(!first.errorText.contains(token))
        first.signal(SIGTERM)
        #expect(try await first.wait() == 0)

        let second = try await ServerProcess.serve(data: data)
        #expect(!second.outputText.contains("password"))
        #expect(second.outputText.contains("Listening at http://127.0.0.1:\(second.port)"))
        let again = try await RawHTTP.request(
            port: second.port, "POST", path + "?ckAPIToken=\(token)")
        #expect(again.status == 421, "\(again.text)")
    }

    @Test("the data directory is for its owner alone")
    func rights() async throws {
        let server = try await ServerProcess.serve(data: data)
        let modes = try await shell("stat -c %a \(data) \(data)/records.sqlite \(data)/assets")
        #expect(modes == "700\n600\n700\n")
        #expect(server.pid > 0)
    }

    @Test("a second server on the same directory is refused, also after kill -9 of a third")
    func lock() async throws {
        let first = try await ServerProcess.serve(data: data)
        let second = try ServerProcess(["serve", "--data", data, "--listen", "127.0.0.1:0"])
        #expect(try await second.wait() == 1)
        #expect(second.errorText.contains("in use by another recordfs-server"))
        #expect(second.errorText.contains("\(first.pid)"))
        first.signal(SIGKILL)
        #expect(try await first.wait() == 128 + SIGKILL)
        let third = try await ServerProcess.serve(data: data)
        #expect(third.port > 0)
    }

    @Test("a command may use the data while the server runs")
    func commands() async throws {
        let server = try await ServerProcess.serve(data: data)
        let command = try ServerProcess(["user", "list", "--data", data])
        #expect(try await command.wait() == 0)
        #expect(command.outputText.contains("admin@localhost"))
        #expect(server.pid > 0)
    }

    @Test("an address that is taken is named in the message")
    func taken() async throws {
        let first = try await ServerProcess.serve(data: data)
        let second = try ServerProcess([
            "serve", "--data", files.path + "/other", "--listen", "127.0.0.1:\(first.port)",
        ])
        #expect(try await second.wait() == 1)
        #expect(
            second.errorText.contains("cannot listen at 127.0.0.1:\(first.port)"),
            "\(second.errorText)")
    }

    @Test("a mistake in the configuration file ends the program with its line")
    func badFile() async throws {
        let path = files.path + "/server.conf"
        try write("listen = 127.0.0.1:0\nlog-format = xml\n", to: path)
        let server = try ServerProcess(["serve", "--data", data, "--config", path])
        #expect(try await server.wait() == 1)
        #expect(server.errorText.contains("\(path):2"), "\(server.errorText)")
    }

    @Test("SIGTERM ends idle connections and the program; the data is in one file then")
    func stop() async throws {
        let server = try await ServerProcess.serve(
            data: data, environment: ["RECORDFS_SERVER_LOG_FORMAT": "json"])
        let port = server.port
        let idle = try await RawHTTP.run {
            let idle = try RawConnection(port: port)
            try idle.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try idle.readAnswer()?.status == 200)
            return idle
        }
        server.signal(SIGTERM)
        #expect(try await server.wait() == 0)
        #expect(try await RawHTTP.run { try idle.readToEnd() }.isEmpty)
        for line in server.errorText.split(separator: "\n") {
            let json = try JSONParser.parse(Array(line.utf8))
            #expect(json["level"]?.string != nil && json["time"]?.string != nil, "\(line)")
        }
    }

    @Test("TLS by certificate files, read again at SIGHUP")
    func tls() async throws {
        let (certificate, key) = (files.path + "/cert.pem", files.path + "/key.pem")
        try await makeCertificate("first.example.org", certificate, key)
        let server = try ServerProcess(
            [
                "serve", "--data", data, "--listen", "127.0.0.1:0", "--tls-certificate",
                certificate, "--tls-key", key,
            ])
        let port = try await listeningPort(server)
        #expect(try await subject(port).contains("first.example.org"))
        let health = try await shell(
            "curl -sk --http1.1 https://127.0.0.1:\(port)/health")
        #expect(health.contains("ok"), "\(health)")
        // No suite of TLS 1.2 with CBC, by whatever key exchange.
        for (suites, isTaken) in [
            ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true),
            ("ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:AES128-SHA:AES256-SHA256", false),
            ("ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES128-SHA", false),
        ] {
            let shown = try await shell(
                "openssl s_client -connect 127.0.0.1:\(port) -tls1_2 -cipher "
                    + "'\(suites):@SECLEVEL=0' </dev/null 2>&1; true")
            #expect(shown.contains("Cipher is (NONE)") != isTaken, "\(suites): \(shown)")
        }
        try await makeCertificate("second.example.org", certificate, key)
        server.signal(SIGHUP)
        var name = ""
        for _ in 0..<50 where !name.contains("second") { name = try await subject(port) }
        #expect(name.contains("second.example.org"))
        server.signal(SIGTERM)
        #expect(try await server.wait() == 0)
    }

    @Test("what is wrong with certificate and key is said in words")
    func certificateFaults() async throws {
        let (certificate, key) = (files.path + "/cert.pem", files.path + "/key.pem")
        try await makeCertificate("first.example.org", certificate, key)
        let other = files.path + "/other.pem"
        try await makeCertificate("other.example.org", files.path + "/x.pem", other)
        let (text, locked) = (files.path + "/text", files.path + "/locked.pem")
        try write("nothing\n", to: text)
        _ = try await shell(
            "openssl pkey -in \(key) -aes128 -passout pass:secret1 -out \(locked)")
        let (odd, oddKey) = (files.path + "/odd.pem", files.path + "/odd-key.pem")
        try await makeCertificate("odd.example.org", odd, oddKey, curve: "secp256k1")
        let pipe = files.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        for (certificate, key, words) in [
            (odd, oddKey, "No client can use the certificate \(odd)"),
            (text, key, "\(text) holds no certificate in PEM form. If it is in DER form"),
            (certificate, text, "\(text) holds no private key in PEM form"),
            (certificate, locked, "or one with a passphrase"),
            (certificate, other, "The key \(other) is not that of the first certificate"),
            (certificate, files.path + "/none", "/none cannot be read: No such file or directory"),
            (files.path, key, "\(files.path) is no file"), (pipe, key, "\(pipe) is no file"),
            (certificate, files.path, "\(files.path) is no file"),
        ] {
            let server = try ServerProcess([
                "serve", "--data", data, "--listen", "127.0.0.1:0", "--tls-certificate",
                certificate, "--tls-key", key,
            ])
            #expect(try await server.wait() == 1)
            #expect(server.errorText.contains(words), "\(server.errorText)")
            #expect(!server.errorText.contains("SSL"), "\(server.errorText)")
        }
    }

    @Test(
        "a file where the data shall be is named as what it is",
        arguments: [
            ["serve", "--listen", "127.0.0.1:0", "--data", "FILE"],
            ["user", "list", "--data", "FILE"],
            ["restore", "--data", "FILE", "DATA"], ["backup", "--data", "DATA", "FILE"],
        ])
    func fileAsData(_ arguments: [String]) async throws {
        let file = files.path + "/file"
        try write("text\n", to: file)
        let server = try await ServerProcess.serve(data: data)
        let command = try ServerProcess(
            arguments.map { $0 == "FILE" ? file : $0 == "DATA" ? data : $0 })
        #expect(try await command.wait() == 1)
        #expect(command.errorText.contains("\(file) is no directory"), "\(command.errorText)")
        #expect(server.pid > 0)
    }

    @Test("a variable of no key and plain HTTP for other machines end the program with words")
    func refusedConfigurations() async throws {
        for (arguments, environment, words) in [
            ([], ["RECORDFS_SERVER_PUBLICURL": "x"], "RECORDFS_SERVER_PUBLICURL"),
            (["--listen", "0.0.0.0:0", "--public-url", "http://a.example"], [:], "--insecure"),
            (["--listen", "0.0.0.0:0", "--insecure"], [:], "`public-url` is missing"),
        ] as [([String], [String: String], String)] {
            let server = try ServerProcess(
                ["serve", "--data", data] + arguments, environment: environment)
            #expect(try await server.wait() == 1)
            #expect(server.errorText.contains(words), "\(server.errorText)")
        }
        let server = try await ServerProcess.serve(
            data: data,
            arguments: [
                "--listen", "0.0.0.0:0", "--insecure", "--public-url", "http://a.example:1",
            ])
        #expect(server.errorText.contains("plain HTTP is taken from other machines"))
    }

    @Test("a certificate that cannot be read ends the program with its name")
    func badCertificate() async throws {
        let server = try ServerProcess([
            "serve", "--data", data, "--tls-certificate", "/nowhere/cert.pem", "--tls-key",
            "/nowhere/key.pem",
        ])
        #expect(try await server.wait() == 1)
        #expect(server.errorText.contains("/nowhere/cert.pem"))
    }

    @Test("the logo of the data directory is on the pages, and one that is none ends the program")
    func logo() async throws {
        #expect(mkdir(files.path + "/plain", 0o700) == 0)
        let path = files.path + "/plain"
        let file = try #require(fopen(path + "/logo.png", "w"))
        fwrite(SitePageTests.picture, 1, SitePageTests.picture.count, file)
        fclose(file)
        let server = try await ServerProcess.serve(
            data: path, arguments: ["--name", "Our records", "--operator", "Ada"])
        let page = try await RawHTTP.request(port: server.port, "GET", "/sign-in")
        #expect(page.text.contains("<title>Sign in - Our records</title>"), "\(page.text)")
        #expect(page.text.contains("run by Ada"))
        let picture = try await RawHTTP.request(port: server.port, "GET", "/logo")
        #expect(picture.body == SitePageTests.picture)
        server.signal(SIGTERM)
        #expect(try await server.wait() == 0)
        try write("<svg/>", to: path + "/logo.png")
        let refused = try ServerProcess(["serve", "--data", path, "--listen", "127.0.0.1:0"])
        #expect(try await refused.wait() == 1)
        #expect(refused.errorText.contains("logo.png"), "\(refused.errorText)")
    }

    // MARK: Tools

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    /// From what the program prints.
    private func listeningPort(_ server: ServerProcess) async throws -> Int {
        for _ in 0..<1_000 {
            let line = server.outputText.split(separator: "\n").first {
                $0.hasPrefix("Listening at ")
            }
            if let port = line?.split(separator: ":").last.flatMap({ Int($0) }) { return port }
            guard try await !server.hasEnded(within: 0.03) else { break }
        }
        throw RawHTTPError("did not start: \(server.errorText)")
    }

    private func subject(_ port: Int) async throws -> String {
        try await shell(
            "echo | openssl s_client -connect 127.0.0.1:\(port) 2>/dev/null "
                + "| openssl x509 -noout -subject")
    }
}
