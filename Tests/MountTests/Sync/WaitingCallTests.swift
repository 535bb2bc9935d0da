import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Calls of the mount that wait for a server, and all those that do not.
    @Suite struct WaitingCallTests {
        private static let kinds = 4
        private static let count = 16

        private let zones = "RecordFS/private"

        /// What leads to the server, in the zone `number`: each zone has one of the four kinds.
        private func script(_ number: Int) -> String {
            let zone = "\(zones)/Z\(number)"
            return switch number % Self.kinds {
            case 0: "cp text \(zone)/.share.json"
            case 1: "mv \(zone)/.new \(zone)/.share.json"
            case 2: "rm \(zone)/.share.json"
            default: "cp text \(zone)/Note/.n.share.json"
            }
        }

        @Test("sixteen calls that wait for a silent server stop nobody, and end with their signal")
        func silence() async throws {
            let account = try await Account()
            let home = try account.machine()
            try home.ok(
                """
                echo '{"participants": []}' > text
                for n in $(seq \(Self.count)); do
                    mkdir -p \(zones)/Z$n/Note
                    echo '{"n": 1}' > \(zones)/Z$n/Note/n.json
                    case $((n % \(Self.kinds))) in
                    1) cp text \(zones)/Z$n/.new ;;
                    2) cp text \(zones)/Z$n/.share.json ;;
                    esac
                done
                mkdir -p \(zones)/Other/Note
                recordfs sync
                """)
            account.suspendServer()
            let waiting = try (1...Self.count).map { number in
                try Child(
                    ["bash", "-c", "exec " + script(number)],
                    environment: ["HOME": home.folder], directory: home.folder)
            }
            for child in waiting { try waitForCall(of: child) }
            // Each of them would stand still behind the waiting ones, if these had the readers.
            for round in 1...3 {
                #expect(try home.ok("ls \(zones) | wc -l") == "\(Self.count + 1)")
                try home.ok("echo '{\"n\": \(round)}' > \(zones)/Other/Note/o.json")
                #expect(try home.ok("jq .n \(zones)/Other/Note/o.json") == "\(round)")
                try home.ok("df RecordFS > df && ls -l \(zones)/Other/Note > ls")
            }
            #expect(waiting.filter { !$0.isRunning }.isEmpty)
            for child in waiting { child.signal(SIGTERM) }
            for child in waiting { #expect(try child.wait(seconds: 20).status == 128 + SIGTERM) }
            account.resumeServer()
            try home.ok("recordfs unmount && recordfs fsck")
        }

        /// Until it stands in close, rename or unlink.
        private func waitForCall(of child: Child) throws {
            // x86_64: close, rename, unlink, renameat2, unlinkat; arm64: close, unlinkat, renameat2.
            let calls = ["3", "82", "87", "316", "263", "57", "35", "276"]
            let deadline = Deadline(seconds: 30)
            var last = ""
            while child.isRunning {
                last = try SystemCall.readText("/proc/\(child.pid)/syscall")
                let call = String(last.prefix { $0 != " " })
                let state = try SystemCall.readText("/proc/\(child.pid)/wchan")
                if calls.contains(call), state.contains("fuse") || state.contains("request_wait") {
                    return
                }
                try #require(!deadline.isOver, "it does not wait: \(last) \(state)")
                sched_yield()
            }
            let end = try child.wait()
            throw ChildFailure(description: "it did not wait for the server: \(end)")
        }
    }
}
