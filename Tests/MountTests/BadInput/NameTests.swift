import Glibc
import Testing

extension MountTests {
    /// The names of the bad-input catalogue, as people, tools and other clients make them.
    @Suite struct NameTests {
        private static let text = "{\"n\": 1}\n"

        /// A name, and what it must be in a TYPE directory.
        struct Case: Sendable, CustomTestStringConvertible {
            enum Outcome: Sendable {
                case record, scratch, refused([Int32])
                /// Refused at close, with the text and the reason kept.
                case draft
            }
            let name: [UInt8]
            let outcome: Outcome
            var testDescription: String { String(decoding: name.prefix(40), as: UTF8.self) }

            init(_ name: String, _ outcome: Outcome) {
                self.init(bytes: Array(name.utf8), outcome)
            }

            init(bytes: [UInt8], _ outcome: Outcome) {
                name = bytes
                self.outcome = outcome
            }
        }

        static let cases: [Case] = [
            Case("plain.json", .record), Case("-dash.json", .record),
            Case("two words.json", .record), Case("trailing .json", .record),
            Case("dot..json", .record), Case("x.json.json", .record), Case("4913.json", .record),
            Case("CON.json", .record), Case("nul.json", .record),
            Case("caf\u{e9}.json", .record), Case("cafe\u{301}.json", .record),
            Case("\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}.json", .record),
            Case("sol\u{2215}idus.json", .record), Case("full\u{ff0f}width.json", .record),
            Case("gpj\u{202e}exe.json", .record), Case("zero\u{200b}width.json", .record),
            Case("bom\u{feff}.json", .record), Case("A.json", .record), Case("a.json", .record),
            // Names of the server's own: no record of them can go up.
            Case("cloudkit.zoneshare.json", .draft), Case("_defaultZone.json", .draft),
            Case("_under.json", .draft),
            Case("slash%2Finside.json", .record),
            Case(String(repeating: "n", count: 250) + ".json", .record),
            Case(String(repeating: "\u{4e2d}", count: 83) + ".json", .record),
            Case(".json", .scratch), Case(".hidden.json", .scratch), Case("#x.json#", .scratch),
            Case(".#x.json", .scratch), Case("x.json~", .scratch), Case("x.JSON", .scratch),
            Case("4913", .scratch), Case("CON", .scratch), Case("...", .scratch),
            Case("space ", .scratch), Case("esc\u{1b}[31m", .scratch),
            Case("line\nbreak", .scratch),
            Case("tab\there", .scratch), Case("%2e%2e%2f", .scratch),
            Case(bytes: [0xff, 0xfe, 0x41], .scratch),
            Case(String(repeating: "s", count: 255), .scratch),
            Case(String(repeating: "n", count: 256), .refused([ENAMETOOLONG])),
            // Not the canonical spelling of a record name: another spelling would be a second file.
            Case("%41.json", .refused([EINVAL])), Case("%zz.json", .refused([EINVAL])),
            Case("%2e%2e%2f.json", .refused([EINVAL])), Case("new\nline.json", .refused([EINVAL])),
            Case(bytes: [0xff] + Array("x.json".utf8), .refused([EINVAL, EILSEQ])),
        ]

        @Test("each name is a record, scratch or refused, and nothing else", arguments: cases)
        func name(test: Case) throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let records: Int
            switch test.outcome {
            case .record:
                #expect(save(folder, test.name) == 0)
                records = 1
            case .scratch:
                #expect(save(folder, test.name) == 0)
                records = 0
            case .draft:
                #expect(save(folder, test.name) == EINVAL)
                records = 0
            case .refused(let codes):
                #expect(codes.contains(save(folder, test.name)))
                records = 0
            }
            try SystemCall.syncDirectory(folder)
            #expect(try mounted.store.stems().count == records)
            try checkListing(test, folder)
            try mounted.remount()
            try checkListing(test, folder)
        }

        /// The listing has the name byte for byte, and it opens.
        private func checkListing(_ test: Case, _ folder: String) throws {
            let names = try SystemCall.listBytes(folder)
            if case .refused = test.outcome {
                #expect(names == [])
            } else {
                var expected = [test.name]
                if case .draft = test.outcome { expected.insert(Array(".error".utf8), at: 0) }
                #expect(names == expected)
                #expect(read(folder, test.name) == Array(Self.text.utf8))
            }
        }

        @Test("names that differ in bytes only are different records")
        func differentBytes() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let names = ["caf\u{e9}.json", "cafe\u{301}.json", "A.json", "a.json"]
            for (number, name) in names.enumerated() {
                try SystemCall.writeFile("\(folder)/\(name)", "{\"n\": \(number)}\n")
            }
            for (number, name) in names.enumerated() {
                #expect(try SystemCall.readText("\(folder)/\(name)") == "{\"n\": \(number)}\n")
            }
            #expect(try SystemCall.listBytes(folder).count == 4)
        }

        @Test("the databases, zones and types refuse names that cannot be theirs")
        func places() throws {
            let mounted = try MountedStore()
            let zone = "\(mounted.mountPoint)/private/Kitchen"
            try SystemCall.makeDirectory(zone)
            for name in ["bad type", "9lives", "a-b", "x@y", "caf\u{e9}"] {
                #expect(throws: SystemCallError.self, "\(name) as a record type") {
                    try SystemCall.makeDirectory("\(zone)/\(name)")
                }
            }
            for path in ["\(mounted.mountPoint)/mine", "\(mounted.mountPoint)/private.txt"] {
                #expect(throws: SystemCallError.self) { try SystemCall.makeDirectory(path) }
                #expect(throws: SystemCallError.self) { try SystemCall.writeFile(path, "x") }
            }
            #expect(try SystemCall.list(zone) == [".error"], "the reason of the last")
        }

        @Test("a path longer than PATH_MAX answers ENAMETOOLONG")
        func longPath() throws {
            let mounted = try MountedStore()
            let folder = try mounted.makeType()
            let path = folder + String(repeating: "/.", count: 2_100) + "/a.json"
            let code = SystemCall.code { try SystemCall.writeFile(path, Self.text) }
            #expect(code == ENAMETOOLONG)
        }

        private func save(_ folder: String, _ name: [UInt8]) -> Int32 {
            let path = Array(folder.utf8) + [UInt8(ascii: "/")] + name
            return SystemCall.code { try SystemCall.writeFile(bytes: path, Array(Self.text.utf8)) }
        }

        private func read(_ folder: String, _ name: [UInt8]) -> [UInt8] {
            let path = Array(folder.utf8) + [UInt8(ascii: "/")] + name
            return (try? SystemCall.readFile(bytes: path)) ?? []
        }
    }
}
