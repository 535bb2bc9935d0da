import RecordControl
import RecordModel
import RecordStore
import Testing

@Suite("Rows without names, and rows of other fields")
struct KeylessImportTests {
    private let directory: TemporaryDirectory
    private let store: RecordStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try RecordStore.temporary(directory)
    }

    @discardableResult
    private func run(
        _ name: String, _ content: String, into type: String = "private/World/Row",
        replaces: Bool = false
    ) throws -> ImportProgress {
        let target = try RecordPath(type)
        let source = try ImportSource(try directory.file(name, content))
        let plan = try source.survey(schema: try store.schema(of: try #require(target.type)))
        var options = Importer.Options(target: target)
        options.replaces = replaces
        let executor = ControlExecutor(store: store)
        var importer = try Importer(
            source, plan: plan, options: options,
            perform: { (request) throws(RecordError) in
                // As through a daemon's socket.
                try executor.run(try ControlRequest(request.frame))
            },
            onProblem: { _ in })
        return try importer.run()
    }

    private var names: [String] {
        get throws { try store.names(in: "private/World/Row").sorted() }
    }

    @Test("two files without a key make all their rows, and either again makes none")
    func twoFiles() throws {
        let first = "what,price\\ncoffee,2.50\\ntea,3.00\\ncoffee,2.50\\n".unescaped
        let second = "what,price\\nbread,4.10\\ncoffee,2.50\\nmilk,1.20\\n".unescaped
        #expect(try run("a.csv", first).created == 3)
        let result = try run("b.csv", second)
        #expect([result.created, result.updated, result.unchanged] == [2, 0, 1])
        #expect(try names.count == 5)
        #expect(try names.filter { $0.hasSuffix("-2") }.count == 1)
        let token = try store.past.lastToken()
        for (name, text) in [("a.csv", first), ("b.csv", second), ("c.csv", first)] {
            let again = try run(name, text)
            #expect([again.created, again.updated, again.unchanged] == [0, 0, 3])
        }
        #expect(try store.past.lastToken() == token)
    }

    @Test("another order of columns or members, and types that came meanwhile, make no other names")
    func stableNames() throws {
        try run("a.csv", "what,n\\nx,1\\ny,2\\n".unescaped)
        #expect(try run("b.csv", "n,what\\n1,x\\n2,y\\n".unescaped).unchanged == 2)
        #expect(try run("c.csv", "what;n\\nx;1,5\\nz;2\\n".unescaped).created == 2)
        #expect(try run("a.csv", "what,n\\nx,1\\ny,2\\n".unescaped).unchanged == 2)
        try run("a.ndjson", #"{"k":{"b":1,"a":2},"l":[1]}"#)
        let other = try run("b.ndjson", #"{"l":[1],"k":{"a":2,"b":1}}"#)
        #expect(other.created == 0)
    }

    @Test("one wrongly quoted cell changes no record that is there, and makes none of its lines")
    func wronglyQuoted() throws {
        try run("a.csv", "id,text\\n1,one\\n2,two\\n3,three\\n".unescaped)
        let result = try run(
            "b.csv",
            "id,text\\n1,one\\n5,\"He said \"hi\" there\\n2,lost\\n6,more\"\\n3,gone\\n".unescaped)
        #expect([result.created, result.updated, result.failed] == [0, 0, 1])
        #expect(try names == ["1", "2", "3"])
        #expect(try store.text(at: "private/World/Row/2")?.contains("two") == true)
    }

    @Test("a source that cannot be read to its end stores nothing")
    func cutSource() throws {
        let path = "\(directory.path)/a.ndjson"
        let rows = (0..<3000).map { "{\"id\":\"r\($0)\"}\n" }.joined()
        try writeWholeFile(bytes(rows) + [0x61, 0xFF], to: path)
        var options = ImportSource.Options()
        options.encoding = "utf-7"
        let source = try ImportSource(path, options)
        #expect(try error { _ = try source.survey(schema: .empty) }.code == .invalidArgument)
    }

    @Test("a record keeps the fields that the source does not name, unless it is to be replaced")
    func fewerColumns() throws {
        try run(
            "a.ndjson",
            #"{"id":"a","title":"Soup","tags":["x"],"ref":{"$ref":"b"},"$parent":"b"}"#
                + "\n" + #"{"id":"b","title":"Tea"}"#)
        let result = try run("b.csv", "id,title,n\\na,Soup,7\\nb,,8\\n".unescaped)
        #expect([result.created, result.updated] == [0, 2])
        let text = try #require(try store.text(at: "private/World/Row/a"))
        let value = try JSONParser.parse(bytes(text))
        #expect(value["tags"] == .array([.text("x")]) && value["n"] == 7)
        #expect(value["ref"]?["$ref"] == .text("b") && value["$parent"] == .text("b"))
        #expect(try store.text(at: "private/World/Row/b")?.contains("title") == false)
        #expect(try run("c.csv", "id,title\\na,Soup\\n".unescaped).unchanged == 1)
        #expect(try run("d.csv", "id,title\\na,Soup\\n".unescaped, replaces: true).updated == 1)
        #expect(try store.text(at: "private/World/Row/a")?.contains("tags") == false)
    }

    private static let everyType = [
        #"{"id":"a","s":"12","t":"\"quoted\"","u":"{\"$ref\":\"x\"}","i":1,"b":true,"d":5,"e":1e300,"#
            + #""when":"2026-11-20","w2":{"$timestamp":"2026-11-20T10:00:00.000Z"},"#
            + #""bytes":{"$bytes":"AAEC"},"place":{"$location":{"latitude":48.1,"longitude":11.6}},"#
            + #""ref":{"$ref":"b","action":"DELETE_SELF"},"j":{"k":[1,"x"]},"j2":{"k":1},"#
            + #""ls":["a","b, c","\"d\""],"li":[1,2],"ld":[1.5,2],"lt":[{"$timestamp":"2026-11-20T10:00:00Z"}],"#
            + #""lr":[{"$ref":"b"},{"$ref":"c"}],"$parent":"b"}"#,
        #"{"id":"b","s":"007","t":"line\nbreak; \"x\"","i":-5,"b":false,"d":2,"e":0.5,"#
            + #""w2":{"$timestamp":"2026-11-21T10:00:00.000Z"},"ls":[],"empty":"","big":9223372036854775807}"#,
        #"{"id":"c","s":"[1,2]","u":"2026-11-20T10:00:00Z","j2":{"z":null},"li":[3]}"#,
    ]

    @Test(
        "every type comes back from an export, in another store too",
        arguments: [TransferFormat.csv, .ndjson, .json])
    func roundTrip(format: TransferFormat) throws {
        try run("a.ndjson", Self.everyType.joined(separator: "\n"))
        // Plain spellings of what the schema knows.
        let executor = ControlExecutor(store: store)
        _ = try executor.run(
            .put(
                try RecordPath("private/World/Row/d"),
                text: bytes(#"{"w2":"2026-11-22T10:00:00.000Z","ref":"a","bytes":"AAE=","d":7}"#)))
        let name = RecordTypeName("Row")
        let schema = try store.schema(of: name)
        let path = "\(directory.path)/out.\(format.rawValue)"
        let file = try FileWriting(path: path)
        var export = RecordExport(format: format, schema: schema) { (bytes) throws(RecordError) in
            try file.write(bytes)
        }
        _ = try export.export(try store.type(at: try RecordPath("private/World/Row")).id, of: store)
        try file.finish()
        let exported = try readWholeFile(path)
        let text = String(decoding: exported, as: UTF8.self)
        let again = try run("same.\(format.rawValue)", text)
        #expect([again.created, again.updated, again.unchanged, again.failed] == [0, 0, 4, 0])

        let other = try KeylessImportTests()
        let fresh = try other.run("fresh.\(format.rawValue)", text)
        #expect(fresh.created == 4 && fresh.failed == 0, "\(text)")
        let types = Dictionary(
            uniqueKeysWithValues: schema.fields.map { ($0.name, $0.type) })
        for field in try other.store.schema(of: name).fields {
            #expect(types[field.name] == field.type, "\(field.name)")
        }
        for record in ["a", "b", "c", "d"] {
            func values(_ store: RecordStore) throws -> [FieldName: FieldValue] {
                let text = try #require(try store.text(at: "private/World/Row/\(record)"))
                let document = try RecordDocument(
                    parsing: bytes(text), schema: try store.schema(of: name))
                return Dictionary(
                    uniqueKeysWithValues: document.fields.map { ($0.name, $0.value) })
            }
            let (before, after) = (try values(store), try values(other.store))
            #expect(Set(before.keys) == Set(after.keys), "\(record) \(text)")
            for (field, value) in before {
                #expect(after[field].map { value.isSame(as: $0) } == true, "\(record) \(field)")
            }
        }
    }
}

extension String {
    /// With `\n` for a line's end, so that rows are on one line here.
    fileprivate var unescaped: String { replacing("\\n", with: "\n") }
}
