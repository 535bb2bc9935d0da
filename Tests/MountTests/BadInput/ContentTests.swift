import Glibc
import Testing

extension MountTests {
    /// Texts that no record can have, each through open, write and close.
    @Suite struct ContentTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let name: String
            let bytes: [UInt8]
            /// Line and column of the error; nil for a text that must be accepted.
            let place: [Int]?
            var testDescription: String { name }

            init(_ name: String, _ text: String, _ place: [Int]?) {
                self.init(name, bytes: Array(text.utf8), place)
            }

            init(_ name: String, bytes: [UInt8], _ place: [Int]?) {
                self.name = name
                self.bytes = bytes
                self.place = place
            }
        }

        static let cases: [Case] = [
            Case("duplicate key", "{\"a\": 1,\n \"a\": 2}", [2, 2]),
            Case("trailing comma", "{\"a\": 1,}", [1, 8]),
            Case("array at the root", "[1]", [1, 1]), Case("null at the root", "null", [1, 1]),
            Case("white space only", " \n ", [2, 2]), Case("two documents", "{} {}", [1, 4]),
            Case("NUL in a string", "{\"a\": \"\0\"}", [1, 8]),
            Case("NUL behind the end", "{\"a\": 1}\0", [1, 9]),
            Case("lone surrogate", "{\"a\": \"\\ud800\"}", [1, 8]),
            Case("not UTF-8", bytes: Array("{\"a\": \"".utf8) + [0xff, 0x22, 0x7d], [1, 8]),
            Case(
                "overlong UTF-8", bytes: Array("{\"a\": \"".utf8) + [0xc0, 0xaf, 0x22, 0x7d],
                [1, 8]),
            Case("UTF-16", bytes: [0xff, 0xfe, 0x7b, 0, 0x7d, 0], [1, 1]),
            Case("NaN", "{\"a\": NaN}", [1, 7]), Case("leading zero", "{\"a\": 01}", [1, 7]),
            Case("hexadecimal", "{\"a\": 0x1}", [1, 7]),
            Case("integer over 64 bits", "{\"a\": 9223372036854775808}", [1, 7]),
            Case("number over the range of DOUBLE", "{\"a\": 1e400}", [1, 7]),
            Case("unknown $ key", "{\"$nope\": 1}", [1, 2]),
            Case("bad field name", "{\"a b\": 1}", [1, 2]),
            Case("depth over 64", "{\"a\": " + String(repeating: "[", count: 100_000), [1, 70]),
            Case("largest integer", "{\"a\": 9223372036854775807}", nil),
            Case("CRLF", "{\r\n\"a\": 1\r\n}\r\n", nil),
            Case("byte order mark", "\u{feff}{\"a\": 1}", nil),
            Case("empty object", "{}", nil), Case("escaped NUL", "{\"a\": \"\\u0000\"}", [1, 8]),
        ]

        @Test("a bad text is EINVAL at close, and a draft with line and column", arguments: cases)
        func content(test: Case) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let path = "\(folder)/x.json"
            try SystemCall.writeFile(path, "{\"old\": 1}\n")
            let code = SystemCall.code { try SystemCall.writeFile(path, test.bytes) }
            #expect(try SystemCall.readFile(path) == test.bytes, "the file shows what was typed")
            let draft = try mounted.store.draft("x")
            guard let place = test.place else {
                #expect(code == 0)
                #expect(draft == nil)
                return
            }
            #expect(code == EINVAL)
            #expect(draft?.line == place[0])
            if test.name != "depth over 64" { #expect(draft?.column == place[1]) }
            #expect(try mounted.store.savedText("x") == "{\"old\": 1}\n")
            try mounted.kill()
            try mounted.mount()
            #expect(try SystemCall.readFile(path) == test.bytes, "the draft outlives a kill")
        }

        @Test("a text cut at any byte is a draft, never a record")
        func cut() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let text = Array("{\"a\": [1, 2.5e3, true, null], \"b\": {\"c\": \"\\u00e9é\"}}".utf8)
            for length in 1..<text.count {
                let path = "\(folder)/cut-\(length).json"
                let code = SystemCall.code {
                    try SystemCall.writeFile(path, Array(text.prefix(length)))
                }
                #expect(code == EINVAL, "\(length) bytes")
            }
            #expect(try mounted.store.stems() == [])
            #expect(try mounted.store.drafts() == text.count - 1)
        }

        @Test("a record that cannot fit answers EFBIG and keeps its text")
        func tooLarge() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let path = "\(folder)/big.json"
            let items = (0..<30_000).map { "\"\($0)-\(String(repeating: "x", count: 60))\"" }
            let text = "{\"list\": [\(items.joined(separator: ","))]}"
            #expect(SystemCall.code { try SystemCall.writeFile(path, text) } == EFBIG)
            #expect(try SystemCall.readText(path) == text)
            #expect(try mounted.store.stems() == [])
        }

        @Test("an endless file is refused before it fills the memory")
        func sparse() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let path = "\(folder)/sparse.json"
            try SystemCall.writeFile(path, "{\"n\": 1}\n")
            #expect(SystemCall.code { try SystemCall.truncate(path, 1 << 40) } == EFBIG)
            #expect(try SystemCall.readText(path) == "{\"n\": 1}\n")
        }
    }
}
