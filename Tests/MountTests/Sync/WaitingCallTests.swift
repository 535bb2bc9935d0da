import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Calls of the mount that wait for a server, and all those that do not.
    @Suite struct WaitingCallTests {
        private static let kinds = 6
        private static let count = 18
        /// Commands that ask the server by the daemon, beside those.
        private static let commands = [
            "recordfs sync", "recordfs share show private/Z3", "recordfs share url private/Z3",
            "recordfs shares --json > /dev/null; recordfs share create private/Other --title t",
            "recordfs accept --request http://127.0.0.1:1/share/0aBcD#Z", "recordfs retry",
            "recordfs share stop --dry-run private/Z3", "recordfs pin private/Other; recordfs sync",
        ]

        private let zones = "RecordFS/private"

        /// What leads to the server, in the zone `number`: each zone has one of the kinds.
        private func script(_ number: Int) -> String {
            let zone = "\(zones)/Z\(number)"
            let photo = "\(zone)/Note/n@photo.jpg"
            return switch number % Self.kinds {
            case 0: "cp text \(zone)/.share.json"
            case 1: "mv \(zone)/.new \(zone)/.share.json"
            case 2: "rm \(zone)/.share.json"
            case 3: "cat \(photo)"
            case 4: "dd if=text of=\(photo) bs=5 count=1 seek=1 conv=notrunc status=none"
            default: "cp text \(zone)/Note/.n.share.json"
            }
        }

        /// A machine whose account has the zones, and not the bytes of their large fields.
        private func machine(of account: Account) throws -> CommandLineHome {
            let first = try account.machine()
            try first.ok(
                """
                echo '{"participants": []}' > text
                for n in $(seq \(Self.count)) Other; do
                    mkdir -p \(zones)/Z$n/Note
                    echo '{"n": 1}' > \(zones)/Z$n/Note/n.json
                    head -c 70000 /dev/urandom > \(zones)/Z$n/Note/n@photo.jpg
                    [ $((n % \(Self.kinds))) != 2 ] || cp text \(zones)/Z$n/.share.json
                done
                mv \(zones)/ZOther \(zones)/Other
                recordfs sync; recordfs unmount
                """)
            let home = try account.machine()
            try home.ok(
                """
                recordfs sync
                echo '{"participants": []}' > text
                for n in $(seq \(Self.count)); do
                    [ $((n % \(Self.kinds))) != 1 ] || cp text \(zones)/Z$n/.new
                done
                """)
            return home
        }

        /// What waits for nobody. Each of them would stand still behind the waiting ones, if these had the
        /// threads that read calls. Nothing of it is in the directories where a file is removed or renamed
        /// meanwhile, for these the kernel keeps to the one who does that.
        private func goOn(_ home: CommandLineHome, _ round: Int) throws {
            let other = "\(zones)/Other/Note"
            let quiet = "\(zones)/Z\(Self.kinds * (round - 1) + 3)"
            #expect(try home.ok("ls \(zones) | grep -c Z") == "\(Self.count)")
            try home.ok("echo '{\"n\": \(round)}' > \(other)/o.json")
            #expect(try home.ok("jq .n \(other)/o.json") == "\(round)")
            try home.ok(
                """
                df RecordFS \(zones) RecordFS/local > df; ls -lR \(zones)/Other \(quiet) > ls
                mkdir -p \(zones)/New\(round)/Note && echo x > \(other)/o@new.txt && cat \(other)/o@new.txt
                mv \(other)/o.json \(zones)/New\(round)/Note/ && rm -r \(zones)/New\(round)
                cp \(quiet)/Note/n.json \(quiet)/Note/m.json
                stat \(quiet)/Note/n@photo.jpg > stat; getfattr -d \(other) || true
                cp text \(zones)/.swp; mv \(zones)/.swp \(zones)/Other/.swp; rm \(zones)/Other/.swp
                echo sync > RecordFS/.recordfs/ctl
                for part in conflicts export history meta trash; do
                    ls RecordFS/.recordfs/$part/private/Other/Note > control || true
                done
                cat RecordFS/.recordfs/{status.json,metrics,history/private/Z1/Note/n/*} > control
                ls RecordFS/.recordfs/{query/private/Z1/Note/n=1,search/private/Z1/1} > control
                recordfs status > said; recordfs ls private/Z1/Note > said; recordfs get private/Z1/Note/n > said
                recordfs put private/Other/Note/p < text || true
                """)
        }

        @Test(
            "calls and commands that wait for a silent server stop nobody, and end with their signal"
        )
        func silence() async throws {
            let account = try await Account()
            let home = try machine(of: account)
            account.suspendServer()
            let path = try home.ok("echo $PATH")
            let waiting = try (1...Self.count).map { number in
                try Child(
                    ["bash", "-c", "exec " + script(number)],
                    environment: ["HOME": home.folder], directory: home.folder)
            }
            for child in waiting { try waitForCall(of: child) }
            let commands = try Self.commands.map { command in
                try Child(
                    ["bash", "-c", command], environment: ["HOME": home.folder, "PATH": path],
                    directory: home.folder)
            }
            for round in 1...3 { try goOn(home, round) }
            #expect(waiting.filter { !$0.isRunning }.isEmpty)
            for child in waiting + commands { child.signal(SIGTERM) }
            for child in waiting { #expect(try child.wait(seconds: 20).status == 128 + SIGTERM) }
            for child in commands { _ = try child.wait(seconds: 20) }
            account.resumeServer()
            try home.ok("recordfs unmount && recordfs fsck")
        }

        /// Until it stands in close, rename or unlink.
        private func waitForCall(of child: Child) throws {
            // x86_64: read, write, close, rename, unlink, renameat2, unlinkat; arm64: close, unlinkat,
            // read, write, renameat2.
            let calls = ["0", "1", "3", "82", "87", "316", "263", "57", "35", "63", "64", "276"]
            let places = ["fuse", "request_wait", "folio", "page"]
            let deadline = Deadline(seconds: 30)
            var last = ""
            while child.isRunning {
                last = try SystemCall.readText("/proc/\(child.pid)/syscall")
                let call = String(last.prefix { $0 != " " })
                let state = try SystemCall.readText("/proc/\(child.pid)/wchan")
                if calls.contains(call), places.contains(where: { state.contains($0) }) { return }
                try #require(!deadline.isOver, "it does not wait: \(last) \(state)")
                sched_yield()
            }
            let end = try child.wait()
            throw ChildFailure(description: "it did not wait for the server: \(end)")
        }
    }
}
