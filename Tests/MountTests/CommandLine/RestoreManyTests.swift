import Glibc
import RecordModel
import Testing

extension MountTests {
    /// `recordfs restore` of many records, beside a mount.
    @Suite struct RestoreManyTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(3)
        }

        /// In the zone's directory.
        private func inZone(_ script: String) throws -> ChildResult {
            try home.inKitchen(script)
        }

        private var token: Int64 {
            get throws {
                let result = try home.shell(
                    "recordfs debug apply-remote <(echo '{\"path\": \"local/T/T/t\", \"record\": {}}') "
                        + "> /dev/null; recordfs history --json local/T/T/t | tail -n 1 | jq .token"
                )
                return try #require(Int64(result.output.filter(\.isNumber)), "\(result)")
            }
        }

        @Test(
            "restore -r brings back what was deleted below a path, and the mount shows it at once")
        func recursive() throws {
            let result = try inZone(
                """
                rm Recipe/r1.json; rm -r Menu; echo '{"n": 9}' > Recipe/r2.json
                recordfs restore -r .
                cat Recipe/*.json Menu/*.json
                recordfs restore -r Recipe
                """)
            #expect(
                result.output.split(separator: "\n") == [1, 9, 3, 1, 2, 3].map { "{\"n\": \($0)}" })
            #expect(
                result.errors
                    == ".: 4 brought back, 0 changed back\nRecipe: 0 brought back, 0 changed back\n",
                "\(result)")
        }

        @Test("a whole zone that was deleted comes back")
        func zone() throws {
            let result = try home.shell(
                """
                recordfs rm -r private/Kitchen; ls RecordFS/private
                recordfs restore -r private/Kitchen; ls RecordFS/private/Kitchen/*
                recordfs restore --list private/Kitchen
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "RecordFS/private/Kitchen/Menu:", "m1.json", "m2.json", "m3.json",
                    "RecordFS/private/Kitchen/Recipe:", "r1.json", "r2.json", "r3.json",
                ], "\(result)")
        }

        @Test(
            "restore --since changes back and brings back, after a preview, and can be taken back")
        func since() throws {
            let before = try token
            let result = try inZone(
                """
                sed -i 's/$/ /; s/[0-9]/7/' Recipe/*.json
                rm Recipe/r1.json Menu/m1.json; echo '{"n": 5}' > Recipe/new.json
                recordfs restore --since \(before) --dry-run . | awk 'NR > 1 { print $1, $2, $3, $NF }' | sort
                recordfs restore --since \(before) --dry-run --json Menu | jq -r .path
                cat Recipe/r2.json
                recordfs restore --since \(before) .
                cat Recipe/*.json Menu/*.json
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "bring back 0 Menu/m1.json", "bring back 1 Recipe/r1.json",
                    "change back 1 Recipe/r2.json", "change back 1 Recipe/r3.json",
                    "private/Kitchen/Menu/m1.json", "{\"n\": 7} ", "{\"n\": 5}",
                ] + [1, 2, 3, 1, 2, 3].map { "{\"n\": \($0)}" }, "\(result)")
            #expect(
                result.errors.hasSuffix(
                    ".: 2 brought back, 2 changed back, 1 made since stay\n"), "\(result)")
        }

        @Test("a refused text stays in its file over the restored record, as the preview says")
        func drafts() throws {
            let before = try token
            let result = try inZone(
                """
                echo '{"n": 7}' > Recipe/r1.json; echo '{"n": 8, work' > Recipe/r1.json
                recordfs restore --since \(before) --dry-run Recipe | tail -n 1 | cut -d ' ' -f 1-4
                recordfs restore --since \(before) Recipe
                cat Recipe/r1.json; recordfs get Recipe/r1.json
                """)
            #expect(
                result.output.split(separator: "\n") == [
                    "change back, draft stays", "{\"n\": 8, work", "{\"n\": 1}",
                ], "\(result)")
            #expect(
                result.errors.hasSuffix(
                    "Recipe: 0 brought back, 1 changed back, 1 draft kept (recordfs draft list)\n"),
                "\(result)")
        }

        @Test(
            "times are written in several ways",
            arguments: ["1h", "2020-01-01", "2020-01-01T10:00", "2020-01-01 10:00:00Z", "9999999w"])
        func times(time: String) throws {
            let result = try inZone("recordfs restore --dry-run --since '\(time)' .")
            // All was made since.
            #expect(result.status == 0 && result.output == "", "\(result)")
            #expect(result.errors.contains("6 made since stay"), "\(result)")
        }

        @Test("a time that is none, and ways that do not go together, are wrong usage")
        func usage() throws {
            for arguments in [
                ["--since", "soon", "."], ["--since", "-5", "."], ["--dry-run", "."],
                ["-r", "--token", "1", "."], ["-r", "--list", "."], ["."], ["--list", "private"],
            ] {
                let words = arguments.joined(separator: " ")
                #expect(try inZone("recordfs restore \(words)").status == 2, "\(words)")
            }
        }
    }
}
