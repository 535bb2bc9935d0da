import TestSupport
import Testing

extension MountTests {
    /// Real processes: what people see of the beginning of a sign-in, and of its end by the server.
    @Suite struct SignInTests {
        private let note = "RecordFS/private/Box/Note"

        /// Says whether `recordfs accounts` tells this, in words and as JSON; it lists what else is mounted besides. An
        /// answer of the server may take longer than the command waits.
        private func isListed(_ home: CommandLineHome, as state: String) throws -> Bool {
            try home.eventually(
                """
                recordfs accounts | grep "^$HOME/" | grep -oE '(signed|ended) .*'
                recordfs accounts --json | jq 'select(.store | startswith(env.HOME)) | .accepted'
                """, state)
        }

        @Test("a sign-in that the server has ended is told by accounts, status and mount")
        func ended() async throws {
            let account = try await Account()
            let home = try account.machine()
            #expect(try isListed(home, as: "signed in\ntrue"))
            try await account.stopServer()
            #expect(try isListed(home, as: "signed in; the server did not answer\nnull"))
            try await account.startServer()
            try home.ok("recordfs sync")
            #expect(try isListed(home, as: "signed in\ntrue"))

            try await account.command("user", "sign-out", "admin@localhost")
            let ended = "ended by the server; recordfs login signs in again\nfalse"
            #expect(try isListed(home, as: ended))
            let refused = try home.shell("recordfs sync")
            #expect(refused.status == 1 && refused.errors.contains("recordfs login"), "\(refused)")
            let words = "no longer accepts the sign-in of this machine"
            #expect(try home.ok("recordfs status").contains(words))
            // It is remembered, for when there is no network.
            try await account.stopServer()
            #expect(try isListed(home, as: ended))
            let mounted = try home.shell(
                "recordfs unmount; recordfs mount; echo '{}' | recordfs put private/Box/Note/x")
            #expect(mounted.errors.contains(words), "\(mounted)")
            try await account.startServer()
            // The store knows its server, container and API token.
            let signIn = try home.recordfs(
                ["login", "--user", "admin@localhost", "--password-stdin"],
                input: account.password + "\n")
            #expect(signIn.status == 0, "\(signIn)")
            #expect(try isListed(home, as: "signed in\ntrue"))
            let again = try home.shell("recordfs sync && recordfs unmount && recordfs mount")
            #expect(again.status == 0 && !again.errors.contains(words), "\(again)")
            #expect(try !home.ok("recordfs status").contains(words))
            try home.ok("recordfs unmount && recordfs fsck")
        }

        @Test(
            "with somebody else's account file in its place nothing of a store goes to that person")
        func replacedAccount() async throws {
            let account = try await Account()
            let a = try account.machine()
            try await account.addUser("bob@localhost", password: "a password of bob")
            let bob = try account.machine(as: "bob@localhost", password: "a password of bob")
            let file = ".local/share/recordfs/account.json"
            try await account.stopServer()
            try a.ok("mkdir -p \(note); echo '{\"n\": 1}' > \(note)/x.json; recordfs unmount")
            try await account.startServer()
            try a.ok("mv \(file) kept; cp -p \(bob.folder)/\(file) \(file)")
            let refused = try a.shell("recordfs mount; recordfs sync")
            #expect(refused.errors.contains("this store belongs to"), "\(refused)")
            #expect(try bob.ok("recordfs sync; ls RecordFS/private") == "")
            try a.ok("recordfs unmount || true; mv kept \(file); recordfs mount; recordfs sync")
            let other = try account.machine()
            #expect(try other.eventually("jq .n \(note)/x.json", "1"))
            #expect(try bob.ok("recordfs sync; ls RecordFS/private") == "")
            for home in [a, bob, other] { try home.ok("recordfs unmount && recordfs fsck") }
        }

        /// The number of sign-ins that the server accepts.
        private func signIns(_ account: Account, of user: String = "admin@localhost") async throws
            -> Int
        {
            let list = try await account.command("token", "session", "list", user, "--json")
            return list.matches(of: /"revoked" *: *false/).count
        }

        /// What the server answers to who has this copy of an account file: 200 while it accepts it.
        private func status(_ home: CommandLineHome, ofCopy copy: String) throws -> String {
            try home.ok(
                """
                url=$(jq -r '.server + "/database/1/" + .container + "/" + .environment
                    + "/public/users/current?ckAPIToken=" + .apiToken
                    + "&ckWebAuthToken=" + (.webAuthToken | @uri)' \(copy))
                curl -s -o /dev/null -w '%{http_code}' "$url"
                """)
        }

        @Test("each login is one sign-in, and logout ends it at the server, also for a copy of it")
        func oneSignIn() async throws {
            let account = try await Account()
            let home = try account.machine()
            let file = ".local/share/recordfs/account.json"
            #expect(try await signIns(account) == 1)
            try home.ok("cp \(file) copy; recordfs sync")
            #expect(try status(home, ofCopy: "copy") == "200")
            // The earlier one of this machine is not needed any more.
            try account.signIn(home)
            #expect(try await signIns(account) == 1)
            #expect(try status(home, ofCopy: "copy") == "421")
            try home.ok("recordfs sync; cp \(file) copy")
            #expect(try status(home, ofCopy: "copy") == "200")
            let out = try home.shell("recordfs logout")
            #expect(out.status == 0 && out.errors == "", "\(out)")
            #expect(try await signIns(account) == 0)
            #expect(try status(home, ofCopy: "copy") == "421")
            try home.ok("recordfs unmount && recordfs fsck")
        }

        @Test("a login that is refused leaves no sign-in at the server")
        func refusedLogin() async throws {
            let account = try await Account()
            let home = try account.machine()
            try await account.addUser("bob@localhost", password: "a password of bob")
            let refused = try account.signInResult(
                home, user: "bob@localhost", password: "a password of bob")
            #expect(refused.status == 1 && refused.errors.contains("this store belongs to"))
            #expect(try await signIns(account, of: "bob@localhost") == 0)
            #expect(try await signIns(account) == 1)
            try home.ok("recordfs sync && recordfs unmount && recordfs fsck")
        }

        @Test("a server that cannot be reached keeps the sign-in, and logout says how to end it")
        func loggedOutAlone() async throws {
            let account = try await Account()
            let home = try account.machine()
            let file = ".local/share/recordfs/account.json"
            try home.ok("cp \(file) copy")
            try await account.stopServer()
            let out = try home.shell("recordfs logout")
            #expect(out.status == 0 && out.output == "Signed out of \(account.address).\n")
            #expect(out.errors.contains("still has it. End it at \(account.address)/sessions."))
            #expect(try isListed(home, as: "signed out\nnull"))
            try await account.startServer()
            #expect(try status(home, ofCopy: "copy") == "200")
            try home.ok("recordfs unmount && recordfs fsck")
        }

        /// A certificate that no machine knows, as an operator makes one.
        private func certificate() throws -> TemporaryDirectory {
            let folder = try TemporaryDirectory()
            let home = try CommandLineHome()
            try home.ok(
                """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
                    -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
                    -out \(folder.path)/certificate.pem -keyout \(folder.path)/key.pem
                """)
            return folder
        }

        @Test("a server with an authority of one's own is named as that, and known with --ca-file")
        func authority() async throws {
            let folder = try certificate()
            let authority = folder.path + "/certificate.pem"
            let account = try await Account(
                server: ["--tls-certificate", authority, "--tls-key", folder.path + "/key.pem"])
            let (a, b) = (try CommandLineHome(), try CommandLineHome())
            let unknown = try account.signInResult(a, password: account.password)
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("an authority that this machine does not trust"))
            #expect(unknown.errors.contains("recordfs login --ca-file FILE"), "\(unknown)")
            #expect(!unknown.errors.contains("handshake"), "\(unknown)")
            for home in [a, b] {
                let known = try account.signInResult(
                    home, password: account.password, login: ["--ca-file", authority])
                #expect(known.status == 0, "\(known)")
                // The file is kept beside the account.
                try home.ok("recordfs mount")
                #expect(try isListed(home, as: "signed in\ntrue"))
            }
            try a.ok("mkdir -p \(note); echo '{\"n\": 1}' > \(note)/x.json; recordfs sync")
            #expect(try b.eventually("jq .n \(note)/x.json", "1"))
            try b.ok("recordfs unmount; recordfs mount; echo '{\"n\": 2}' > \(note)/x.json")
            try b.ok("recordfs sync")
            #expect(try a.eventually("jq .n \(note)/x.json", "2"))
            for home in [a, b] { try home.ok("recordfs unmount && recordfs fsck") }
        }

        @Test("a join link and a password are all that somebody needs to sign in")
        func joinLink() async throws {
            let account = try await Account()
            let home = try CommandLineHome()
            let link = try await account.command("join-link", "iCloud.org.recordfs.default")
                .filter { !$0.isNewline }
            let result = try home.recordfs(
                "login", link, "--user", "admin@localhost", "--password-stdin",
                input: account.password + "\n")
            #expect(result.status == 0, "\(result)")
            try home.ok("recordfs mount; mkdir -p \(note); echo '{\"n\": 1}' > \(note)/x.json")
            try home.ok("recordfs sync")
            let other = try account.machine()
            #expect(try other.eventually("jq .n \(note)/x.json", "1"))
            for home in [home, other] { try home.ok("recordfs unmount && recordfs fsck") }
        }
    }
}
