import Testing

extension MountTests {
    /// `recordfs undo` and `redo`, of what real programs have done on a mount.
    @Suite struct UndoCommandTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(
                12,
                """
                echo bytes > Recipe/r1@photo.png
                mkdir ~/states; cp -r . ~/states/0
                """)
        }

        private func inZone(_ script: String) throws -> ChildResult {
            try home.inKitchen(script)
        }

        /// Runs a line in the zone's directory, in a session of its own and with a process group for
        /// each command, as a shell on a terminal does.
        private func step(_ line: String) throws -> ChildResult {
            _ = try home.file("step", "set -m; cd ~/RecordFS/private/Kitchen\n" + line)
            return try home.shell("setsid -w bash ~/step")
        }

        /// What people do, each in one line.
        private static let steps = [
            "sed -i 's/\"n\"/\"m\": 1, \"n\"/' Recipe/*.json",
            "rm -rf Menu",
            "mv Recipe/r2.json Recipe/soup.json",
            "cp -r Recipe Copies",
            "ex -s -c '%s/n/k/' -c wq Recipe/r3.json",
            "echo others > Recipe/r1@photo.png",
            "for i in {4..9}; do jq '.n = 0' Recipe/r$i.json | sponge Recipe/r$i.json; done",
            "recordfs import -q ~/rows.ndjson Recipe",
            "recordfs rm -r Recipe",
            "tar cf - -C ~/states/0 Menu | tar xf -",
        ]

        @Test("an undo says when the last thing was refused, and so is another one")
        func refused() throws {
            _ = try step("sed -i 's/1/7/' Recipe/r1.json")
            let result = try inZone(
                """
                : > Recipe/r2.json 2> /dev/null
                recordfs undo -n 2>&1 | tail -n 1; recordfs undo; recordfs draft discard Recipe/r2.json
                cat Recipe/r1.json Recipe/r2.json; recordfs redo
                """)
            let note = """
                note: after that, a text for Recipe/r2.json was refused. It is a draft and no step: \
                recordfs draft discard Recipe/r2.json gives back what was saved.
                """
            #expect(result.output.hasPrefix(note + "\n"), "\(result)")
            #expect(result.errors.contains(note), "\(result)")
            #expect(result.output.contains("{\"n\": 1, "), "\(result)")
            #expect(result.output.contains("\n{\"n\": 2}\n"), "\(result)")
            #expect(result.errors.split(separator: "\n").count { $0 == note } == 1, "\(result)")
        }

        @Test("each step of ten goes back to exactly what was before it, and forward again")
        func steps() throws {
            _ = try home.file("rows.ndjson", #"{"$name": "row", "n": 1}"# + "\n")
            for (number, step) in Self.steps.enumerated() {
                let result = try self.step(step + "\ncp -r . ~/states/\(number + 1)")
                try #require(result.status == 0, "\(step): \(result)")
            }
            // Directories without records are in no history.
            let compare = "find . -type d -empty -delete; diff -r -x .error . "
            for number in Self.steps.indices.reversed() {
                let result = try inZone(
                    """
                    recordfs undo -n > ~/said; recordfs undo | diff ~/said -
                    mkdir -p ~/want; rm -rf ~/want; cp -r ~/states/\(number) ~/want
                    (cd ~/want && find . -type d -empty -delete)
                    \(compare) ~/want
                    """)
                #expect(result.status == 0, "undo of \(Self.steps[number]): \(result)")
            }
            for number in Self.steps.indices {
                let result = try inZone(
                    """
                    recordfs redo > /dev/null
                    rm -rf ~/want; cp -r ~/states/\(number + 1) ~/want
                    (cd ~/want && find . -type d -empty -delete)
                    \(compare) ~/want
                    """)
                #expect(result.status == 0, "redo of \(Self.steps[number]): \(result)")
            }
        }

        @Test("what is said names the program, the records and what stays")
        func words() throws {
            let result = try inZone(
                """
                setsid -w sed -i 's/}/, "m": 1}/' Recipe/r3.json Recipe/r4.json
                echo '{"n": 3, "m": 7}' > Recipe/r3.json
                token=$(recordfs history --json Recipe/r4.json | tail -n 1 | jq .token)
                recordfs undo @$token | sed 's/at [0-9: -]*:/at TIME:/'
                cat Recipe/r3.json Recipe/r4.json
                recordfs undo @$token; echo $?
                recordfs undo x 2>&1 | head -n 1; recordfs undo 0 > /dev/null 2>&1; echo $?
                """)
            #expect(
                result.output == """
                    Undid what sed did at TIME: 1 record changed.
                      changed back  Recipe/r4.json: m
                    1 record left as it is:
                      Recipe/r3.json: it was changed since
                    {"n": 3, "m": 7}
                    {"n": 4}
                    3
                    Error: The value 'x' is invalid for '<steps>'
                    2

                    """, "\(result)")
        }
    }
}
