import RecordModel
import RecordStore
import TestSupport
import Testing

@Suite struct ExportTests {
    private func exported(_ fixture: StoreFixture, _ format: TransferFormat) throws -> String {
        let schema = try fixture.store.schema(of: RecordTypeName("Note"))
        var bytes: [UInt8] = []
        var export = RecordExport(format: format, schema: schema) { bytes += $0 }
        _ = try export.export(fixture.note, of: fixture.store)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("each format has every saved record, with its name before its fields")
    func formats() throws {
        let fixture = try StoreFixture()
        try fixture.save("a%2Fb", #"{ "t": "x, \"y\"", "n": 1 }"#)
        try fixture.save("c", #"{"n": 2}"#)
        _ = try fixture.draft("d", "{")
        #expect(
            try exported(fixture, .ndjson)
                == """
                {"$name":"a/b","t":"x, \\"y\\"","n":1}
                {"$name":"c","n":2}

                """)
        let json = try JSONParser.parse(Array(try exported(fixture, .json).utf8))
        #expect(json.array?.count == 2)
        #expect(
            try exported(fixture, .csv).replacing("\r\n", with: "\n")
                == "$name,$parent,t,n\na/b,,\"x, \"\"y\"\"\",1\nc,,,2\n")
    }

    @Test("an empty type exports as an empty file of its format")
    func empty() throws {
        let fixture = try StoreFixture()
        #expect(try exported(fixture, .ndjson) == "")
        let json = try JSONParser.parse(Array(try exported(fixture, .json).utf8))
        #expect(json.array?.isEmpty == true)
    }

    @Test("a record has the name of its file, and where that is shortened its own")
    func longNames() throws {
        let fixture = try StoreFixture()
        try fixture.save("x", "{}", type: fixture.task)
        try fixture.save("x", "{}")
        let long = String(repeating: "/", count: 200)
        try fixture.upsert(long, [:])
        #expect(
            try exported(fixture, .ndjson)
                == "{\"$name\":\"x\"}\n{\"$name\":\"\(long)\"}\n")
    }

    @Test("the format of a file is that of its extension")
    func extensions() {
        #expect(TransferFormat(path: "a/b.JSON") == .json)
        #expect(TransferFormat(path: "b.jsonl") == .ndjson)
        #expect(TransferFormat(path: "b.csv") == .csv)
        #expect(TransferFormat(path: "a.json/b") == nil)
    }

    @Test("an export has the records of one moment, whatever is saved while it is written")
    func oneMoment() throws {
        let fixture = try StoreFixture()
        for number in 0..<300 { try fixture.save("r\(number)", #"{"n":1}"#) }
        let saved = fixture.clock.now
        var rows: [[UInt8]] = []
        var export = RecordExport(
            format: .ndjson, schema: try fixture.store.schema(of: RecordTypeName("Note"))
        ) { (chunk: [UInt8]) throws(RecordError) in
            if rows.isEmpty {
                fixture.clock.advance(.seconds(1))
                try fixture.save("r299", #"{"n":2}"#)
                try fixture.save("new", #"{"n":2}"#)
            }
            rows.append(chunk)
        }
        #expect(try export.export(fixture.note, of: fixture.store) == 300)
        #expect(rows.allSatisfy { $0.suffix(3) == Array("1}\n".utf8) })
        #expect(export.lastChange == saved)
        #expect(try exported(fixture, .ndjson).contains(#"{"$name":"new","n":2}"#))
    }
}
