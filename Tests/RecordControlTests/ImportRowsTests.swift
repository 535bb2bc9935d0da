import Glibc
import RecordControl
import RecordModel
import RecordStore
import Testing

@Suite("Rows of import sources")
struct ImportRowsTests {
    private struct Seen: Equatable, CustomStringConvertible {
        let line: Int
        let key: String?
        let text: String
        var description: String { "\(line) \(key ?? "-") \(text)" }
    }

    private func all(_ rows: any ImportRows) throws -> [Seen] {
        var rows = rows
        var seen: [Seen] = []
        while let row = try rows.next() {
            let text =
                switch row.content {
                case .fields(let members):
                    String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
                case .text(let text): String(decoding: text, as: UTF8.self)
                case .bad(let error): "bad \(error.code) \(error)"
                }
            seen.append(Seen(line: row.line, key: row.key?.description, text: text))
        }
        return seen
    }

    private func json(_ text: String, at key: String? = nil) throws -> [Seen] {
        try all(try JSONRows(text: bytes(text), at: key))
    }

    /// The rows of a file, as an import reads them.
    private func rows(
        _ name: String, _ content: [UInt8], schema: [RecordSchema.Field] = [],
        _ options: ImportSource.Options = .init()
    ) throws -> [Seen] {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/\(name)"
        try writeWholeFile(content, to: path)
        let source = try ImportSource(path, options)
        let plan = try source.survey(schema: RecordSchema(fields: schema))
        return try all(try source.rows(plan))
    }

    private func csv(_ text: String, schema: [RecordSchema.Field] = []) throws -> [Seen] {
        try rows("a.csv", bytes(text), schema: schema)
    }

    @Test(
        "a JSON file has its rows where they obviously are",
        arguments: [
            #"[{"a":1},{"a":2}]"#,
            "\u{FEFF}[\n{\"a\":1} , {\"a\":2}\n]\n",
            #"{"639-3":[{"a":1},{"a":2}]}"#,
            #"{"version":"1","tags":"x","rows":[{"a":1},{"a":2}]}"#,
        ])
    func shapes(text: String) throws {
        #expect(try json(text).map(\.text) == [#"{"a":1}"#, #"{"a":2}"#])
    }

    @Test("an object of objects names its rows by its keys")
    func keyed() throws {
        let rows = try json("{\n \"x\": {\"a\":1},\n \"y\\u0020z\": {\"a\":2}\n}")
        #expect(rows.map(\.key) == ["x", "y z"])
        #expect(rows.map(\.line) == [2, 3])
    }

    @Test("a single record is one row")
    func single() throws {
        #expect(try json(#"{"title":"Soup","tags":["a","b"]}"#).count == 1)
    }

    @Test("--at chooses the member that has the rows")
    func at() throws {
        let text = #"{"a":[{"n":1}],"b":{"k":{"n":2}},"c":3}"#
        #expect(try json(text, at: "a").map(\.text) == [#"{"n":1}"#])
        #expect(try json(text, at: "b").map(\.key) == ["k"])
        #expect(try error { _ = try json(text, at: "c") }.code == .invalidArgument)
        #expect(try error { _ = try json(text, at: "d") }.code == .invalidArgument)
    }

    @Test("empty arrays and objects have no rows")
    func empty() throws {
        #expect(try json("[]").isEmpty)
        #expect(try json("[ \n ]").isEmpty)
        #expect(try json(#"{"rows":[]}"#, at: "rows").isEmpty)
    }

    @Test("a bad element has its own line and column, and the others are there")
    func badElement() throws {
        let rows = try json("[\n  {\"a\": 1},\n  {\"a\": 1, \"a\": 2},\n  7,\n  {\"a\": 3}\n]")
        #expect(rows.map(\.line) == [2, 3, 4, 5])
        #expect(rows[1].text.hasPrefix("bad invalidJSON line 3, column 12"))
        #expect(rows[2].text.hasPrefix("bad invalidRecord"))
        #expect(rows[3].text == #"{"a":3}"#)
    }

    @Test("a trailing comma is one bad element")
    func trailingComma() throws {
        let rows = try json("[{\"a\":1},\n]")
        #expect(rows.count == 2)
        #expect(rows[1].text.hasPrefix("bad invalidJSON line 2"))
    }

    @Test(
        "a file that is no JSON as a whole is refused with the parser's words",
        arguments: ["", "[{\"a\":1}", "{\"a\":[}", "[{\"a\":\"x]"])
    func broken(text: String) throws {
        let error = try error { _ = try json(text) }
        #expect(error.code == .invalidJSON)
        #expect(error.position != nil)
    }

    @Test("a file of one plain value has no rows to give")
    func plainValue() throws {
        #expect(try error { _ = try json("17") }.code == .invalidArgument)
    }

    @Test("brackets and quotes inside strings do not confuse the cut")
    func strings() throws {
        let rows = try json(#"[{"a":"]},{\"\\"},{"b":"[{"}]"#)
        #expect(rows.map(\.text) == [#"{"a":"]},{\"\\"}"#, #"{"b":"[{"}"#])
    }

    @Test("NDJSON has a row a line, skips empty ones and reports a bad one with its place")
    func lines() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file(
            "a.ndjson", "{\"a\":1}\n\n{\"a\":}\r\n[1]\n{\"a\":2\n{\"a\":2}")
        let rows = try all(try ImportSource(path).rows())
        #expect(rows.map(\.line) == [1, 3, 4, 5, 6])
        #expect(rows[1].text.hasPrefix("bad invalidJSON line 3, column 6"))
        #expect(rows[3].text.hasPrefix("bad invalidJSON line 5, column 7"))
        #expect(rows[2].text.hasPrefix("bad invalidRecord"))
        #expect(rows[4].text == #"{"a":2}"#)
    }

    @Test("a line longer than any buffer is one row")
    func longLine() throws {
        let directory = try TemporaryDirectory()
        let value = String(repeating: "x", count: 700_000)
        let path = try directory.file("a.ndjson", "{\"a\":\"\(value)\"}\n{\"b\":1}\n")
        let rows = try all(try ImportSource(path).rows())
        #expect(rows.map(\.text.utf8.count) == [700_008, 7])
    }

    @Test("CSV columns are numbers when all their cells are, else text")
    func csvColumns() throws {
        let rows = try csv("id,count,zip,ratio\na,1,01234,1\nb,-2,99,2.5\n")
        #expect(
            rows.map(\.text) == [
                #"{"id":"a","count":1,"zip":"01234","ratio":1}"#,
                #"{"id":"b","count":-2,"zip":"99","ratio":2.5}"#,
            ])
        #expect(rows.map(\.line) == [2, 3])
    }

    @Test("an empty cell is no value, a quoted one is an empty text")
    func csvEmpty() throws {
        #expect(try csv("a,b\n,\"\"\n").map(\.text) == [#"{"b":""}"#])
    }

    @Test("the schema says how a known column is read")
    func csvSchema() throws {
        let rows = try csv(
            "a,b,c\n1,2,\"[1,2]\"\n",
            schema: [
                .init(name: FieldName("a"), type: .string),
                .init(name: FieldName("b"), type: .double),
                .init(name: FieldName("c"), type: .list(.int64)),
            ])
        #expect(rows.map(\.text) == [#"{"a":"1","b":2,"c":[1,2]}"#])
    }

    @Test("a header may name a column twice, or not at all")
    func csvHeader() throws {
        #expect(
            try csv("a,,a,\n1,2,3,4\n").map(\.text) == [
                #"{"a":1,"column_2":2,"a_2":3,"column_4":4}"#
            ])
        #expect(try csv("a,a_2,a\n1,2,3\n").map(\.text) == [#"{"a":1,"a_2":2,"a_2_3":3}"#])
        #expect(try error { _ = try csv("") }.code == .invalidArgument)
    }

    @Test("cells that a short row has not are no values, and a long row is refused")
    func csvRowLength() throws {
        let rows = try csv("a,b\n1\n1,2,3\n")
        #expect(rows[0].text == #"{"a":1}"#)
        #expect(rows[1].text.hasPrefix("bad invalidRecord"))
    }

    @Test(
        "the delimiter of a table is found",
        arguments: [
            "a;b\nk,5;x,y\n2,5;z\n", "a\tb\nk,5\tx,y\n2,5\tz\n", "a|b\nk,5|x,y\n2,5|z\n",
            "a,b\n\"k,5\",\"x,y\"\n\"2,5\",z\n", "sep=;\na;b\nk,5;x,y\n2,5;z\n",
            "\u{FEFF}sep=;\r\na;b\r\nk,5;x,y\r\n2,5;z\r\n", "\"sep=|\"\na|b\nk,5|x,y\n2,5|z\n",
            "SEP=,\na,b\n\"k,5\",\"x,y\"\n\"2,5\",z\n",
        ])
    func delimiters(text: String) throws {
        #expect(
            try csv(text).map(\.text) == [#"{"a":"k,5","b":"x,y"}"#, #"{"a":"2,5","b":"z"}"#])
    }

    @Test(
        "a column that numbers would not print again as it stood is text",
        arguments: [
            ["32E0134"], ["1E5", "2E5"], ["0x10"], ["Infinity"], ["NaN"], ["007", "12"], ["+1"],
            ["-0"],
            ["1.10", "1.9"], ["1."], [".5"], ["12345678901234567890"], ["1.2345678901234567"],
            ["1_000"], ["1 000"], ["true"], ["1,5"], ["٣"],
        ])
    func codes(cells: [String]) throws {
        let table = "a,b\n" + cells.map { "\"\($0)\",x\n" }.joined()
        #expect(
            try csv(table).map(\.text)
                == cells.map { "{\"a\":\"\($0)\",\"b\":\"x\"}" })
    }

    @Test("measures are numbers, with whatever digits behind the point")
    func measures() throws {
        let rows = try csv("lat,x\n38.704022,a\n-91.60,b\n59.9,c\n7,d\n")
        #expect(
            rows.map(\.text) == [
                #"{"lat":38.704022,"x":"a"}"#, #"{"lat":-91.60,"x":"b"}"#,
                #"{"lat":59.9,"x":"c"}"#, #"{"lat":7,"x":"d"}"#,
            ])
    }

    @Test(
        "decimal commas are numbers where a comma can be nothing else",
        arguments: [
            (["12,50", "3,00"], "[12.50,3.00]"), (["1.234,56", "-0,5"], "[1234.56,-0.5]"),
            (["12,5", "7"], "[12.5,7]"), (["1,234", "5,678"], #"["1,234","5,678"]"#),
            (["1,2,3"], #"["1,2,3"]"#), (["12,50", "1.5"], #"["12,50","1.5"]"#),
            (["12,50", "n/a"], #"["12,50","n/a"]"#), (["00,5"], #"["00,5"]"#),
        ])
    func decimalCommas(cells: [String], wanted: String) throws {
        let rows = try csv("a;b\n" + cells.map { "\($0);x\n" }.joined())
        let values = try rows.map { try JSONParser.parse(bytes($0.text))["a"] ?? .null }
        #expect(String(decoding: JSONValue.array(values).serialized(), as: UTF8.self) == wanted)
    }

    @Test("dates are points in time only with a time and an offset, in all rows")
    func dates() throws {
        func type(_ cells: String...) throws -> FieldType? {
            let directory = try TemporaryDirectory()
            let path = try directory.file("a.csv", "a,b\n" + cells.map { "\($0),x\n" }.joined())
            return try ImportSource(path).survey(schema: .empty).fields.first?.type
        }
        #expect(try type("2026-11-20T10:00:00Z", "2026-11-20T10:00:00.123+01:00") == .timestamp)
        #expect(try type("2026-11-20T10:00Z", "") == .timestamp)
        #expect(try type("2026-11-20T10:00:00Z", "2026-11-20") == .string)
        #expect(try type("2026-11-20T10:00:00") == .string)
        #expect(try type("2026-11-20T10:00:00.123456Z") == .string)
        #expect(try type("2026-13-20T10:00:00Z") == .string)
    }

    @Test("an object of NDJSON may go over several lines, and one that is cut costs its line alone")
    func pretty() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.file(
            "a.ndjson",
            """
            {
              "a": 1,
              "s": "}{",
              "l": [
                {"k": 2},
                3
              ]
            }
            {"a": 2
            {"a": 3}
            {
              "a": "x
            {"a": 4}
            """)
        let rows = try all(try ImportSource(path).rows())
        #expect(rows.map(\.line) == [1, 9, 10, 11, 12, 13])
        #expect(rows[0].text == #"{"a":1,"s":"}{","l":[{"k":2},3]}"#)
        #expect(rows[1].text.hasPrefix("bad invalidJSON line 9, column 8"), "\(rows[1])")
        #expect(rows[2].text == #"{"a":3}"# && rows[5].text == #"{"a":4}"#)
    }

    @Test("a delimiter that is named is taken, and quotes between tabs are plain characters")
    func namedDelimiter() throws {
        var options = ImportSource.Options()
        options.delimiter = UInt8(ascii: ":")
        #expect(try rows("a.csv", bytes("a:b\n1,2:3\n"), options).map(\.text).count == 1)
        #expect(
            try rows("a.tsv", bytes("a\tb\n7\" disk\t1\n")).map(\.text) == [
                #"{"a":"7\" disk","b":1}"#
            ])
    }

    @Test(
        "an encoding that is named, or told by its mark, is read",
        arguments: [
            ("windows-1252", [0x80, 0xE9], "€é"), ("latin1", [0xE9], "é"),
            ("UTF-16LE", [0xE9, 0, 0x3D, 0xD8, 0x00, 0xDE], "é😀"),
        ] as [(String, [UInt8], String)])
    func encodings(name: String, text: [UInt8], wanted: String) throws {
        let isWide = name == "UTF-16LE"
        func encoded(_ text: String) -> [UInt8] {
            text.utf8.flatMap { isWide ? [$0, 0] : [$0] }
        }
        let table = encoded("a\n") + text + encoded("\n")
        var options = ImportSource.Options()
        options.encoding = name
        let expected = ["{\"a\":\"\(wanted)\"}"]
        #expect(try rows("a.csv", table, options).map(\.text) == expected)
        let lines = encoded("{\"a\":\"") + text + encoded("\"}\n")
        #expect(try rows("a.ndjson", lines, options).map(\.text) == expected)
        #expect(
            try rows("a.json", encoded("[") + lines + encoded("]"), options).map(\.text) == expected
        )
        guard isWide else { return }
        #expect(try rows("a.csv", [0xFF, 0xFE] + table).map(\.text) == expected)
        options.encoding = "utf-16"
        #expect(try rows("a.csv", [0xFF, 0xFE] + table, options).map(\.text) == expected)
        #expect(try error { _ = try rows("a.csv", table) }.message.contains("utf-16le"))
    }

    @Test(
        "a table that is not UTF-8 is refused with its line, wherever that is",
        arguments: [0, 300_000])
    func notUTF8(distance: Int) throws {
        let filler = Array(repeating: bytes("x\n"), count: distance / 2).flatMap { $0 }
        let table = bytes("a\n") + filler + bytes("caf") + [0xE9] + bytes("\n")
        let refusal = try error { _ = try rows("a.csv", table) }
        #expect(refusal.code == .invalidArgument)
        #expect(refusal.message.hasPrefix("line \(distance / 2 + 2) is not UTF-8"), "\(refusal)")
        #expect(refusal.message.contains("--encoding"))
        let cut = bytes("a\ncaf") + [0xC3]
        #expect(try error { _ = try rows("a.csv", cut) }.message.hasPrefix("line 2 "))
        let whole = bytes("a\n") + filler + bytes("é\n")
        #expect(try rows("a.csv", whole).last?.text == #"{"a":"é"}"#)
    }

    @Test("bytes that an encoding has not, and encodings that nobody knows, are refused")
    func badEncoding() throws {
        var options = ImportSource.Options()
        options.encoding = "utf-16le"
        let cut = try error { _ = try rows("a.csv", [0x61, 0, 0x0A, 0, 0x61], options) }
        #expect(cut.message.contains("line 2 ends inside a character"), "\(cut)")
        let lone = try error {
            _ = try rows("a.csv", [0x61, 0, 0x0A, 0, 0x00, 0xDC, 0x61, 0], options)
        }
        #expect(lone.message.contains("line 2 "), "\(lone)")
        options.encoding = "klingon"
        #expect(
            try error { _ = try rows("a.csv", bytes("a\n"), options) }.message.contains("iconv -l"))
    }

    @Test(
        "behind a cell whose quotes do not fit nothing is a row, whatever its lines look like",
        arguments: [
            "\"x,y\n", "2,\"He said \"hi\" to me\n3,and more\n4,the end\"\n",
            "2,\"x\"y\n3,z\n", "2,a \"quoted, text\n3,goes on\"\n",
            "2,\"one \"\"two\"\" three\" four\n3,five\n",
        ])
    func doubtfulQuotes(bad: String) throws {
        let rest = String(repeating: "1,2\n", count: 100_000)
        let rows = try csv("a,b\n1,first\n" + bad + rest)
        #expect(rows.map(\.line).first == 2 && rows.count == 2)
        #expect(rows.last?.text.hasPrefix("bad") == true)
        #expect(rows.last?.text.contains("The import ends here") == true)
    }

    @Test("a bad CSV row has its line, and the rows behind it are read")
    func csvBadRow() throws {
        let rows = try csv("a,b\n1,2\n1,2,3\n\"x\ny\",2\n1,a\"b\n3,4\n")
        #expect(rows.map(\.line) == [2, 3, 4, 6, 7])
        #expect(rows[1].text.hasPrefix("bad invalidRecord"))
        #expect(rows[3].text.hasPrefix("bad"))
        #expect(rows[2].text.contains(#""x\ny""#))
    }

    @Test("the .json files of a directory are rows with their bytes and names")
    func directory() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.file("b%2Fc.json", "{ \"x\" : 1.50 }")
        _ = try directory.file("a.json", "{}")
        _ = try directory.file(".a.json.swp", "no")
        _ = try directory.file("notes.txt", "no")
        _ = try directory.file("john.doe@example.com.json", "{\"x\":1}")
        _ = try directory.file("a@data.json", "[]")
        let source = try ImportSource(directory.path)
        let rows = try all(try source.rows())
        #expect(rows.map(\.key) == ["a", "b/c", "john.doe@example.com"])
        #expect(rows.map(\.text) == ["{}", "{ \"x\" : 1.50 }", "{\"x\":1}"])
        #expect(source.skipped.map(\.name) == [".a.json.swp", "a@data.json", "notes.txt"])
    }

    @Test("a directory without a record is an error")
    func emptyDirectory() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.file("notes.txt", "no")
        #expect(
            try error { _ = try ImportSource(directory.path) }.message.contains("no .json file"))
    }

    @Test("a source that cannot be opened says why")
    func unopened() throws {
        let directory = try TemporaryDirectory()
        func open(_ path: String, _ format: TransferFormat? = nil, at key: String? = nil) throws {
            var options = ImportSource.Options()
            options.format = format
            options.key = key
            _ = try ImportSource(path, options)
        }
        #expect(try error { try open("\(directory.path)/none.json") }.code == .notFound)
        let text = try directory.file("a.txt", "{}")
        #expect(try error { try open(text) }.code == .invalidArgument)
        try open(text, .ndjson)
        #expect(try error { try open(text, .ndjson, at: "a") }.code == .invalidArgument)
    }
}
