import Testing

extension MountTests {
    /// `recordfs log`, `show`, `diff` and `blame`, of what real programs have done on a mount.
    @Suite struct LogTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome()
            let result = try home.shell(
                """
                recordfs mount > /dev/null
                mkdir -p RecordFS/private/Kitchen/Recipe; cd RecordFS/private/Kitchen/Recipe
                echo '{"title": "Soup", "n": 1, "steps": "boil\\nstir\\neat\\n"}' > ~/soup.json
                setsid -w cp ~/soup.json .
                setsid -w sed -i 's/stir/stir well/; s/1/2/' soup.json
                setsid -w mv soup.json tea.json
                """)
            try #require(result.status == 0, "\(result)")
        }

        /// In the type's directory, without the tokens and times of this run.
        private func inType(_ script: String) throws -> String {
            let result = try home.shell("cd RecordFS/private/Kitchen/Recipe\n" + script)
            #expect(result.errors.isEmpty, "\(result)")
            return result.output.replacing(/@[0-9]+/, with: "@T")
                .replacing(/[0-9]{4}-[0-9-]+ [0-9:]{8}/, with: "TIME")
        }

        @Test("the log names programs and records, and follows a record through its renames")
        func log() throws {
            #expect(
                try inType("recordfs log .") == """
                    @T  TIME  mv   1 made, 1 removed in .
                    @T  TIME  sed  changed soup.json: n, steps
                    @T  TIME  cp   made soup.json

                    """)
            #expect(try inType("recordfs log tea.json").split(separator: "\n").count == 1)
            #expect(
                try inType("recordfs log --follow tea.json").split(separator: "\n").count == 3)
            #expect(
                try inType("recordfs log --json -n 1 | jq -c '[.program, .made, .removed]'")
                    == "[\"mv\",1,1]\n")
            #expect(
                try inType("recordfs log --stat -n 1") == """
                    @T  TIME  mv  1 made, 1 removed in .
                    removed  soup.json
                    made     tea.json

                    """)
        }

        @Test(
            "differences are shown by member, by line and as a JSON Patch, with the status of diff")
        func differences() throws {
            #expect(
                try inType(
                    """
                    token=$(recordfs log --json | jq -s '.[-1].token')
                    recordfs diff @$token @$((token + 1)); echo $?
                    recordfs diff @$token @$token; echo $?
                    recordfs diff --text @$token @$((token + 1)) private/Kitchen | tail -n 2
                    recordfs diff --json @$token @$((token + 1)) | jq -c .patch
                    recordfs diff --stat 1h | cat
                    """) == """
                        --- soup.json @T
                        +++ soup.json @T
                        -  "n": 1
                        +  "n": 2
                          "steps":
                            @@ -1,3 +1,3 @@
                             boil
                            -stir
                            +stir well
                             eat
                        1
                        0
                        -{"title": "Soup", "n": 1, "steps": "boil\\nstir\\neat\\n"}
                        +{"title": "Soup", "n": 2, "steps": "boil\\nstir well\\neat\\n"}
                        [{"op":"replace","path":"/n","value":2},{"op":"replace","path":"/steps","value":"boil\\nstir well\\neat\\n"}]
                        made     tea.json

                        """)
        }

        @Test("blame names the last change of each member, also one from elsewhere")
        func blame() throws {
            #expect(
                try inType(
                    """
                    RECORDFS_AUTHOR=Bob recordfs put soup.json < ~/soup.json
                    sed -i 's/Soup/Broth/' soup.json
                    recordfs blame soup.json | awk '{ print $4, $5 }'
                    """) == """
                        mount title:
                        Bob n:
                        Bob steps:

                        """)
        }
    }
}
