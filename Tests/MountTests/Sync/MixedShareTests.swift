import TestSupport
import Testing

extension MountTests {
    /// Real processes: a server and the mounts of two users. In one zone Alice shares `soup` with Bob for
    /// reading, and `tea` for writing, each with what hangs on it.
    @Suite struct MixedShareTests: TestsOfTwoUsers {
        let users: TwoUsers

        private let recipes = "RecordFS/private/Kitchen/Recipe"
        private let shared = "RecordFS/shared/admin@localhost/Kitchen/Recipe"

        init() async throws {
            users = try await TwoUsers()
            try users.alice.ok(
                """
                mkdir -p \(recipes) && cd \(recipes)
                for root in soup tea; do
                    echo '{"n": 1}' > $root.json
                    echo '{"n": 1, "$parent": "'$root'"}' > $root-step.json
                    head -c 3000 /dev/urandom | base64 > $root-step@photo.txt
                done
                cd; recordfs share create private/Kitchen/Recipe/soup --with bob@localhost > soup
                recordfs share create private/Kitchen/Recipe/tea --with bob@localhost --write > tea
                """)
            for link in ["soup", "tea"] {
                try bob.ok("recordfs accept \"$(cat \(users.alice.folder)/\(link))\"")
            }
        }

        private func modes(_ soup: String, _ tea: String) -> String {
            """
            .:755
            soup-step.json:\(soup)
            soup-step@photo.txt:\(soup)
            soup.json:\(soup)
            tea-step.json:\(tea)
            tea-step@photo.txt:\(tea)
            tea.json:\(tea)
            """
        }

        private var showModes: String {
            "cd \(shared) && stat -c %n:%a . *.json *.txt | LC_ALL=C sort"
        }

        /// Each ends with "Permission denied" in what may only be read.
        private func edits(_ root: String) -> [String] {
            let step = "\(root)-step"
            return [
                "echo '{\"n\": 2}' > \(root).json",
                "echo ' ' >> \(step).json",
                "truncate -s 5 \(step).json",
                "touch \(step).json",
                "rm -f \(step).json",
                "mv \(step).json \(step)2.json",
                "mv \(step).json .\(step)~",
                "sed -i 's/1/2/' \(root).json",
                "cp \(root).json .new && mv -f .new \(root).json",
                "setfattr -n user.recordfs.state -v retry \(root).json",
                "echo x > \(step)@photo.txt",
                "rm -f \(step)@photo.txt",
                "mv \(step)@photo.txt .photo",
                "echo x > \(root)@other.txt",
                "echo x > .other && mv -f .other \(step)@photo.txt",
                "echo '{\"n\": 1, \"$parent\": \"\(root)\"}' > .n && mv -f .n \(root)-new.json",
            ]
        }

        /// Each would take something out of the share, and make it anew in a zone of his own.
        private func moves(_ root: String) -> [String] {
            let own = "~/RecordFS/private/Own/Note"
            return [
                "mv \(root).json \(own)/", "mv \(root)-step.json \(own)/x.json",
                "mv \(root)-step@photo.txt \(own)/", "mv \(root)-step@photo.txt \(own)/.photo",
                "recordfs mv \(root).json \(own)/", "recordfs mv \(root)-step \(own)/x",
                "recordfs mv \(root) ~/RecordFS/private/Own/Recipe/",
                "recordfs mv \(root) ~/RecordFS/local/Own/Note/", "recordfs mv \(root) ../Other/",
                "mkdir ../Other; mv \(root).json ../Other/",
            ]
        }

        /// Of directories in which only some may be written: none is copied and then left.
        private var movesOfDirectories: [String] {
            ["private/Own/", "private/Own/Other", "private/Kitchen2", "local/Own/"].flatMap {
                target in
                ["mv ../Recipe ~/RecordFS/\(target)", "mv ../../Kitchen ~/RecordFS/\(target)"]
            } + ["mv ../Recipe ../Recipe2"]
        }

        private func expectNothingMoved(_ root: String) throws {
            let all = "ls -A \(shared) RecordFS/private/Own/* RecordFS/local/Own/*"
            try bob.ok("mkdir -p RecordFS/private/Own/{Note,Recipe} RecordFS/local/Own/Note")
            let before = try bob.ok(all)
            for move in moves(root) + movesOfDirectories {
                let result = try bob.shell("cd \(shared) && { \(move); }")
                #expect(result.status != 0, "\(move)")
                let words = ["Permission denied", "You may read"]
                #expect(words.contains { result.errors.contains($0) }, "\(move): \(result)")
                #expect(try bob.ok(all) == before, "\(move)")
            }
            #expect(try bob.ok("ls -d RecordFS/private/*") == "RecordFS/private/Own")
            try bob.ok("rmdir \(shared)/../Other")
        }

        private func expectRefusals(_ root: String) throws {
            try expectNothingMoved(root)
            for edit in edits(root) {
                let result = try bob.shell("cd \(shared) && { \(edit); }")
                #expect(result.status != 0, "\(edit)")
                // Extended attributes are off, for reasons of speed.
                let words = ["Permission denied", "Operation not supported"]
                #expect(words.contains { result.errors.contains($0) }, "\(edit): \(result)")
            }
            let refused = try bob.shell("cd \(shared) && test -w \(root).json")
            #expect(refused.status == 1)
            for what in ["edit", "delete"] {
                let asked = try bob.shell("recordfs can \(what) \(shared)/\(root)-step")
                #expect(asked.status == 1 && asked.output.hasPrefix("no: "), "\(asked)")
            }
            #expect(
                try bob.ok(
                    "recordfs status --json | jq '[.zones[].pending] | add'; rm -f \(shared)/.[no]*"
                ) == "0")
        }

        private func may(_ permission: String, _ root: String) throws {
            for name in ["\(root).json", "\(root)-step.json"] {
                #expect(
                    try bob.ok(
                        "jq -r .permission RecordFS/.recordfs/meta/\(shared.dropFirst(9))/\(name)")
                        == permission)
            }
        }

        @Test("modes say what may be done with each; the rest is refused at once, also offline")
        func modes() async throws {
            #expect(try bob.eventually(showModes, modes("444", "644")))
            try may("READ_ONLY", "soup")
            try may("READ_WRITE", "tea")
            #expect(
                try bob.ok("recordfs shares | sed 's/.*Recipe.//'")
                    == """
                    soup.json: "soup", of admin@localhost, read only
                    tea.json: "tea", of admin@localhost, read and write
                    """)
            #expect(
                try bob.ok("recordfs can create \(shared)/new; stat -c %a \(shared)/..")
                    == "yes\n755")
            try expectRefusals("soup")
            try await account.stopServer()
            try bob.ok("recordfs unmount; recordfs mount")
            #expect(try bob.ok(showModes) == modes("444", "644"))
            try expectRefusals("soup")
            try may("READ_ONLY", "soup")
            try await account.startServer()
            #expect(try bob.ok(showModes) == modes("444", "644"))
            try end()
        }

        @Test("what may be written is, and gets to the owner")
        func writes() async throws {
            #expect(try bob.eventually(showModes, modes("444", "644")))
            try bob.ok(
                """
                cd \(shared)
                test -w tea.json; recordfs can edit tea.json
                echo '{"n": 2}' > tea.json
                sed -i 's/"n": 1/"n": 3/' tea-step.json
                echo x > tea-step@photo.txt
                echo '{"n": 4, "$parent": "tea-step"}' > tea-new.json
                mv tea-new.json tea-other.json
                recordfs sync
                """)
            try alice.ok("recordfs sync")
            #expect(
                try alice.ok(
                    """
                    cd \(recipes)
                    jq .n tea.json tea-step.json tea-other.json; cat tea-step@photo.txt
                    """) == "2\n3\n4\nx")
            try bob.ok("rm \(shared)/tea-other.json; recordfs sync")
            #expect(try alice.eventually("ls \(recipes) | grep -c other", "0"))
            try end()
        }

        @Test("modes change within a moment when the owner permits more or less")
        func permits() async throws {
            #expect(try bob.eventually(showModes, modes("444", "644")))
            let permit = "recordfs share permit private/Kitchen/Recipe"
            try alice.ok("\(permit)/soup bob@localhost read-write")
            #expect(try bob.eventually(showModes, modes("644", "644")))
            try alice.ok("\(permit)/tea bob@localhost read-only")
            #expect(try bob.eventually(showModes, modes("644", "444")))
            try expectRefusals("tea")
            try bob.ok("echo '{\"n\": 7}' > \(shared)/soup.json; recordfs sync")
            #expect(try alice.eventually("jq .n \(recipes)/soup.json", "7"))
            // A third one, while the zone stays one of both.
            try alice.ok("echo '{\"n\": 1}' > \(recipes)/jam.json; recordfs sync")
            try alice.ok("recordfs share create \(recipes)/jam.json --with bob@localhost > jam")
            try bob.ok("recordfs accept \"$(cat \(alice.folder)/jam)\"")
            let jam = "stat -c %a \(shared)/jam.json \(shared)/tea.json \(shared)/soup.json"
            #expect(try bob.eventually(jam, "444\n444\n644"))
            try alice.ok("\(permit)/jam bob@localhost read-write")
            #expect(try bob.eventually(jam, "644\n444\n644"))
            // What moves from one to the other goes with all that hangs on it.
            try alice.ok(
                """
                cd \(recipes)
                echo '{"n": 9, "$parent": "tea"}' > deep.json
                echo '{"n": 9, "$parent": "deep"}' > deeper.json
                """)
            #expect(try bob.eventually("stat -c %a \(shared)/deep*.json", "444\n444"))
            try alice.ok("echo '{\"n\": 9, \"$parent\": \"jam\"}' > \(recipes)/deep.json")
            #expect(try bob.eventually("stat -c %a \(shared)/deep*.json", "644\n644"))
            try end()
        }
    }
}
