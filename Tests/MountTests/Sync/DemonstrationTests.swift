import Testing

extension MountTests {
    /// `scripts/demo-sync`, which is the second half of `scripts/quickstart`, and with `--two-users` the third.
    @Suite struct DemonstrationTests {
        @Test(
            "the demonstration shows a save that travels, and a share, goes on after its server, and ends whole"
        )
        func demonstration() throws {
            let home = try CommandLineHome()
            let script = DataSet.repository + "/scripts/demo-sync"
            let programs = try Executable.recordfs().split(separator: "/").dropLast()
            let begin = "\(script) --programs /\(programs.joined(separator: "/")) --two-users Demo"
            defer { _ = try? home.shell("\(script) --end Demo") }
            try home.ok("\(begin) && kill $(cat Demo/.server.pid)")
            let note = "private/Kitchen/Recipe/soup.json"
            try home.ok(#"echo '{"title": "Stew"}' > Demo/desktop/\#(note)"#)
            try home.ok(begin)
            #expect(try home.shell("jq .servings Demo/laptop/\(note)").output == "6\n")
            #expect(
                try home.ok("cat Demo/guest/shared/admin@localhost/Kitchen/Recipe/soup.json")
                    == home.ok("cat Demo/laptop/\(note)"))
            let stores = try home.shell("ls -A ~/.local/share/recordfs 2> /dev/null")
            #expect(stores.output == "", "a store of the user has part in it")
            try home.ok("\(script) --end Demo")
            let left = try home.shell("ls -A; pgrep -af $HOME/[D]emo")
            #expect(left.output == "", "\(left)")
        }

        @Test("the demonstration does not begin in a directory of somebody's, and removes none")
        func othersDirectory() throws {
            let home = try CommandLineHome()
            try home.ok("mkdir Demo && touch Demo/letter")
            let script = DataSet.repository + "/scripts/demo-sync"
            let begun = try home.shell("\(script) --programs /usr/bin Demo")
            #expect(begun.status == 1 && begun.errors.contains("something else"), "\(begun)")
            let ended = try home.shell("\(script) --end Demo")
            #expect(ended.status == 1 && ended.errors.contains("no demonstration"), "\(ended)")
            #expect(try home.shell("ls -A Demo").output == "letter\n")
        }
    }
}
