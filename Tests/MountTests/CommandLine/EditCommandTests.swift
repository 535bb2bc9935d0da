import Testing

extension MountTests {
    /// `recordfs set`, `edit` and `check`, beside a mount.
    @Suite struct EditCommandTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(3)
        }

        private func shell(_ script: String) throws -> ChildResult {
            try home.inKitchen(script)
        }

        // MARK: set

        @Test("set changes the members of many records in one step, and keeps the other bytes")
        func set() throws {
            let result = try shell(
                """
                printf '{ "n" : 7,   "t":"x" }\\n' > Recipe/r1.json
                recordfs set Recipe/*.json t='Leek = soup' more.a.b:=2 tags:='["a"]'
                cat Recipe/r1.json; jq -c . Recipe/r2.json
                recordfs set private/Kitchen/Recipe/r2 n:=null more.a:=null -v
                jq -c . Recipe/r2.json
                """)
            #expect(
                result.output == """
                    { "n" : 7,   "t":"Leek = soup",   "more":{"a":{"b":2}},   "tags":["a"] }
                    {"n":2,"t":"Leek = soup","more":{"a":{"b":2}},"tags":["a"]}
                    Recipe/r2.json: updated (more, n)
                    {"t":"Leek = soup","more":{},"tags":["a"]}

                    """, "\(result)")
            #expect(result.errors == "")
        }

        @Test("set changes all records or none, and says which one stood in the way")
        func all() throws {
            let result = try shell(
                """
                recordfs set Recipe/*.json t=x --if n:=2; echo $?
                recordfs set Recipe/r2.json t=x --if n:=2 -n
                recordfs set Recipe/r2.json Recipe/gone.json t=x; echo $?
                recordfs set Recipe/r1.json n=many; echo $?
                echo '{' > Recipe/r3.json; recordfs set Recipe/*.json t=x; echo $?
                recordfs draft discard Recipe/r3.json; cat Recipe/*.json
                """)
            #expect(
                result.output == """
                    1
                    Recipe/r2.json: updated (t)
                    3
                    1
                    1
                    {"n": 1}
                    {"n": 2}
                    {"n": 3}

                    """, "\(result)")
            let errors = result.errors.split(separator: "\n").filter { $0.hasPrefix("recordfs:") }
            #expect(errors.count == 4, "\(result)")
            #expect(errors[0].contains("Recipe/r1.json: \"n\" has another value"))
            #expect(errors[1].contains("Recipe/gone.json: there is no such record"))
            #expect(errors[2].contains("\"n\""))
            #expect(errors[3].contains("Recipe/r3.json: its file has a text that was refused"))
        }

        @Test("set takes a merge patch from a file, and refuses what is neither path nor member")
        func patch() throws {
            let result = try shell(
                """
                echo '{"n": null, "t": {"a": 1}}' | recordfs set Recipe/r1.json --patch -
                cat Recipe/r1.json
                recordfs set Recipe/r1.json --patch - u=1 < /dev/null; echo $?
                recordfs set Recipe/r1.json; echo $?
                recordfs set n:=1; echo $?
                recordfs set Recipe/r1.json n:=zwei; echo $?
                recordfs set Recipe/r1.json n:=1 n:=2; echo $?
                """)
            #expect(result.output == "{ \"t\": {\"a\": 1}}\n2\n2\n2\n2\n2\n", "\(result)")
        }

        // MARK: edit

        @Test("edit saves what the editor leaves, and nothing when it leaves the text as it was")
        func edit() throws {
            let result = try shell(
                """
                export TMPDIR=$HOME/texts; mkdir $TMPDIR
                EDITOR="sed -i s/1/11/" recordfs edit Recipe/r1.json
                EDITOR=true recordfs edit Recipe/r2.json
                EDITOR=false recordfs edit Recipe/r3.json; echo $?
                EDITOR="sed -i s/3/33/" recordfs edit private/Kitchen/Recipe/r3 Menu/m3.json
                cat Recipe/*.json Menu/m3.json; ls $TMPDIR | wc -l
                """)
            #expect(
                result.output
                    == "1\n{\"n\": 11}\n{\"n\": 2}\n{\"n\": 33}\n{\"n\": 33}\n0\n", "\(result)")
            #expect(result.errors.contains("Recipe/r2.json: not changed"))
        }

        @Test("edit opens again at the line of an error, and keeps a text that is not saved")
        func refused() throws {
            let result = try shell(
                """
                export TMPDIR=$HOME/texts; mkdir $TMPDIR; cat > $HOME/vim <<'END'
                #!/bin/bash
                for file; do :; done
                echo "$*" | sed "s=$file=FILE=" >> $HOME/calls
                case $(wc -l < $HOME/calls) in
                1) printf '{\\n  "n": 1,\\n  "t": tea\\n}\\n' > "$file" ;;
                2) sed -i 's/tea/"tea"/' "$file" ;;
                3) echo '{"n": x}' > "$file" ;;
                esac
                END
                chmod +x $HOME/vim; export EDITOR=$HOME/vim
                recordfs edit Recipe/r1.json; echo $?; cat Recipe/r1.json; ls $TMPDIR
                recordfs edit Recipe/r2.json; echo $?; cat Recipe/r2.json
                cat $TMPDIR/*/r2.json; cat $HOME/calls
                """)
            #expect(
                result.output == """
                    0
                    {
                      "n": 1,
                      "t": "tea"
                    }
                    1
                    {"n": 2}
                    {"n": x}
                    FILE
                    +3 FILE
                    FILE
                    +1 FILE

                    """, "\(result)")
            #expect(result.errors.contains("r1.json:3:8: error: "), "\(result)")
            #expect(result.errors.contains("\n  \"t\": tea\n       ^\n"), "\(result)")
            #expect(result.errors.contains("Recipe/r2.json: not saved. Your text is in "))
        }

        @Test("edit keeps what others have changed meanwhile, and asks where both changed a member")
        func meanwhile() throws {
            let result = try shell(
                """
                echo '{"a": 1, "b": 1}' > Recipe/r1.json
                cat > $HOME/one <<'END'
                #!/bin/bash
                sed -i 's/"a": 1/"a":2/' $1; recordfs set private/Kitchen/Recipe/r1 b:=5
                END
                chmod +x $HOME/one; EDITOR=$HOME/one recordfs edit Recipe/r1.json
                cat Recipe/r1.json
                cat > $HOME/both <<'END'
                #!/bin/bash
                if [ -e $HOME/once ]; then echo '{"a": 8, "b": 5}' > $1; exit; fi
                touch $HOME/once; echo '{"a": 7, "b": 5}' > $1
                recordfs set private/Kitchen/Recipe/r1 a:=6
                END
                chmod +x $HOME/both; EDITOR=$HOME/both recordfs edit Recipe/r1.json; echo $?
                cat Recipe/r1.json
                """)
            #expect(
                result.output == "{\"a\":2, \"b\": 5}\n0\n{\"a\": 8, \"b\": 5}\n", "\(result)")
            #expect(
                result.errors.contains(
                    "somebody has changed \"a\" meanwhile. It is now:\n{\"a\":6"),
                "\(result)")
        }

        // MARK: check

        @Test("check prints the places of errors as compilers do, and saves nothing")
        func check() throws {
            let result = try shell(
                """
                recordfs check Recipe/*.json; echo $?
                printf '{\\n\\t"n": zwei\\n}\\n' > Recipe/r1.json; recordfs check Recipe/r[12].json; echo $?
                echo '{"servings": 4}' > Recipe/r2.json
                echo '{"servigns": 4}' | recordfs check --type Recipe -; echo $?
                echo '{"n": "two"}' > $HOME/plain; recordfs check --type private/Kitchen/Recipe $HOME/plain
                echo $?; recordfs check private/Kitchen/Recipe/gone; echo $?; ls Recipe
                """)
            #expect(
                result.output
                    == """
                    0
                    Recipe/r1.json:2:7: error: found zwei: expected a value; text must be in double quotes
                    \t"n": zwei
                    \t     ^
                    1
                    -:1:2: warning: "servigns" is new to the record type; did you mean "servings"?
                    {"servigns": 4}
                     ^
                    0
                    HOME/plain:1:7: error: field "n" is INT64 in the schema, and this is a string; write a whole number, or change the type in .recordfs/schema/development.ckdb
                    {"n": "two"}
                          ^
                    1
                    3
                    r1.json
                    r2.json
                    r3.json

                    """.replacing("HOME", with: home.folder), "\(result)")
        }
    }
}
