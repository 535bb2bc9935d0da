import Glibc
import Testing

extension MountTests {
    /// What people are told who do not look.
    @Suite struct ToldTests {
        private let home: CommandLineHome

        init() throws { home = try CommandLineHome() }

        private static let setUp = """
            recordfs mount > /dev/null; mkdir -p RecordFS/private/Kitchen/Recipe
            cd RecordFS/private/Kitchen/Recipe
            """

        private static let steps = """
            echo '{"n": 1}' > good.json
            echo bad > soup.json
            echo again
            { echo '{'; cat good.json > /dev/null; echo '"n": 1}'; } > built.json
            echo worse > soup.json; echo '{"n": 2}' > soup.json
            echo quiet
            echo bad > tea.json
            exit
            """

        @Test(
            "each shell names a refused save once, before its next prompt, and no good one",
            arguments: ["bash", "zsh", "fish"])
        func hook(shell: String) throws {
            let setUp = Self.setUp
            let start: String =
                switch shell {
                case "bash": #"eval "$(recordfs hook bash)""#
                case "zsh": #"eval "$(recordfs hook zsh)""#
                default: "recordfs hook fish | source"
                }
            let steps =
                shell == "fish"
                ? Self.steps.replacing("{ echo '{'; cat", with: "begin; echo '{'; cat")
                    .replacing("1}'; } >", with: "1}'; end >")
                : Self.steps
            _ = try home.file("steps", start + "\n" + steps)
            let options = ["bash": "--norc -i", "zsh": "-f -i", "fish": "--no-config -i"]
            let run =
                shell == "fish"
                // fish reads commands from a terminal alone, and has no prompt without one.
                ? #"sed 's/.*/&; emit fish_prompt/' ~/steps | fish --no-config 2> ~/said"#
                : "\(shell) \(options[shell] ?? "") < ~/steps 2> ~/said > /dev/null"
            let result = try home.shell(
                """
                \(setUp)
                \(run)
                cd; grep -ao 'recordfs: not saved: .*' said; recordfs unmount
                """)
            let lines = result.output.split(separator: "\n").filter { $0.hasPrefix("recordfs:") }
            let folder = "\(home.folder)/RecordFS/private/Kitchen/Recipe"
            #expect(lines.count == 2, "\(result)")
            #expect(
                lines.first?.hasPrefix("recordfs: not saved: \(folder)/soup.json: ") == true,
                "\(result)")
            #expect(lines.last?.contains("/tea.json: ") == true, "\(result)")
        }

        @Test("errors lists what was refused, a mount names it, and --follow prints what comes")
        func errors() throws {
            let result = try home.shell(
                """
                \(Self.setUp)
                timeout 60 recordfs errors --follow > ~/followed & follower=$!
                for i in {1..3000}; do echo bad > soup.json; grep -q "^$HOME/" ~/followed && break; done
                kill $follower; cat ~/followed
                cd; recordfs errors
                recordfs unmount; recordfs mount; recordfs unmount
                """)
            #expect(
                result.output.contains("private/Kitchen/Recipe/soup.json: not saved: "), "\(result)"
            )
            #expect(
                result.output.contains(
                    "\(home.folder)/RecordFS/private/Kitchen/Recipe/soup.json: "),
                "\(result)")
            #expect(
                result.errors.contains("1 record could not be saved or sent: recordfs errors"),
                "\(result)")
        }

        @Test("a notice goes to the desktop only where there is a session")
        func desktop() throws {
            let result = try home.shell(
                """
                mkdir bin; printf '#!/bin/sh\nprintf "%%s\\n" "$@" >> ~/noticed\n' > bin/notify-send
                chmod +x bin/notify-send; export PATH="$HOME/bin:$PATH"
                unset DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
                \(Self.setUp)
                echo bad > soup.json
                cd; recordfs unmount; ls noticed
                export DISPLAY=:0 DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere
                recordfs mount > /dev/null; cd RecordFS/private/Kitchen/Recipe
                echo worse > tea.json
                for i in {1..3000}; do cat tea.json > /dev/null; [ -s ~/noticed ] && break; done
                cd; recordfs unmount; cat noticed
                """)
            #expect(result.output.contains("Not saved: tea.json"), "\(result)")
            #expect(!result.output.contains("soup.json"), "\(result)")
        }

        @Test("query limits, counts and sorts, and says what it does not know")
        func query() throws {
            let rows = (0..<20).map { "{\"id\": \"r\($0)\", \"n\": \($0)}" }
            _ = try home.file("rows.ndjson", rows.joined(separator: "\n"))
            let result = try home.shell(
                """
                recordfs import -q rows.ndjson local/A/Row
                recordfs query --count local/A/Row 'n=3|5|7'
                recordfs query --limit 2 --sort -n local/A/Row
                recordfs query --count local/A/Row 'modified>1h'
                recordfs query local/A/Row 'n=3|m=4'
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "3", "local/A/Row/r19.json", "local/A/Row/r18.json", "20",
                ], "\(result)")
            #expect(result.errors.contains("no field \"m\""), "\(result)")
        }

        @Test("small answers say what is so")
        func small() throws {
            let result = try home.shell(
                """
                echo '{"n": 1}' | recordfs put private/A/Row/a
                echo '{"n": 2}' | recordfs put private/A/Row/b
                recordfs rm private/A/Row/b
                recordfs status
                recordfs restore --since 1h private/A/Nope; echo $?
                recordfs restore --since 1h private/A/Row/nope; echo $?
                recordfs restore --since 1h private/A/Row/a; echo $?
                recordfs events --kind deleted
                recordfs events --last 1 --kind created
                recordfs events --kind nonsense
                recordfs daemon-log --level debug
                recordfs gc -n
                recordfs gc
                mkdir empty; recordfs import empty private/A/Row; echo $?
                recordfs login 'https://records.example.org/join#container=x'; echo $?
                recordfs login --ca-file rows https://127.0.0.1:1 --api-token x; echo $?
                """)
            let lines = result.output.split(separator: "\n").map(String.init)
            let zone = lines.first { $0.hasPrefix("private/A ") }
            #expect(zone?.contains(" - ") == true, "\(result)")
            #expect(
                lines.filter { Int($0) != nil }.map { Int($0) ?? 0 > 0 }
                    == [true, true, false, true, true, true], "\(result)")
            #expect(lines.filter { $0.contains("  deleted ") }.count == 1, "\(result)")
            #expect(lines.contains("Would remove 0 deleted records and 0 versions."), "\(result)")
            for text in [
                "never was a record type", "never was such a record", "made since stay",
                "--kind is one of", "RECORDFS_LOG=debug", "no .json file", "the link has no token",
            ] {
                #expect(result.errors.contains(text), "\(text): \(result)")
            }
        }

        @Test("a restore of some seconds ago says that it leaves what was made since")
        func seconds() throws {
            let result = try home.shell(
                """
                printf '{"n": 1}\n{"n": 2}\n' | recordfs import --format ndjson - private/A/Row
                recordfs mount > /dev/null; cd RecordFS/private/A/Row
                sed -i 's/n/m/' *.json
                recordfs restore --since 30s .; cat *.json; cd; recordfs unmount
                """)
            #expect(result.errors.contains("2 made since stay"), "\(result)")
            #expect(result.output.contains("\"m\""), "\(result)")
        }

        @Test("a mount's tree comes back by an archive of everything, large fields included")
        func trees() throws {
            let result = try home.shell(
                """
                recordfs mount > /dev/null; cd RecordFS
                mkdir -p private/Kitchen/Recipe private/Empty/Type local/Here/Thing
                printf '{ "title" : "Soup" }' > private/Kitchen/Recipe/soup.json
                head -c 300000 /dev/urandom > private/Kitchen/Recipe/soup@photo.jpg
                echo '{"when": {"$timestamp": "2026-11-20T10:00:00Z"}}' > local/Here/Thing/t.json
                cd; recordfs export --all all.tar; recordfs export --all - private/Kitchen | tar t
                recordfs mount --state other there > /dev/null
                recordfs import --state other --all all.tar
                diff -r RecordFS/private there/private && diff -r RecordFS/local there/local && echo same
                recordfs unmount there; recordfs unmount
                """)
            let lines = result.output.split(separator: "\n")
            #expect(lines.contains("same"), "\(result)")
            #expect(lines.contains("private/Kitchen/Recipe/soup@photo.jpg"), "\(result)")
        }
    }
}
