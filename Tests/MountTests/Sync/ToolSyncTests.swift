import Foundation
import Glibc
import TestSupport
import Testing

extension MountTests {
    /// Every tool once more, on a machine that is signed in, while another one changes the record in the
    /// middle of its save.
    @Suite struct ToolSyncTests {
        /// Those that share two machines, which take a while to set up.
        enum Group: CaseIterable {
            case editors, commands, calls

            var tools: [ToolCase] {
                switch self {
                case .editors: ToolCase.editors
                case .commands: ToolCase.commands
                case .calls: ToolCase.calls
                }
            }
        }

        /// Tools that do not read the record: what they bring replaces it, as on any file system, with
        /// what has come before they open it. That stays in history.
        private static let replacing: Set<String> = [
            "rsync -a", "rsync -a --inplace", "rsync -a --delay-updates", "rsync -a --partial-dir",
            "git checkout", "tar x", "install", "cp", "cp -a", "mv from another file system",
            "dd conv=notrunc", "cat > (shell)", "tee", "printf > (builtin)", "python w", ">>",
            "temporary file, fsync, rename", "temporary file, renameat2 EXCHANGE",
            "{ head; tail; } >",
        ]

        @Test(
            "another machine's change in the middle of a tool's save stays beside the tool's edit",
            arguments: Group.allCases)
        func otherField(group: Group) async throws {
            let pair = try await Pair()
            for tool in group.tools {
                let calls = try pair.save(with: tool, holding: nil, theirs: Self.theirs).calls
                #expect(calls > 0, "\(tool.name) is never held")
                for number in Self.moments(calls) {
                    let save = try pair.save(with: tool, holding: number, theirs: Self.theirs)
                    guard save.wasHeld else { continue }
                    try check(save, tool, "\(tool.name), held at call \(number) of \(calls)")
                }
            }
            try pair.end()
        }

        private static let theirs = #""cuisine": "isan""#

        /// The last call, and one in the middle; with RECORDFS_LONG all of them.
        private static func moments(_ calls: Int) -> [Int] {
            if ProcessInfo.processInfo.environment["RECORDFS_LONG"] != nil {
                return Array(0..<calls)
            }
            return Set([calls / 2, calls - 1]).sorted()
        }

        private func check(_ save: Pair.Save, _ tool: ToolCase, _ name: Comment) throws {
            #expect(save.a == save.b, name)
            #expect(save.isEqual, name)
            let isThere = save.b.contains("isan")
            if save.isAsked {
                // Its user is told, and nothing of theirs is lost.
                #expect(isThere && !save.b.contains("6"), "\(name): \(save)")
                return
            }
            #expect(tool.historyRows == 0 || save.b.contains("\"servings\": 6"), "\(name): \(save)")
            if Self.replacing.contains(tool.name) {
                try #expect(isThere || save.history().contains("isan"), "\(name): \(save)")
            } else {
                #expect(isThere, "\(name): \(save)")
            }
        }

        @Test(
            "when both change one field in the middle of a save, a conflict shows base, mine and theirs",
            arguments: ToolCase.all.filter {
                ["sed -i", "jq > tmp && mv", "jq and sponge", "VS Code (its save sequence)", "ed"]
                    .contains($0.name)
            })
        func sameField(tool: ToolCase) async throws {
            let pair = try await Pair()
            let calls = try pair.save(with: tool, holding: nil, theirs: #""servings": 9"#).calls
            let save = try pair.save(with: tool, holding: calls - 1, theirs: #""servings": 9"#)
            #expect(save.wasHeld && save.a == save.b, "\(save)")
            let sides = try ["base", "mine", "theirs"].map { try pair.conflict($0) }
            for (text, servings) in zip(sides, ["4", "6", "9"]) {
                #expect(text.contains("\"servings\": \(servings)"), "\(sides) \(save)")
            }
            try pair.end()
        }

        @Test("who has a record open in vim is told of another machine's change; both edits stay")
        func vim() async throws {
            let pair = try await Pair()
            let place = try pair.place()
            let vim = try Terminal(
                ["vim", "-u", "DEFAULTS", "-i", "NONE", place.file], environment: place.environment,
                directory: place.folder)
            try vim.expect("cuisine")
            try vim.send(":%s/\(Edit.valid.find)/\(Edit.valid.replace)/\r")
            try pair.change(#""cuisine": "isan""#)
            try vim.send(":checktime\r")
            // W12, with a question: the text is kept, and written over what has come.
            try vim.expect("has changed and the buffer was changed in Vim as well")
            try vim.send("O")
            try vim.expect("All")
            try vim.send(":write!\r")
            try vim.expect("WARNING")
            try vim.send("y")
            try vim.expect("written")
            // And once more from the same text.
            try vim.send(":%s/Tom yum soup/Tom kha/\r:write!\r")
            try vim.expect("written")
            try vim.send(":qall!\r")
            _ = try vim.finish()
            let save = try pair.settled(place)
            #expect(save.a == save.b && save.isEqual, "\(save)")
            for part in ["\"servings\": 6", "isan", "Tom kha"] {
                #expect(save.b.contains(part), "\(part): \(save)")
            }
            #expect(try pair.b.shell("recordfs conflicts list").output == "")
            try pair.end()
        }

        @Test("when vim and another machine change one field, both are kept in a conflict")
        func vimSameField() async throws {
            let pair = try await Pair()
            let place = try pair.place()
            let vim = try Terminal(
                ["vim", "-u", "DEFAULTS", "-i", "NONE", place.file], environment: place.environment,
                directory: place.folder)
            try vim.expect("cuisine")
            try vim.send(":%s/\(Edit.valid.find)/\(Edit.valid.replace)/\r")
            try pair.change(#""servings": 9"#)
            try vim.send(":write\r")
            // W12: it asks before it writes.
            try vim.expect("WARNING")
            try vim.send("y")
            try vim.expect("written")
            try vim.send("\r:qall!\r")
            _ = try vim.finish()
            let save = try pair.settled(place)
            #expect(save.a == save.b && save.isEqual, "\(save)")
            for (side, servings) in [("base", "4"), ("mine", "6"), ("theirs", "9")] {
                #expect(try pair.conflict(side).contains("\"servings\": \(servings)"), "\(side)")
            }
            try pair.end()
        }
    }
}

/// Two machines of an account; tools save at `b`, and `a` changes the same record.
private final class Pair: Sendable {
    struct Save: CustomStringConvertible {
        var calls = 0
        var wasHeld = false
        /// Nil when its user was asked something.
        var result: ChildResult?
        /// Whether its user was told that the file had changed, and has not said what to do.
        var isAsked: Bool {
            guard let result, result.status == 0 else { return true }
            return result.message.contains("changed since reading it")
        }
        /// The record at both machines in the end.
        var (a, b) = ("", "")
        var isEqual = false
        /// The texts of its versions at `b`.
        var history: () throws -> String = { "" }

        var description: String {
            "\(result.map(String.init(describing:)) ?? "asked")\na: \(a)\nb: \(b)"
        }
    }

    let account: Account
    let a: CommandLineHome
    let b: CommandLineHome
    private let zones = Locked(0)
    private var type: String { "private/Kitchen\(zones.value)/Recipe" }

    init() async throws {
        account = try await Account()
        (a, b) = (try account.machine(), try account.machine())
    }

    /// A zone of its own with the record at both machines.
    func place() throws -> ToolPlace {
        zones.update { $0 += 1 }
        let outside = try TestRoot.makeDirectory("outside")
        let place = ToolPlace(folder: "\(b.folder)/RecordFS/\(type)", outside: outside)
        for folder in [place.folder, place.home, "\(outside)/source"] {
            try SystemCall.makeDirectories(folder)
        }
        try SystemCall.writeFile(place.file, Edit.old)
        try b.ok("recordfs sync")
        try #require(try a.eventually("recordfs get \(type)/soup", Edit.old))
        return place
    }

    /// `a` gives a field another value; returns when `b` has it.
    func change(_ member: String) throws {
        let name = member.prefix { $0 != ":" }
        let record = "\(type)/soup"
        // Not by `get` and `put`: what comes from `b` between the two would be set back.
        try a.ok("sed -i 's/\(name): [^,]*/\(member)/' RecordFS/\(record).json")
        try #require(try b.eventually("recordfs get \(record) | grep -c '\(member)'", "1"))
    }

    func save(with tool: ToolCase, holding number: Int?, theirs: String) throws -> Save {
        let place = try place()
        let failure = Locked<(any Error)?>(nil)
        let gate = try Gate([place.folder, "\(place.outside)/source"], holding: number) { [self] in
            do { try change(theirs) } catch { failure.set(error) }
        }
        var save = Save()
        do {
            save.result = try tool.run(place, tool.valid)
        } catch {
            // It waits for an answer of its user.
            save.result = nil
        }
        gate.open()
        if let error = failure.value { throw error }
        (save.calls, save.wasHeld) = (gate.calls, gate.hasHeld)
        let settled = try settled(place)
        (save.a, save.b, save.isEqual) = (settled.a, settled.b, settled.isEqual)
        let path = "\(type)/soup"
        save.history = { [b] in
            try b.shell(
                "recordfs history \(path) --json | jq -r .token | "
                    + "xargs -n 1 recordfs history \(path) --show"
            ).output
        }
        return save
    }

    /// Both have what the other one has saved.
    func settled(_ place: ToolPlace) throws -> Save {
        try SystemCall.syncDirectory(place.folder)
        for machine in [b, a] { try machine.ok("recordfs sync") }
        var save = Save()
        save.b = try SystemCall.readText(place.file)
        save.a = try SystemCall.readText("\(a.folder)/RecordFS/\(type)/soup.json")
        // Scratch is of one machine alone.
        let names = "-x '.*' -x '*~' -x '*.orig'"
        save.isEqual =
            try b.shell("diff -r \(names) RecordFS/\(type) \(a.folder)/RecordFS/\(type)").status
            == 0
        return save
    }

    func conflict(_ side: String) throws -> String {
        try SystemCall.readText(
            "\(b.folder)/RecordFS/.recordfs/conflicts/\(type)/soup/\(side).json")
    }

    func end() throws {
        for machine in [a, b] { try machine.ok("recordfs unmount && recordfs fsck") }
    }
}
