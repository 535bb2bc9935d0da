import Glibc
import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What an operator does with the program itself.
@Suite("Commands of an operator", .serialized) struct OperatorCommandTests {
    private let site: OperatedSite
    private var data: String { site.path("data") }
    private static let container = OperatedSite.container.container.string

    init() throws { site = try OperatedSite() }

    private struct Outcome {
        let status: Int32
        let output: String
        let errors: String

        var json: JSONValue { (try? JSONParser.parse(Array(output.utf8))) ?? .null }
        /// The value behind a word in a table of two columns, as JSON.
        func value(_ what: String) -> JSONValue? {
            json.array?.first { $0["what"]?.string?.string == what }?["value"]
        }
    }

    private func run(_ arguments: String...) async throws -> Outcome {
        try await run(arguments + ["--data", data])
    }

    private func run(_ arguments: [String]) async throws -> Outcome {
        let process = try ServerProcess(arguments)
        let status = try await process.wait(seconds: 60)
        return Outcome(status: status, output: process.outputText, errors: process.errorText)
    }

    /// A server with two people; alice has a zone with three records and shares it with bob.
    private func scene() async throws -> (ServerInstance, OperatedSite.Client, OperatedSite.Client)
    {
        let instance = try await site.start()
        let alice = try await site.client("alice", of: instance)
        let bob = try await site.client("bob", of: instance)
        try await site.makeZone("Work", instance, alice)
        for name in ["a", "b", "c"] {
            let made = try await site.save("create", name, in: "Work", instance, alice)
            #expect(made.code == nil, "\(made.json)")
        }
        try await site.share("Work", instance, from: alice, with: bob)
        return (instance, alice, bob)
    }

    private func lookup(
        _ instance: ServerInstance, _ client: OperatedSite.Client, owner: UserName? = nil
    ) async throws -> OperatedSite.Reply {
        try await site.call(
            instance, (owner == nil ? "private" : "shared") + "/records/lookup", client,
            [
                "zoneID": OperatedSite.zone("Work", owner: owner),
                "records": [["recordName": "a"]],
            ])
    }

    // MARK: Looking

    @Test("the version, the status and the doctor's findings are told, running or not")
    func looking() async throws {
        let version = try await run(["--version"])
        #expect(version.output.hasPrefix("recordfs-server 0."))
        let (instance, _, _) = try await scene()
        let running = try await run("status", "--json")
        #expect(running.status == 0, "\(running.errors)")
        let words = running.value("running")?.string?.string ?? ""
        #expect(words.contains("yes, process \(getpid())"))
        #expect(words.contains("http://127.0.0.1:\(instance.running.port)"))
        #expect(running.value("users") == "3")
        #expect(running.value("containers") == "1")
        let healthy = try await run("doctor", "--deep")
        #expect(healthy.status == 0, "\(healthy.output) \(healthy.errors)")
        #expect(healthy.output.contains("whole, with its indexes"))
        try await instance.stop()
        #expect(try await run("status", "--json").value("running") == "no")
        #expect(chmod(data, 0o755) == 0)
        let open = try await run("doctor", "--json")
        #expect(open.status == 1)
        #expect(open.output.contains("chmod 700"))
        #expect(chmod(data, 0o700) == 0)
        let odd = try await run(
            "doctor", "--trusted-proxies", "0.0.0.0/0", "--public-url", "http://records.example.org"
        )
        #expect(odd.status == 0)
        #expect(odd.output.contains("0.0.0.0/0 is every address"))
        #expect(odd.output.contains("no https address"))
    }

    @Test("a damaged database is found, and doctor says how")
    func damagedDatabase() async throws {
        let (instance, _, _) = try await scene()
        try await instance.stop()
        let file = try #require(fopen(data + "/records.sqlite", "r+"))
        // Page 2 is in use as soon as there is a table.
        fseek(file, 4096, SEEK_SET)
        for _ in 0..<512 { fputs("damaged ", file) }
        fclose(file)
        let found = try await run("doctor")
        #expect(found.status == 1, "\(found.output) \(found.errors)")
        #expect((found.output + found.errors).contains("malformed"), "\(found.output)")
    }

    @Test("missing and changed bytes of an asset are found")
    func damage() async throws {
        let (instance, alice, _) = try await scene()
        let asset = try await upload(instance, alice)
        try await instance.stop()
        #expect(try await run("doctor").status == 0)
        let path = try asset.path(in: data)
        #expect(rename(path, path + ".away") == 0)
        let missing = try await run("doctor")
        #expect(missing.status == 1 && missing.output.contains("is missing"), "\(missing.output)")
        #expect(rename(path + ".away", path) == 0)
        let file = try #require(fopen(path, "r+"))
        fputs("X", file)
        fclose(file)
        #expect(try await run("doctor").status == 0)
        let changed = try await run("doctor", "--deep")
        #expect(changed.status == 1 && changed.output.contains("has other bytes"))
    }

    private struct Uploaded {
        let hash: String
        func path(in data: String) throws -> String {
            data + "/assets/" + hash.prefix(2) + "/" + hash
        }
    }

    private func upload(
        _ instance: ServerInstance, _ client: OperatedSite.Client
    ) async throws -> Uploaded {
        let bytes = Array("bytes of an asset".utf8)
        let tokens = try await site.call(
            instance, "private/assets/upload", client,
            [
                "zoneID": OperatedSite.zone("Work"),
                "tokens": [["recordType": "Note", "fieldName": "photo"]],
            ])
        let url = try #require(tokens.json.at("tokens.0.url").string, "\(tokens.json)").string
        let path = String(url[try #require(url.firstRange(of: "/assets/")).lowerBound...])
        let answer = try await RawHTTP.request(
            port: instance.running.port, "POST", path, body: bytes)
        let file = try JSONParser.parse(answer.body).at("singleFile")
        let saved = try await site.call(
            instance, "private/records/modify", client,
            [
                "zoneID": OperatedSite.zone("Work"),
                "operations": [
                    [
                        "operationType": "forceUpdate",
                        "record": [
                            "recordName": "a", "recordType": "Note",
                            "fields": ["photo": ["value": file, "type": "ASSETID"]],
                        ],
                    ]
                ],
            ])
        #expect(saved.code == nil, "\(saved.json)")
        return Uploaded(hash: SHA256.digest(of: bytes).map { Self.hexadecimal($0) }.joined())
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    @Test("a configuration is checked without anything being made")
    func configuration() async throws {
        let missing = site.path("none")
        let good = try await run([
            "configuration", "--check", "--data", missing, "--set", "quota-bytes=5G",
            "--set", "asset-bytes=100 MB",
        ])
        #expect(good.status == 0 && good.output.contains("no problems"), "\(good.errors)")
        #expect(access(missing, F_OK) != 0)
        for bad in ["quota-bytes=5X", "quota-bytes=-1", "quota-bytes=9999999P", "no-key=1"] {
            #expect(
                try await run(["configuration", "--check", "--data", missing, "--set", bad]).status
                    == 1)
        }
        let unset = try await run(["configuration", "--check", "--data", missing, "--set", "zones"])
        #expect(unset.status == 1 && unset.errors.contains("--set zones: write"), "\(unset.errors)")
        let tls = try await run([
            "configuration", "--check", "--data", missing, "--tls-certificate", "/none.pem",
            "--tls-key", "/none.pem",
        ])
        #expect(tls.status == 1)
        #expect(tls.output.contains("bad: certificate: /none.pem cannot be read"))
        #expect(try await run(["configuration"]).output.contains("#quota-bytes = "))
    }

    // MARK: Users

    @Test("a user is shown with what is used of the quota, and gets another address")
    func show() async throws {
        let (instance, alice, _) = try await scene()
        let shown = try await run("user", "show", "alice@example.org", "--json")
        #expect(shown.status == 0, "\(shown.errors)")
        #expect((shown.value("usedBytes")?.int64 ?? 0) > 0)
        #expect(shown.value("zones") == 1 && shown.value("shares") == 1)
        #expect(shown.value("sessions") == 1)
        let listed = try await run("user", "list", "--json").json.array ?? []
        #expect(listed.contains { ($0["usedBytes"]?.int64 ?? 0) > 0 })
        #expect(try await run("user", "email", "alice@example.org", "bob@example.org").status == 1)
        for odd in ["a b@example.org", "a@", "a@b..org", "<a>@example.org", "a\u{202E}b@x.org"] {
            #expect(try await run("user", "email", "alice@example.org", odd).status == 1, "\(odd)")
        }
        #expect(
            try await run("user", "email", "alice@example.org", "Ada@Example.org").status == 0)
        #expect(try await run("user", "show", "ada@example.org").status == 0)
        #expect(try await run("user", "show", "alice@example.org").status == 1)
        let events = try await run("user", "events", "ada@example.org")
        #expect(events.output.contains("e-mail address changed"))
        #expect(try await lookup(instance, alice).code == nil)
        #expect(try await run("user", "sign-out", "ada@example.org").output.contains("Ended 1"))
        #expect(try await lookup(instance, alice).status == 421)
        try await instance.stop()
    }

    @Test("all of a user is exported: account, records and the bytes of assets")
    func export() async throws {
        let (instance, alice, _) = try await scene()
        let asset = try await upload(instance, alice)
        let target = site.path("export")
        let exported = try await run("user", "export", "alice@example.org", target)
        #expect(exported.status == 0, "\(exported.errors)")
        // The share of the zone is a record too.
        #expect(exported.output.contains("1 zones, 4 records and 1 assets"), "\(exported.output)")
        let lines = try read(
            "\(target)/\(Self.container)/development/Work.ndjson"
        ).split(separator: "\n").map { try JSONParser.parse(Array($0.utf8)) }
        #expect(
            Set(lines.compactMap { $0["recordName"]?.string?.string })
                == ["a", "b", "c", "cloudkit.zoneshare"])
        #expect(lines.contains { $0.at("fields.title.value") == "t" })
        #expect(try read("\(target)/assets/\(asset.hash)") == "bytes of an asset")
        let account = try JSONParser.parse(Array(try read("\(target)/account.json").utf8))
        #expect(account["emailAddress"] == "alice@example.org")
        #expect(try !read("\(target)/account.json").contains("scrypt"))
        #expect(try await run("user", "export", "alice@example.org", target).status == 1)
        #expect(try await run("user", "export", "nobody@example.org", target + "2").status == 1)
        try await instance.stop()
    }

    private func read(_ path: String) throws -> String {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "a user is deleted with all that is private, for all others at once; a look changes nothing"
    )
    func deleteUser() async throws {
        let (instance, alice, bob) = try await scene()
        #expect(try await lookup(instance, bob, owner: alice.user).code == nil)
        let unsaid = try await run("user", "delete", "alice@example.org")
        #expect(unsaid.status == 1 && unsaid.errors.contains("--yes"))
        let look = try await run("user", "delete", "alice@example.org", "--dry-run")
        #expect(look.output.contains("1 zones, 4 records, 1 shares"), "\(look.output)")
        #expect(try await lookup(instance, alice).code == nil)
        #expect(try await run("user", "delete", "alice@example.org", "--yes").status == 0)
        #expect(try await lookup(instance, alice).status == 421)
        #expect(try await lookup(instance, bob, owner: alice.user).code == "ZONE_NOT_FOUND")
        #expect(try await run("user", "show", "alice@example.org").status == 1)
        // The address is free for somebody else, who has nothing of it.
        let accounts = Accounts(storage: instance.application.service.storage)
        let other = try await accounts.addUser(
            emailAddress: "alice@example.org", password: Array("correct horse".utf8), cost: .quick,
            now: SystemClock().now)
        #expect(other.name != alice.user)
        let shown = try await run("user", "show", "alice@example.org", "--json")
        #expect(shown.value("zones") == 0 && shown.value("usedBytes") == 0)
        let last = try await run("user", "delete", "admin@localhost", "--yes")
        #expect(last.status == 1 && last.errors.contains("only administrator"))
        // Who takes part leaves the share, and the owner keeps all.
        #expect(try await run("user", "delete", "bob@example.org", "--yes").status == 0)
        try await instance.stop()
        #expect(try await run("doctor").status == 0)
    }

    @Test("who takes part in a share leaves it with the account, and its owner sees that")
    func deleteParticipant() async throws {
        let (instance, alice, _) = try await scene()
        #expect(try await run("user", "delete", "bob@example.org", "--yes").status == 0)
        let share = try await site.call(
            instance, "private/records/lookup", alice,
            [
                "zoneID": OperatedSite.zone("Work"),
                "records": [["recordName": "cloudkit.zoneshare"]],
            ])
        #expect(share.json.at("records.0.participants").array?.count == 1, "\(share.json)")
        #expect(try await lookup(instance, alice).code == nil)
        try await instance.stop()
    }

    @Test("a link for a new password is printed, with the address that clients use")
    func resetLink() async throws {
        let (instance, _, _) = try await scene()
        let local = try await run("user", "reset-link", "alice@example.org")
        #expect(
            local.output.hasPrefix("http://127.0.0.1:\(instance.running.port)/reset?code="))
        let named = try await run(
            "user", "reset-link", "alice@example.org", "--public-url", "https://r.example.org")
        #expect(named.output.hasPrefix("https://r.example.org/reset?code="))
        #expect(try await run("user", "disable", "alice@example.org").status == 0)
        #expect(try await run("user", "reset-link", "alice@example.org").status == 1)
        try await instance.stop()
        #expect(try await run("user", "reset-link", "bob@example.org").status == 1)
    }

    // MARK: Containers, tokens, the seal

    @Test("a container is deleted with the records of everybody in it; a look changes nothing")
    func deleteContainer() async throws {
        let (instance, alice, _) = try await scene()
        #expect(try await run("container", "create", "iCloud.org.example.other").status == 0)
        let look = try await run("container", "delete", Self.container, "--dry-run")
        #expect(look.output.contains("records") && look.output.contains("API tokens"))
        #expect(try await run("container", "delete", Self.container).status == 1)
        #expect(try await lookup(instance, alice).code == nil)
        #expect(try await run("container", "delete", Self.container, "--yes").status == 0)
        #expect(try await lookup(instance, alice).status == 401)
        #expect(try await run("container", "delete", Self.container, "--yes").status == 1)
        let list = try await run("container", "list", "--json").json.array ?? []
        #expect(list.map { $0["container"] } == ["iCloud.org.example.other"])
        #expect(try await run("user", "show", "alice@example.org", "--json").value("zones") == 0)
        try await instance.stop()
    }

    @Test("an API token is replaced, and sign-ins go on with the new one")
    func replaceToken() async throws {
        let (instance, alice, _) = try await scene()
        let list = try await run("token", "list", Self.container, "--json").json.array ?? []
        let row = try #require(list.first { $0["name"] == "alice's client" })
        let id = try #require(row["id"]?.string?.string)
        let look = try await run("token", "replace", Self.container, id, "--dry-run")
        #expect(look.output.contains("alice's client"))
        #expect(try await lookup(instance, alice).code == nil)
        let made = try await run("token", "replace", Self.container, id)
        #expect(made.status == 0, "\(made.errors)")
        #expect(try await lookup(instance, alice).status == 401)
        let renewed = OperatedSite.Client(
            user: alice.user, apiToken: Text(made.output.dropLast()),
            webAuthToken: alice.webAuthToken)
        #expect(try await lookup(instance, renewed).code == nil)
        try await instance.stop()
    }

    @Test("the seal key is replaced while no server runs, which ends all sign-ins and no account")
    func sealKey() async throws {
        let (instance, alice, _) = try await scene()
        let busy = try await run("seal-key", "replace", "--yes")
        #expect(busy.status == 1 && busy.errors.contains("in use"))
        try await instance.stop()
        let look = try await run("seal-key", "replace", "--dry-run")
        #expect(look.output.contains("ends 2 sign-ins"))
        #expect(try await run("seal-key", "replace").status == 1)
        let before = try await site.start()
        #expect(try await lookup(before, alice).code == nil)
        try await before.stop()
        #expect(try await run("seal-key", "replace", "--yes").output.contains("2 sign-ins"))
        let after = try await site.start()
        #expect(try await lookup(after, alice).status == 421)
        try await after.stop()
        #expect(try await run("user", "show", "alice@example.org", "--json").value("zones") == 1)
    }

    @Test("a report is dismissed by its number, and a second one of the same person is one more")
    func reports() async throws {
        let (instance, alice, bob) = try await scene()
        let storage = instance.application.service.storage
        let zone = ZoneKey(
            database: DatabaseKey(container: OperatedSite.container, owner: alice.user),
            zone: ZoneName("Work"))
        for text: Text in ["first", "second"] {
            try await storage.write { (transaction) throws(ServerError) in
                try transaction.putShareReport(
                    ShareReport(
                        zone: zone, share: .zoneShare, shortGUID: "g", reporter: bob.user,
                        milliseconds: 1, text: text))
            }
        }
        let list = try await run("report", "list", "--json").json.array ?? []
        #expect(list.map { $0["text"] } == ["second", "first"])
        let number = try #require(list.first?["number"]?.int64)
        #expect(try await run("report", "dismiss", "\(number)").status == 0)
        #expect(try await run("report", "dismiss", "\(number)").status == 1)
        let left = try await run("report", "list", "--json").json.array ?? []
        #expect(left.map { $0["text"] } == ["first"])
        try await instance.stop()
    }

    // MARK: Backups and links

    @Test(
        "a restore is tried without anything being made, and a backup without an asset is found out"
    )
    func rehearsal() async throws {
        let (instance, alice, _) = try await scene()
        let asset = try await upload(instance, alice)
        let backup = site.path("backup")
        #expect(try await run("backup", backup).status == 0)
        try await instance.stop()
        let target = site.path("restored")
        let tried = try await run([
            "restore", backup, "--data", target, "--dry-run", "--deep",
        ])
        #expect(tried.status == 0, "\(tried.errors)")
        #expect(tried.output.contains("can be restored. Nothing was changed."))
        #expect(tried.output.contains("alice@example.org"))
        #expect(access(target, F_OK) != 0)
        #expect(unlink(try asset.path(in: backup)) == 0)
        let broken = try await run(["restore", backup, "--data", target, "--dry-run"])
        #expect(broken.status == 1 && broken.output.contains("is missing"))
        #expect(
            try await run(["restore", site.path("none"), "--data", target, "--dry-run"]).status
                == 1)
    }

    @Test("a join link carries address, container, environment and a good token behind the #")
    func joinLink() async throws {
        let (instance, _, _) = try await scene()
        let made = try await run(
            "join-link", Self.container, "--environment", "production", "--public-url",
            "https://records.example.org")
        #expect(made.status == 0, "\(made.errors)")
        let start =
            "https://records.example.org/join#container=\(Self.container)&environment=production&token="
        #expect(made.output.hasPrefix(start))
        let token = Text(made.output.dropFirst(start.count).dropLast())
        let query = "?ckAPIToken=\(token)"
        let answer = try await RawHTTP.request(
            port: instance.running.port, "POST",
            "/database/1/\(Self.container)/production/private/zones/list" + query)
        #expect(answer.status == 421)
        let page = try await RawHTTP.request(port: instance.running.port, "GET", "/join")
        #expect(page.status == 200 && page.text.contains("recordfs login"))
        let again = try await run(
            "join-link", Self.container, "--environment", "production", "--token", token.string)
        #expect(
            again.output.hasPrefix("http://127.0.0.1:\(instance.running.port)/join#container="))
        #expect(again.output.hasSuffix("&token=\(token)\n"))
        #expect(
            try await run("join-link", Self.container, "--token", token.string).status == 1)
        try await instance.stop()
        #expect(try await run("join-link", Self.container).status == 1)
    }
}
