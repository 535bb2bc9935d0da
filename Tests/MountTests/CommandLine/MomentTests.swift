import Testing

extension MountTests {
    /// `recordfs moment`, and the directories of moments below `.recordfs/at`.
    @Suite struct MomentTests {
        private let home: CommandLineHome

        init() throws {
            home = try CommandLineHome.kitchen(
                12,
                """
                echo bytes > Recipe/r1@photo.png; head -c 90000 /dev/zero | tr '\\0' x > Recipe/r2@note
                """)
        }

        private func inZone(_ script: String) throws -> ChildResult {
            try home.inKitchen("set -e\n" + script)
        }

        private static let steps = [
            "true",
            "sed -i 's/\"n\"/\"m\": 1, \"n\"/' Recipe/*.json",
            "rm -rf Menu",
            "mv Recipe/r2.json Recipe/soup.json",
            // It ends with 1: large fields come with their records (MountContract).
            "cp -r Recipe Copies 2>/dev/null || cmp Recipe/r1@photo.png Copies/r1@photo.png",
            "echo others > Recipe/r1@photo.png",
            "recordfs import -q ~/rows.ndjson Recipe",
            "rm Recipe/r1@photo.png",
            "recordfs restore --at s1 --exact .",
            "recordfs rm -r Recipe",
        ]

        @Test("programs see below .recordfs/at what there was at each of ten moments")
        func walk() throws {
            _ = try home.file("rows.ndjson", #"{"$name": "row", "n": 1}"# + "\n")
            for (number, step) in Self.steps.enumerated() {
                let result = try inZone(
                    """
                    \(step)
                    recordfs moment create s\(number)
                    mkdir -p ~/states/\(number); cp -r . ~/states/\(number)/Kitchen
                    cd ~/states/\(number); find . -name .error -delete; find . -type d -empty -delete
                    """)
                try #require(result.status == 0, "\(step): \(result)")
            }
            for number in Self.steps.indices {
                let result = try home.shell(
                    """
                    set -ex
                    mkdir -p states/\(number)
                    at=RecordFS/.recordfs/at/s\(number)/private
                    diff -r states/\(number) $at
                    diff -r states/\(number) $at
                    git diff --no-index --exit-code states/\(number) $at
                    mkdir copies; cp -r $at copies/cp; diff -r states/\(number) copies/cp
                    tar cf - -C $at . | tar xf - -C copies/cp; diff -r states/\(number) copies/cp
                    rsync -a $at/ copies/rsync; diff -r states/\(number) copies/rsync
                    (cd $at; { grep -rc . . || true; } | sort) > copies/a
                    (cd states/\(number); { grep -rc . . || true; } | sort) > copies/b; diff copies/a copies/b
                    chmod -R u+w copies; rm -r copies
                    """)
                #expect(result.status == 0, "step \(number): \(result)")
            }
            let restored = try home.shell("diff -r states/1 states/8")
            #expect(restored.status == 0, "\(restored)")
            let list = try home.shell(
                "ls RecordFS/.recordfs/at; recordfs moment list --json | jq -r .name")
            #expect(
                list.output.split(separator: "\n").map { String($0) }
                    == Self.steps.indices.map { "s\($0)" } + Self.steps.indices.map { "s\($0)" })
        }

        @Test("nothing below it can be changed, and a name without a moment is no file")
        func readOnly() throws {
            let result = try home.shell(
                """
                cd RecordFS/.recordfs/at/now/private/Kitchen/Recipe
                cat r3.json; cat r1@photo.png; wc -c < r2@note
                for c in 'rm r3.json' 'mv r3.json r4.json' 'touch new.json' 'mkdir d' 'ln r3.json x' \\
                    'chmod 600 r3.json' 'truncate -s 0 r3.json' 'rm -r ../Menu'; do
                    $c 2>/dev/null && echo "done: $c"
                done
                cd ~/RecordFS/.recordfs
                for when in 10x '' never 9999-99-99 @x 'a b'; do
                    ls -d "at/$when/private" 2>/dev/null
                done
                ls | grep -x at
                ls at/@0/private; ls at/1w/private; ls at/10y
                cat ~/RecordFS/private/Kitchen/Recipe/r3.json
                """)
            #expect(
                result.output
                    == "{\"n\": 3}\nbytes\n90000\n{\"n\": 3}\n",
                "\(result)")
        }

        @Test("a moment with a name is one for diff, restore and log")
        func commands() throws {
            let result = try inZone(
                """
                recordfs moment create before; rm Recipe/r3.json; echo '{"n": 0}' > Recipe/r4.json
                recordfs diff --stat before || true
                recordfs moment create before 2>&1 || true
                recordfs restore -n --since before . 2>&1 | tail -1
                recordfs restore --since before . 2>/dev/null
                recordfs diff before && echo equal
                recordfs moment delete before; recordfs moment delete before 2>&1 || true
                recordfs diff before 2>&1 || true
                """)
            #expect(result.output.contains("removed  Recipe/r3.json"), "\(result)")
            #expect(result.output.contains("there is a moment before"), "\(result)")
            #expect(result.output.contains("1 would come back, 1 would be changed"), "\(result)")
            #expect(result.output.contains("\nequal\n"), "\(result)")
            #expect(result.output.contains("there is no moment before"), "\(result)")
        }
    }
}
