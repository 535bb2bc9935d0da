import Glibc
import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Commands for users, tokens, keys and containers")
struct CommandTests {
    private let data: TemporaryDirectory
    private let storage: SQLiteStorage
    private var accounts: Accounts { Accounts(storage: storage) }

    init() throws {
        data = try TemporaryDirectory()
        storage = try SQLiteStorage.open(path: data.path + "/records.sqlite", synchronous: .normal)
    }

    private struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// Runs a command on the data that this process has open too.
    private func run(_ arguments: [String], input: String? = nil) async throws -> Outcome {
        var arguments = arguments + ["--data", data.path]
        let process: ServerProcess
        if let input {
            let path = data.path + "/input"
            try write(input, to: path)
            // Arguments are quoted for the shell, which gives the command its standard input.
            let words = ([ServerProcess.binary] + arguments).map {
                "'" + $0.replacing("'", with: "'\\''") + "'"
            }
            arguments = ["-c", words.joined(separator: " ") + " <'\(path)'"]
            process = try ServerProcess(program: "/bin/sh", arguments)
        } else {
            process = try ServerProcess(arguments)
        }
        let status = try await process.wait(seconds: 60)
        return Outcome(status: status, output: process.outputText, errors: process.errorText)
    }

    private func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    private func json(_ outcome: Outcome) throws -> [JSONValue] {
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try #require(try JSONParser.parse(Array(outcome.output.utf8)).array)
    }

    @Test("a user is added with a password from standard input, changed, disabled and listed")
    func users() async throws {
        let added = try await run(
            [
                "user", "add", "alice@example.org", "--name", "Alice van Example",
                "--password-stdin",
            ],
            input: "correct horse\n")
        #expect(added.status == 0, "\(added.errors)")
        let row = try #require(try await accounts.users().first)
        #expect(added.output == row.name.description + "\n")
        #expect(row.givenName == "Alice van")
        #expect(row.familyName == "Example")
        #expect(!row.isAdministrator)
        #expect(!row.isDiscoverable)
        let open = try await run(
            ["user", "add", "open@example.org", "--discoverable", "--password-stdin"],
            input: "correct horse\n")
        #expect(open.status == 0, "\(open.errors)")
        #expect(
            try await accounts.users().filter(\.isDiscoverable).map(\.emailAddress)
                == ["open@example.org"])
        #expect(try await Password.verify(Array("correct horse".utf8), against: row.passwordHash))
        let again = try await run(
            ["user", "add", "Alice@example.org", "--password-stdin"], input: "correct horse\n")
        #expect(again.status == 1)
        #expect(again.errors.contains("There is a user with this e-mail address."))
        let short = try await run(
            ["user", "add", "b@example.org", "--password-stdin"], input: "short\n")
        #expect(short.status == 1)
        for arguments in [
            ["user", "disable", "alice@example.org"], ["user", "quota", "alice@example.org", "2G"],
            ["user", "change", "alice@example.org", "--admin", "--discoverable"],
        ] {
            #expect(try await run(arguments).status == 0)
        }
        let listed = try #require(try json(try await run(["user", "list", "--json"])).first)
        #expect(listed["email"]?.string == "alice@example.org")
        #expect(listed["disabled"]?.bool == true)
        #expect(listed["admin"]?.bool == true)
        #expect(listed["discoverable"]?.bool == true)
        #expect(listed["quotaBytes"]?.int64 == 2 << 30)
        #expect(try await run(["user", "disable", "nobody@example.org"]).status == 1)
        #expect(try await run(["user", "enable", row.name.description]).status == 0)
        #expect(try await accounts.users().first?.isDisabled == false)
    }

    @Test("an API token is shown once, listed without itself, and revoked")
    func tokens() async throws {
        let container = "iCloud.org.example.app"
        let early = try await run(["token", "create", container, "--name", "web"])
        #expect(early.errors.contains("There is no such container"))
        #expect(try await run(["container", "create", container]).status == 0)
        #expect(try await run(["container", "create", container]).status == 0)
        let made = try await run([
            "token", "create", container, "--name", "web", "--environment", "production",
            "--callback", "https://app.example.org/x", "--origin", "https://app.example.org",
        ])
        #expect(made.status == 0, "\(made.errors)")
        let token = Text(made.output.dropLast())
        #expect(token.utf8.count == 64)
        let row = try #require(try await accounts.apiTokens(Text(container)).first)
        #expect(row.hash == Secret.hash(token))
        #expect(row.container.environment == .production)
        let list = try await run(["token", "list", container, "--json"])
        #expect(!list.output.contains(token.string))
        let listed = try #require(try json(list).first)
        let id = try #require(listed["id"]?.string?.string)
        #expect(listed["callback"]?.string == "https://app.example.org/x")
        #expect(try await run(["token", "revoke", container, id]).status == 0)
        #expect(try await accounts.apiTokens(Text(container)).first?.isRevoked == true)
        let bad = try await run(["token", "create", container, "--name", "x", "--callback", "x"])
        #expect(bad.status == 1)
    }

    @Test("a public key from openssl is added, listed and revoked; a private one is refused")
    func keys() async throws {
        let container = "iCloud.org.example.app"
        try await accounts.createContainer(Text(container))
        let user = try await accounts.addUser(
            emailAddress: "alice@example.org", password: Array("correct horse".utf8),
            cost: .quick, now: SystemClock().now)
        let key = """
            -----BEGIN PUBLIC KEY-----
            MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEFffd6/ZxTd+GrNFsAqffhD/AQFZ7
            CR1b/1cuWJdP8xz5ltWZJAMcuEIhos8WLFw4a8f8sqLLOntFeRiG8z1FRg==
            -----END PUBLIC KEY-----

            """
        try write(key, to: data.path + "/public.pem")
        let added = try await run([
            "key", "add", data.path + "/public.pem", container, "--user", "alice@example.org",
            "--name", "backup",
        ])
        #expect(added.status == 0, "\(added.errors)")
        let id = String(added.output.dropLast())
        #expect(id.utf8.count == 64)
        let listed = try #require(
            try json(try await run(["key", "list", container, "--json"])).first)
        #expect(listed["id"]?.string?.string == id)
        #expect(listed["user"]?.string?.string == user.name.description)
        #expect(try await run(["key", "revoke", container, id]).status == 0)
        #expect(try await accounts.serverKeys(Text(container)).first?.isRevoked == true)
        try write("-----BEGIN EC PRIVATE KEY-----\nx", to: data.path + "/private.pem")
        let refused = try await run([
            "key", "add", data.path + "/private.pem", container, "--user", "alice@example.org",
        ])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("private key"))
        let missing = try await run([
            "key", "add", data.path + "/none.pem", container, "--user", "alice@example.org",
        ])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("No such file"))
    }

    @Test("sign-ins of a user are listed and ended")
    func sessions() async throws {
        let user = try await accounts.addUser(
            emailAddress: "alice@example.org", password: Array("correct horse".utf8),
            cost: .quick, now: SystemClock().now)
        let authenticator = Authenticator(
            storage: storage, seal: Seal(key: [UInt8](repeating: 1, count: 32)),
            settings: AccountSettings())
        let key = ContainerKey(container: "iCloud.org.example.app", environment: .development)
        _ = try await authenticator.signIn(
            user.name, container: key, staySignedIn: true, label: "phone", now: SystemClock().now)
        let list = try await run(["token", "session", "list", "alice@example.org", "--json"])
        let session = try #require(try json(list).first)
        #expect(session["label"]?.string == "phone")
        let id = try #require(session["id"]?.string?.string)
        #expect(try await run(["token", "session", "revoke", id]).status == 0)
        #expect(try await accounts.sessions(of: "alice@example.org").first?.isRevoked == true)
        #expect(try await run(["token", "session", "revoke", "none"]).status == 1)
    }

    @Test("a public key is added once to a container and environment, and again when it is revoked")
    func keyTwice() async throws {
        let container = "iCloud.org.example.app"
        try await accounts.createContainer(Text(container))
        _ = try await accounts.addUser(
            emailAddress: "alice@example.org", password: Array("correct horse".utf8),
            cost: .quick, now: SystemClock().now)
        let file = data.path + "/public.pem"
        try write(
            String(decoding: try SigningKey().publicPEM.utf8, as: UTF8.self), to: file)
        let add = ["key", "add", file, container, "--user", "alice@example.org"]
        let first = try await run(add)
        #expect(first.status == 0, "\(first.errors)")
        let second = try await run(add)
        #expect(second.status == 1 && second.errors.contains(String(first.output.dropLast())))
        #expect(try await run(add + ["--environment", "production"]).status == 0)
        let id = String(first.output.prefix(16))
        #expect(try await run(["key", "revoke", container, id]).status == 0)
        #expect(try await run(add).status == 0)
    }

    @Test(
        "what is no e-mail address that everybody reads as one is refused",
        arguments: [
            "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", ".a@b", "a.@b", "a..b@c", "a@.b",
            "a@b.", "a@b..c", "a@-b", "a@b-", "<a>@b", "a,b@c", "a;b@c", "\"a\"@b", "a@b_c",
            "a\u{200B}@b.org", "a\u{202E}@b.org", "a@b\u{AD}.org", "a\n@b", "a\u{7F}@b",
            "\(String(repeating: "a", count: 65))@b.org",
        ])
    func oddAddresses(_ address: String) async throws {
        #expect(!EmailAddress.isWellFormed(Text(address)), "\(address)")
        await #expect(throws: ServerError.self) {
            try await accounts.addUser(
                emailAddress: Text(address), password: Array("correct horse".utf8), cost: .quick,
                now: SystemClock().now)
        }
    }

    @Test(
        "addresses that people have are taken",
        arguments: [
            "admin@localhost", "a.b+c@example.org", "o'neil@example.co.uk", "jörg@müller.example",
            "_x-1@sub.example.org", "用户@例子.example",
        ])
    func addresses(_ address: String) { #expect(EmailAddress.isWellFormed(Text(address))) }

    @Test("what people have reported of shares is listed, the newest first")
    func reports() async throws {
        let zone = StorageSample.zone
        try await storage.write { (transaction) throws(ServerError) in
            for (time, text) in [(1, "first"), (2, "a\u{1B}[31m\nb")] as [(Int64, Text)] {
                try transaction.putShareReport(
                    ShareReport(
                        zone: zone, share: .zoneShare, shortGUID: Text("g\(time)"),
                        reporter: StorageSample.bob, milliseconds: time, text: text))
            }
        }
        let reports = try json(try await run(["report", "list", "--json"]))
        #expect(reports.map { $0.at("share") } == ["g2", "g1"])
        #expect(reports.last?.at("text") == "first")
        #expect(reports.last?.at("time") == "1970-01-01T00:00:00.001Z")
        // Nothing that a terminal would obey.
        let shown = try await run(["report", "list"]).output
        #expect(shown.split(separator: "\n").count == 3 && !shown.contains("\u{1B}"))
    }

    @Test("a schema is imported, exported and deployed")
    func schema() async throws {
        let container = "iCloud.org.example.app"
        try await accounts.createContainer(Text(container))
        try write(
            "DEFINE SCHEMA\n RECORD TYPE Note (\n title STRING QUERYABLE\n );\n",
            to: data.path + "/schema.ckdb")
        let schema = ["container", "schema"]
        let file = data.path + "/schema.ckdb"
        #expect(try await run(schema + ["validate", container, file]).status == 0)
        let empty = try await run(schema + ["export", container])
        #expect(!empty.output.contains("Note"))
        #expect(try await run(schema + ["import", container, file]).status == 0)
        let exported = try await run(schema + ["export", container])
        #expect(exported.output.contains("RECORD TYPE Note"))
        #expect(try await run(schema + ["deploy", container]).status == 0)
        let production = try await run(
            schema + ["export", container, "--environment", "production"])
        #expect(production.output.contains("RECORD TYPE Note"))
        try write("DEFINE NOTHING", to: file)
        let bad = try await run(schema + ["import", container, file])
        #expect(bad.status == 1)
        #expect(!bad.errors.isEmpty)
        #expect(try await run(schema + ["reset", container]).status != 0)
        #expect(try await run(schema + ["reset", container, "--yes"]).status == 0)
    }

    @Test("a container has a title, which is changed and taken away")
    func containerTitle() async throws {
        let container = "iCloud.org.example.app"
        let create = ["container", "create", container, "--title", "Notes"]
        #expect(try await run(create).status == 0)
        func title() async throws -> String? {
            let list = try json(try await run(["container", "list", "--json"]))
            return list.first { $0["container"]?.string?.string == container }?["title"]?.string?
                .string
        }
        #expect(try await title() == "Notes")
        let change = ["container", "change", container, "--title"]
        #expect(try await run(change + ["Lists"]).status == 0)
        #expect(try await title() == "Lists")
        #expect(try await run(change + ["two\nlines"]).status == 1)
        #expect(try await run(change + [""]).status == 0)
        #expect(try await title() == "")
        #expect(
            try await run(["container", "change", "iCloud.none", "--title", "x"]).status == 1)
    }

    @Test("what a command revokes is refused by the running server's next answer")
    func runningServer() async throws {
        let folder = try TemporaryDirectory()
        let server = try await ServerProcess.serve(data: folder.path)
        func command(_ arguments: [String]) async throws -> String {
            let process = try ServerProcess(arguments + ["--data", folder.path])
            #expect(try await process.wait(seconds: 60) == 0, "\(process.errorText)")
            return process.outputText
        }
        let container = "iCloud.org.example.app"
        _ = try await command(["container", "create", container])
        let token = try await command(["token", "create", container, "--name", "web"]).dropLast()
        let target =
            "/database/1/\(container)/development/public/users/caller?ckAPIToken=\(token)"
        let before = try await RawHTTP.request(port: server.port, "GET", target)
        #expect(before.status == 421)
        let list = try await command(["token", "list", container, "--json"])
        let id = try #require(try JSONParser.parse(Array(list.utf8)).array?.first?["id"]?.string)
        _ = try await command(["token", "revoke", container, id.string])
        let after = try await RawHTTP.request(port: server.port, "GET", target)
        #expect(after.status == 401)
    }

    @Test("a directory without a server's data is not made into one")
    func noData() async throws {
        let empty = try TemporaryDirectory()
        let process = try ServerProcess(["user", "list", "--data", empty.path])
        #expect(try await process.wait(seconds: 60) == 1)
        #expect(process.errorText.contains("no server's data"))
        #expect(access(empty.path + "/records.sqlite", F_OK) != 0)
    }
}
