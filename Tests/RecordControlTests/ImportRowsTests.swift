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

    private func all(_ rows: some ImportRows) throws -> [Seen] {
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

    private func csv(_ text: String, schema: [RecordSchema.Field] = []) throws -> [Seen] {
        try all(try CSVRows(text: bytes(text), schema: RecordSchema(fields: schema)))
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
        let rows = try all(try LineRows(path: path, byteCount: nil))
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
        let rows = try all(try LineRows(path: path, byteCount: nil))
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

    @Test("names of a header that no field can have are mended")
    func csvHeader() throws {
        #expect(
            try csv("First name,2nd,größe\na,b,c\n").map(\.text) == [
                #"{"First_name":"a","f_2nd":"b","gr____e":"c"}"#
            ])
    }

    @Test("a header that names a field twice, or not at all, is refused")
    func csvBadHeader() throws {
        #expect(try error { _ = try csv("a,a\n1,2\n") }.code == .invalidArgument)
        #expect(try error { _ = try csv("a,\n1,2\n") }.code == .invalidArgument)
        #expect(try error { _ = try csv("") }.code == .invalidArgument)
    }

    @Test("a bad CSV row has its line, and the rows behind it are read")
    func csvBadRow() throws {
        let rows = try csv("a,b\n1,2\n1\n\"x\ny\",2\n1,a\"b\n3,4\n")
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
        let rows = try all(try DirectoryRows(path: directory.path))
        #expect(rows.map(\.key) == ["a", "b/c"])
        #expect(rows.map(\.text) == ["{}", "{ \"x\" : 1.50 }"])
    }

    @Test("a source that cannot be opened says why")
    func unopened() throws {
        let directory = try TemporaryDirectory()
        func open(_ path: String, _ format: TransferFormat? = nil, at key: String? = nil) throws {
            _ = try ImportSource.open(path, format: format, at: key, schema: .empty)
        }
        #expect(try error { try open("\(directory.path)/none.json") }.code == .notFound)
        let text = try directory.file("a.txt", "{}")
        #expect(try error { try open(text) }.code == .invalidArgument)
        try open(text, .ndjson)
        #expect(try error { try open(text, .ndjson, at: "a") }.code == .invalidArgument)
    }
}
