import Glibc
import TestSupport
import Testing

extension MountTests {
    /// The names that commands use in what they print with `--json`.
    @Suite struct JSONOutputTests {
        private static let repository: String = {
            let parts = #filePath.split(separator: "/")
            return "/" + parts.dropLast(4).joined(separator: "/")
        }()
        /// `scripts/test` makes it, with jsonschema in it.
        private static let python = repository + "/.build/clients/bin/python"

        private let home: CommandLineHome

        init() throws {
            try #require(
                access(Self.python, X_OK) == 0, "\(Self.python) is missing: scripts/test makes it")
            home = try CommandLineHome.kitchen(
                3,
                """
                echo bytes > Recipe/r1@photo.png
                echo '{"n": }' > Recipe/bad.json 2>/dev/null
                echo scratch > Recipe/tea.jsn
                recordfs moment create first > /dev/null
                sed -i 's/1/7/' Recipe/r1.json
                recordfs events --reader reader > /dev/null
                rm Recipe/r2.json
                recordfs rm Recipe/r3.json
                """)
        }

        /// Every command that prints JSON objects about this store, each with at least one.
        private static let commands = [
            "status --json", "doctor --json", "ls --json Recipe", "log --json", "show --json",
            "diff --json first", "blame --json Recipe/r1.json", "history --json Recipe/r1.json",
            "moment list --json", "undo -n --json", "events --json", "readers list --json",
            "draft list --json", "scratch --json", "gc -n --json",
            "restore -r -n --json --since first Recipe",
        ]

        @Test("a name means the same in what every command prints", arguments: commands)
        func vocabulary(command: String) throws {
            let checked = try home.inKitchen(
                """
                recordfs \(command) > ~/output; status=$?
                [ $status -le 1 ] || { echo "status $status"; exit 2; }
                \(Self.python) \(Self.repository)/Tests/Clients/check_output.py '\(command)' < ~/output
                """)
            #expect(checked.status == 0, "\(checked)")
        }

        @Test("a wrong name, a local time and a token in a text are found")
        func planted() throws {
            for line in [
                #"{"at": "2026-11-30T10:00:00.000Z"}"#, #"{"time": "2026-11-30 10:00"}"#,
                #"{"records": [{"token": "5"}]}"#, #"{"Path": "x"}"#, #"{"database": "Private"}"#,
            ] {
                let checked = try home.shell(
                    """
                    echo '\(line)' | \(Self.python) \
                        \(Self.repository)/Tests/Clients/check_output.py planted
                    """)
                #expect(checked.status == 1, "\(line): \(checked)")
            }
        }
    }
}
