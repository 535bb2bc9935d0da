import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import ServerTestSupport
import TestSupport
import Testing

@Suite("Configuration") struct ConfigurationTests {
    private func read(
        file: String = "", environment: [String: String] = [:], flags: [(String, String)] = []
    ) throws -> ServerConfiguration {
        var reader = ConfigurationReader()
        try reader.readFile(file, name: "server.conf")
        try reader.readEnvironment(environment)
        for (name, value) in flags { try reader.set(name, value, place: "--\(name)") }
        try reader.check()
        return reader.configuration
    }

    @Test("without a word it listens at 127.0.0.1:8080")
    func defaults() throws {
        let configuration = try read()
        #expect(configuration.authority == "127.0.0.1:8080")
        #expect(configuration.container == "iCloud.org.recordfs.default")
        #expect(configuration.trustedProxies.isEmpty)
    }

    @Test("flags count more than the environment, that more than the file")
    func order() throws {
        let file = "listen = 127.0.0.1:1\nquota-bytes=1\n# a comment\n\n  container =  iCloud.a  \n"
        #expect(try read(file: file).port == 1)
        #expect(try read(file: file).service.quotaBytes == 1)
        #expect(try read(file: file).container == "iCloud.a")
        let environment = ["RECORDFS_SERVER_LISTEN": "[::1]:2", "RECORDFS_SERVER_CONTAINER": ""]
        let second = try read(file: file, environment: environment)
        #expect(second.port == 2)
        #expect(second.host == "::1")
        #expect(second.authority == "[::1]:2")
        #expect(second.container == "iCloud.a")
        let third = try read(
            file: file, environment: environment, flags: [("listen", "localhost:3")])
        #expect(third.authority == "localhost:3")
    }

    @Test("the names on the pages come from everywhere")
    func names() throws {
        #expect(try read().site == Site())
        let file = "name = Our records\noperator = Ada\n"
        let variables = ["RECORDFS_SERVER_OPERATOR": "ada@example.org"]
        let site = try read(
            file: file, environment: variables, flags: [("name", "Records, ours")]
        ).site
        #expect(site.name == "Records, ours")
        #expect(site.operatorName == "ada@example.org")
        #expect(try read(file: file, flags: [("name", "")]).site.name == nil)
    }

    @Test(
        "a mistake in the file is named with its line and key",
        arguments: [
            ("\nlisten: 127.0.0.1:1", "server.conf:2"), ("port = 1", "server.conf:1"),
            ("port = 1", "`port`"), ("listen = 8080", "`listen`"), ("listen = :8080", "`listen`"),
            ("listen = a:99999", "`listen`"), ("listen = ::1:80", "`listen`"),
            ("log-format = xml", "`log-format`"), ("connections = 0", "`connections`"),
            ("connections = many", "`connections`"), ("user-rate = -1", "`user-rate`"),
            ("strict = yes", "`yes` is no value for `strict`"),
            ("trusted-proxies = 10.0.0.0/33", "`trusted-proxies`"),
            ("trusted-proxies = proxy", "`trusted-proxies`"),
            ("public-url = records.example.org", "`public-url`"),
            ("public-url = https://a.example/path", "`public-url`"),
            ("name = \u{7}", "`name`"),
            ("operator = \(String(repeating: "x", count: 101))", "`operator`"),
            ("strict = true\nstrict = true", "set twice"),
            ("tls-key = a.pem", "`tls-certificate` and `tls-key` go together"),
        ])
    func mistakes(file: String, words: String) throws {
        do {
            _ = try read(file: file)
            Issue.record("\(file) was taken")
        } catch let error as ConfigurationError {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test("a mistake in the environment is named with its variable")
    func environment() throws {
        do {
            _ = try read(environment: ["RECORDFS_SERVER_BODY_BYTES": "lots"])
            Issue.record("it was taken")
        } catch let error as ConfigurationError {
            #expect(error.description.contains("RECORDFS_SERVER_BODY_BYTES"))
        }
    }

    @Test("a variable of no key is an error, and those of other programs are theirs")
    func unknownVariables() throws {
        for name in ["RECORDFS_SERVER_PUBLICURL", "RECORDFS_SERVER_", "RECORDFS_SERVER_listen"] {
            let error = #expect(throws: ConfigurationError.self) {
                try read(environment: [name: "x"])
            }
            #expect(error?.description.contains("\(name):") == true)
        }
        let configuration = try read(environment: [
            "RECORDFS_SERVER_CONFIG": "/etc/x", "RECORDFS_SERVER_NOTHING": "",
            "RECORDFS_SERVERS": "x", "RECORDFS_FAILPOINT": "x", "HOME": "/",
        ])
        #expect(configuration == ServerConfiguration())
    }

    @Test("what other machines reach needs TLS, a proxy or a word, and its public URL")
    func reach() throws {
        let tls = "tls-certificate = a.pem\ntls-key = b.pem\n"
        let named = "public-url = https://records.example.org\n"
        for address in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "records.example.org:80"] {
            let listen = "listen = \(address)\n"
            for (file, words) in [
                (listen + named, "--insecure"), (listen, "--insecure"),
                (listen + tls, "`public-url` is missing"),
                (listen + "insecure = true", "`public-url` is missing"),
                (listen + "trusted-proxies = 10.0.0.1", "`public-url` is missing"),
            ] {
                let error = #expect(throws: ConfigurationError.self) { try read(file: file) }
                #expect(error?.description.contains(words) == true, "\(file)")
            }
            for more in [tls, "insecure = true", "trusted-proxies = 10.0.0.1"] {
                #expect(try read(file: listen + named + more).publicURL != nil)
            }
        }
        for address in ["127.0.0.1:80", "127.8.8.8:80", "[::1]:80", "localhost:80"] {
            #expect(try read(file: "listen = \(address)").publicURL == nil)
        }
    }

    @Test("the sample file has every key, and is the defaults when its comments are taken away")
    func sample() throws {
        let sample = ConfigurationReader.sample
        var file = ""
        for line in sample.split(separator: "\n") where !line.hasPrefix("# ") {
            file += line.dropFirst() + "\n"
        }
        for key in ConfigurationKey.all {
            #expect(sample.contains("\n#\(key.name) = "), "\(key.name)")
            #expect(!key.explanation.isEmpty)
        }
        // The directory is empty there, which the key itself does not take.
        let values = file.split(separator: "\n").filter { !$0.hasPrefix("data =") }
        #expect(try read(file: values.joined(separator: "\n")) == ServerConfiguration())
    }

    @Test("a network holds its addresses and no others")
    func networks() throws {
        for (range, address, isInside) in [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.0.2.128/25", "192.0.2.129", true), ("192.0.2.128/25", "192.0.2.127", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false), ("127.0.0.1", "::ffff:127.0.0.1", true),
            ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::1", "::1", true),
            ("10.0.0.0/8", "::1", false), ("10.0.0.0/8", "", false),
        ] {
            let network = try #require(AddressRange(range))
            #expect(network.contains(address) == isInside, "\(range) \(address)")
        }
    }
}
