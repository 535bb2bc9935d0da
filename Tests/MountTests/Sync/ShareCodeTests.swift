import TestSupport
import Testing

extension MountTests {
    /// Real processes: the link of a share on a terminal, as a QR code that another program reads.
    @Suite struct ShareCodeTests {
        private let account: Account
        private let alice: CommandLineHome
        private let link: String

        init() async throws {
            account = try await Account()
            alice = try account.machine()
            try alice.ok(
                """
                mkdir -p RecordFS/private/Kitchen/Recipe
                echo '{"n": 1}' > RecordFS/private/Kitchen/Recipe/soup.json
                """)
            link = try alice.ok("recordfs share create private/Kitchen --title 'Küche für alle'")
        }

        /// The lines that are drawn after the link, without their escape sequences and ends.
        private func code(_ text: String) -> [Substring] {
            text.split(whereSeparator: \.isNewline).filter { line in
                !line.isEmpty && line.allSatisfy { " ▀▄█".contains($0) }
            }
        }

        /// What zbarimg reads in the lines.
        private func decoded(_ lines: [Substring]) throws -> String {
            let rows = lines.flatMap { line in
                [line.map { "▀█".contains($0) }, line.map { "▄█".contains($0) }]
            }
            let scale = 4
            let pixels = rows.flatMap { row in
                let line = row.map { String(repeating: $0 ? "1 " : "0 ", count: scale) }.joined()
                return Array(repeating: line, count: scale)
            }
            let size = "\((rows.first?.count ?? 0) * scale) \(rows.count * scale)"
            let image = try alice.file(
                "code.pbm", "P1\n\(size)\n\(pixels.joined(separator: "\n"))\n")
            return try succeed("zbarimg", "-q", "--raw", image)
        }

        @Test("a terminal shows the link, and below it a QR code that is read as the link")
        func onTerminal() throws {
            for command in ["recordfs share", "recordfs share qr"] {
                let terminal = try alice.terminal("stty cols 80; \(command) private/Kitchen")
                let result = try terminal.finish()
                #expect(result.status == 0 && result.output.hasPrefix("\(link)\r\n"), "\(result)")
                let lines = code(result.output)
                #expect(try decoded(lines) == "\(link)\n")
                // Light around it, four modules wide, and black on white in every line.
                #expect(lines.prefix(2).joined().allSatisfy { $0 == " " })
                #expect(lines.suffix(2).joined().allSatisfy { $0 == " " })
                for line in lines {
                    let edges = line.prefix(4) + line.suffix(4)
                    #expect(edges.allSatisfy { $0 == " " }, "\(line)")
                    let coloured = "\u{1B}[38;5;16;48;5;231m\(line)\u{1B}[0m\r\n"
                    #expect(terminal.drawn.contains(coloured), "\(line)")
                }
                #expect(lines.first.map { $0.count + 1 } == lines.count * 2)
            }
        }

        @Test("scripts get the bare link, and the QR code only when they ask for it")
        func inScripts() throws {
            for command in ["share", "share url", "share qr", "share --no-qr"] {
                #expect(try alice.ok("recordfs \(command) private/Kitchen") == link)
            }
            let state = "~/.local/share/recordfs"
            #expect(try alice.ok("recordfs --state \(state) share private/Kitchen") == link)
            #expect(try alice.ok("cd RecordFS/private && recordfs share Kitchen") == link)
            let asked = try alice.ok("NO_COLOR=1 recordfs share --qr private/Kitchen")
            #expect(asked.hasPrefix("\(link)\n\u{1B}"))
            let plain = asked.replacing(/\u{1B}\[[0-9;]*m/, with: "")
            #expect(try decoded(code(plain)) == "\(link)\n")
            let once = try alice.ok("recordfs share link --qr private/Kitchen")
                .replacing(/\u{1B}\[[0-9;]*m/, with: "")
            #expect(try decoded(code(once)) == "\(once.prefix { $0 != "\n" })\n")
            let quiet = try alice.terminal("stty cols 80; recordfs share --no-qr private/Kitchen")
            #expect(try quiet.finish().output == "\(link)\r\n")
            for (path, status) in [("private/None", 3), ("private/Kitchen/Recipe/soup", 3)] {
                let result = try alice.shell("recordfs share \(path)")
                #expect(result.status == status && result.output == "", "\(result)")
            }
        }

        @Test("where a code cannot be read it is left out, which is said on standard error")
        func leftOut() throws {
            let places = [
                ("stty cols 40;", "and the terminal has 40"), ("export NO_COLOR=1;", "NO_COLOR"),
                ("export TERM=dumb;", "TERM"),
            ]
            for (setting, reason) in places {
                let terminal = try alice.terminal(
                    "\(setting) recordfs share private/Kitchen 2> why; echo status $?")
                let result = try terminal.finish()
                #expect(result.output == "\(link)\r\nstatus 0\r\n", "\(result)")
                #expect(!terminal.drawn.contains("\u{1B}"))
                let said = try alice.ok("cat why")
                #expect(said.hasPrefix("recordfs: the QR code is left out: "), "\(said)")
                #expect(said.contains(reason), "\(said)")
            }
            let asked = try alice.terminal("stty cols 40; recordfs share --qr private/Kitchen")
            let result = try asked.finish()
            #expect(result.status == 1 && code(result.output).isEmpty, "\(result)")
        }
    }
}
