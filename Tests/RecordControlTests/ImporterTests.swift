import Glibc
import RecordControl
import RecordModel
import RecordStore
import Synchronization
import Testing

@Suite("Importing")
struct ImporterTests {
    private let directory: TemporaryDirectory
    private let store: RecordStore
    private let target: RecordPath

    init() throws {
        directory = try TemporaryDirectory()
        store = try RecordStore.temporary(directory)
        target = try RecordPath("private/World/Row")
    }

    private final class Report {
        var problems: [String] = []
        var progress: [ImportProgress] = []
        let sent = SentBatches()
        var batches: [Int] { sent.counts.withLock { $0 } }
        var plan = ImportPlan()
    }

    /// The numbers of rows of the batches that were sent.
    private final class SentBatches: Sendable {
        let counts = Mutex<[Int]>([])
    }

    private func run(
        _ name: String, _ content: String, _ report: Report = Report(),
        stopAfterBatches: Int = .max, nameField: String? = nil,
        change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportProgress {
        let path = try directory.file(name, content)
        return try run(
            path: path, report, stopAfterBatches: stopAfterBatches, nameField: nameField,
            change: change)
    }

    private func run(
        path: String, _ report: Report = Report(), stopAfterBatches: Int = .max,
        nameField: String? = nil,
        change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportProgress {
        let type = try #require(target.type)
        var options = Importer.Options(target: target)
        change(&options)
        let executor = ControlExecutor(store: store)
        let sent = report.sent
        let source = try ImportSource(path)
        report.plan = try source.survey(schema: try store.schema(of: type), nameField: nameField)
        var importer = try Importer(
            source, plan: report.plan, options: options,
            perform: { (request) throws(RecordError) in
                if case .importBatch(let batch) = request {
                    let isOff = sent.counts.withLock { counts in
                        if counts.count == stopAfterBatches { return true }
                        counts.append(batch.rows.count)
                        return false
                    }
                    if isOff { throw RecordError(.ioFailure, "the machine is off") }
                }
                return try executor.run(request)
            },
            onProblem: { report.problems.append("\($0.line ?? -$0.number): \($0.error.code)") },
            onProgress: { report.progress.append($0) })
        return try importer.run()
    }

    @Test("rows become records; a second run changes nothing")
    func twice() throws {
        let rows = "[{\"id\":\"a\",\"n\":1},{\"id\":\"b/c\",\"n\":2}]"
        let first = try run("a.json", rows)
        #expect([first.created, first.updated, first.unchanged, first.failed] == [2, 0, 0, 0])
        #expect(try store.names(in: "private/World/Row").sorted() == ["a", "b%2Fc"])
        #expect(
            try store.text(at: "private/World/Row/a") == "{\n  \"id\": \"a\",\n  \"n\": 1\n}\n")
        let token = try store.past.lastToken()
        let second = try run("a.json", rows)
        #expect([second.created, second.updated, second.unchanged] == [0, 0, 2])
        #expect(try store.past.lastToken() == token)
        let third = try run("a.json", rows.replacing("\"n\":2", with: "\"n\":3"))
        #expect([third.created, third.updated, third.unchanged] == [0, 1, 1])
    }

    @Test("bad rows are reported with their lines and the others go in")
    func badRows() throws {
        let report = Report()
        _ = try run("first.ndjson", #"{"id":"z","n":0}"#)
        let result = try run(
            "a.ndjson",
            """
            {"id":"a","n":1}
            {"id":"b","n":
            {"id":"c","n":"text"}
            {"n":4}
            {"id":"a","n":5}
            {"id":"e","$bad":1}
            {"id":"f","n":6}

            """, report, nameField: "id")
        #expect(result.created == 2 && result.failed == 5 && result.rows == 7)
        #expect(
            report.problems.sorted() == [
                "2: invalidJSON", "3: schemaMismatch", "4: invalidRecord", "5: alreadyExists",
                "6: invalidRecord",
            ])
        #expect(try store.names(in: "private/World/Row").sorted() == ["a", "f", "z"])
        #expect(try store.text(at: "private/World/Row/a")?.contains("1") == true)
    }

    @Test("a strict import stops at the first bad row and keeps those before it")
    func strict() throws {
        for bad in ["{\"id\":\"b\",\"n\":}", "{\"id\":\"b\",\"$n\":\"text\"}"] {
            let report = Report()
            let result = try run(
                "a.ndjson", "{\"id\":\"a\",\"n\":1}\n\(bad)\n{\"id\":\"c\",\"n\":2}\n", report
            ) { $0.isStrict = true }
            #expect(result.failed == 1 && result.saved == 1)
            #expect(report.problems.count == 1 && report.problems[0].hasPrefix("2:"))
            #expect(try store.names(in: "private/World/Row") == ["a"])
        }
    }

    @Test("rows go in batches, each with its progress")
    func batches() throws {
        let report = Report()
        let rows = (0..<450).map { "{\"id\":\"r\($0)\"}\n" }.joined()
        let result = try run("a.ndjson", rows, report)
        #expect(report.batches == [200, 200, 50])
        #expect(result.created == 450)
        #expect(report.progress.map(\.created) == [200, 400, 450])
        #expect(report.progress.last?.consumed == rows.utf8.count)
        #expect(report.progress.last?.total == rows.utf8.count)
    }

    @Test("an interrupted import goes on behind its last committed row")
    func resume() throws {
        let content = (0..<100).map { "{\"id\":\"r\($0)\"}\n" }.joined()
        let path = try directory.file("a.ndjson", content)
        let checkpoint = try #require(
            ImportCheckpoint(stateDirectory: store.directory, source: path, target: target))
        func options(_ options: inout Importer.Options) {
            options.batchRows = 10
            options.checkpoint = checkpoint
            options.checkpointInterval = .zero
            options.resumes = true
        }
        let interrupted = Report()
        let failure = try error {
            _ = try run(path: path, interrupted, stopAfterBatches: 3, change: options)
        }
        #expect(failure.code == .ioFailure)
        #expect(checkpoint.rows() == 30)
        let resumed = Report()
        let result = try run(path: path, resumed, change: options)
        #expect(resumed.batches == [10, 10, 10, 10, 10, 10, 10])
        #expect(result.created == 70 && result.rows == 100)
        #expect(try store.names(in: "private/World/Row").count == 100)
        #expect(checkpoint.rows() == 0)
    }

    @Test("a source that changed, or another target, has no checkpoint")
    func otherSource() throws {
        let path = try directory.file("a.ndjson", "{}\n")
        let first = try #require(
            ImportCheckpoint(stateDirectory: store.directory, source: path, target: target))
        try first.save(rows: 5)
        #expect(first.rows() == 5)
        let other = try RecordPath("private/World/Other")
        let elsewhere = try #require(
            ImportCheckpoint(stateDirectory: store.directory, source: path, target: other))
        #expect(elsewhere.rows() == 0)
        _ = try directory.file("a.ndjson", "{}\n{}\n")
        let changed = try #require(
            ImportCheckpoint(stateDirectory: store.directory, source: path, target: target))
        #expect(changed.rows() == 0)
    }

    @Test("records are named by the field that is asked for, or by the first that usually names")
    func naming() throws {
        let row = #"{"label":"x","name":"n","code":"c"}"#
        _ = try run("a.ndjson", row + "\n")
        #expect(try store.names(in: "private/World/Row") == ["c"])
        _ = try run("a.ndjson", row + "\n", nameField: "label")
        #expect(try store.names(in: "private/World/Row").sorted() == ["c", "x"])
        _ = try run("a.ndjson", "{\"other\":1}\n{\"other\":2}\n")
        #expect(
            try store.names(in: "private/World/Row").filter { $0.hasPrefix("row-") }.count == 2)
        _ = try run("a.ndjson", "{\"id\":17,\"other\":1}\n")
        #expect(try store.names(in: "private/World/Row").contains("17"))
    }

    @Test(
        "types come from all rows, not from the first",
        arguments: [
            ("18", "18.5", "DOUBLE"), ("null", "1.5", "DOUBLE"), ("[]", "[\"a\"]", "LIST<STRING>"),
            ("[1]", "[1.5]", "LIST<DOUBLE>"), ("1", "\"one\"", "JSON"),
            ("\"a\"", "{\"k\":1}", "JSON"),
            ("9007199254740993", "0.5", "JSON"),
        ])
    func types(first: String, second: String, type: String) throws {
        let name = try #require(target.type)
        for (file, rows) in [
            ("a.ndjson", ["{\"id\":\"a\",\"v\":\(first)}", "{\"id\":\"b\",\"v\":\(second)}"]),
            ("b.ndjson", ["{\"id\":\"c\",\"v\":\(second)}", "{\"id\":\"d\",\"v\":\(first)}"]),
        ] {
            let result = try run(file, rows.joined(separator: "\n"))
            #expect(result.created == 2 && result.failed == 0)
            #expect(try store.schema(of: name).type(of: FieldName("v"))?.name == type)
        }
        #expect(
            try store.text(at: "private/World/Row/a")?.contains("\"v\": \(first.first ?? " ")")
                == true)
        #expect(try store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("empty cells and whole numbers in the first rows of a table decide no type")
    func tableTypes() throws {
        let name = try #require(target.type)
        let result = try run("a.csv", "id,n,m,big\na,,1,9007199254740993\nb,18,,0.5\nc,18.5,x,\n")
        #expect(result.created == 3 && result.failed == 0)
        let schema = try store.schema(of: name)
        #expect(schema.fields.map(\.type) == [.string, .double, .string, .string])
        #expect(try store.text(at: "private/World/Row/a")?.contains("\"9007199254740993\"") == true)
    }

    @Test("a field that the type has as whole numbers is widened by rows with fractions")
    func widens() throws {
        let name = try #require(target.type)
        _ = try run("a.ndjson", #"{"id":"a","n":3}"#)
        let result = try run("b.csv", "id,n\nb,4\nc,4.5\n")
        #expect(result.created == 2 && result.failed == 0)
        #expect(try store.schema(of: name).type(of: FieldName("n")) == .double)
    }

    @Test("keys that no field can have are respelled alike in every format")
    func respelledKeys() throws {
        let wanted = [
            "IMDB Rating": "IMDB_Rating", "größe": "groesse", "2nd": "f_2nd",
            "Straße/Nr.": "Strasse_Nr_",
            "Prénom": "Prenom", "U\u{308}ber": "Ueber",
        ]
        let report = Report()
        _ = try run(
            "a.json",
            #"[{"id":"a","IMDB Rating":1,"größe":2,"2nd":3,"Straße/Nr.":4,"Prénom":5,"#
                + "\"U\u{308}ber\":6}]", report)
        func names(_ report: Report) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: report.plan.naming.mended.map {
                    ($0.key.string, $0.name.string)
                })
        }
        #expect(names(report) == wanted)
        let text = try #require(try store.text(at: "private/World/Row/a"))
        for (name, value) in [("groesse", 2), ("f_2nd", 3), ("Strasse_Nr_", 4), ("Ueber", 6)] {
            #expect(text.contains("\"\(name)\": \(value)"))
        }
        let table = Report()
        _ = try run(
            "a.csv", "id,IMDB Rating,größe,2nd,Straße/Nr.,Prénom,U\u{308}ber\nb,1,2,3,4,5,6\n",
            table)
        #expect(names(table) == wanted)
        _ = try run("b.csv", "First name,n\nx,1\n", nameField: "First name")
        _ = try run("b.csv", "First name,n\ny,1\n", nameField: "First_name")
        #expect(try store.names(in: "private/World/Row").sorted() == ["a", "b", "x", "y"])
    }

    @Test(
        "keys that would be one field, and keys of which no name can be made, are an error",
        arguments: [
            ("a_b", "a b"), ("a b", "a-b"), ("größe", "groesse"), ("Größe", "Groesse"), ("x", "名前"),
            ("x", "--"), ("x", "Имя"),
        ])
    func unusableKeys(first: String, second: String) throws {
        for (file, text) in [
            ("a.csv", "id,\(first),\(second)\na,1,2\n"),
            ("a.ndjson", "{\"id\":\"a\",\"\(first)\":1}\n{\"id\":\"b\",\"\(second)\":2}\n"),
        ] {
            let refusal = try error { _ = try run(file, text) }
            #expect(refusal.code == .invalidArgument)
            #expect(refusal.message.contains("\"\(second)\""), "\(refusal)")
            #expect(failsToFind(target))
        }
    }

    @Test(
        "a field names the records only when it is different in every row",
        arguments: [
            (#"[{"id":1,"name":"a"},{"id":1,"name":"b"}]"#, ["a", "b"], "row 2 is an earlier"),
            (#"[{"id":1,"name":"a"},{"name":"b"}]"#, ["a", "b"], "row 2 has none"),
            (
                #"[{"name":"a"},{"name":"b"},{"name":"a"}]"#, ["row-", "row-", "row-"],
                "row 3 is an earlier"
            ),
            (#"[{"id":null},{"id":"b"}]"#, ["row-", "row-"], "row 1 is no text"),
            (#"[{"x":1},{"x":2}]"#, ["row-", "row-"], ""),
        ])
    func uniqueNames(rows: String, names: [String], reason: String) throws {
        let report = Report()
        let result = try run("a.json", rows, report)
        #expect(result.failed == 0)
        let found = try store.names(in: "private/World/Row").sorted()
        #expect(found.map { $0.hasPrefix("row-") ? "row-" : $0 } == names)
        let flaw = report.plan.names.unsuitable?.reason
        #expect(names[0].hasPrefix("row") ? (flaw ?? "").contains(reason) : flaw == nil)
    }

    @Test("a rehearsal counts what an import would do, and changes nothing")
    func rehearsal() throws {
        _ = try run("a.ndjson", "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":1}\n")
        let token = try store.past.lastToken()
        let name = try #require(target.type)
        let schema = try store.schema(of: name)
        let report = Report()
        let rows = (0..<500).map { "{\"id\":\"r\($0)\",\"k\":\($0)}\n" }.joined()
        let result = try run(
            "b.ndjson",
            "{\"id\":\"a\",\"n\":1}\n{\"id\":\"b\",\"n\":2.5}\n{\"id\":\"c\",\"n\":\"x\"}\n" + rows
                + "{\"id\":\"d\",\"k\":0.5}\n", report
        ) { $0.isRehearsal = true }
        #expect(
            [result.created, result.updated, result.unchanged, result.failed] == [501, 1, 1, 1])
        #expect(report.problems == ["3: schemaMismatch"])
        #expect(try store.names(in: "private/World/Row") == ["a", "b"])
        #expect(try store.past.lastToken() == token)
        #expect(try store.schema(of: name) == schema)
        let real = try run(path: "\(directory.path)/b.ndjson")
        #expect([real.created, real.updated, real.unchanged, real.failed] == [501, 1, 1, 1])
    }

    @Test("rows that share a line are told by their numbers")
    func minified() throws {
        let report = Report()
        let result = try run(
            "a.json", #"[{"id":"a","$x":1},{"id":"b"},{"id":"c","$x":1}]"#, report)
        #expect(result.created == 1)
        #expect(report.problems == ["-1: invalidRecord", "-3: invalidRecord"])
    }

    @Test("a table in another encoding stores nothing, wherever its first bad line is")
    func badEncoding() throws {
        let path = "\(directory.path)/a.csv"
        let rows = (0..<5000).map { "r\($0),x\n" }.joined()
        try writeWholeFile(bytes("id,v\n" + rows) + [0xE9, 0x0A], to: path)
        #expect(try error { _ = try run(path: path) }.message.hasPrefix("line 5002 "))
        #expect(failsToFind(try RecordPath("private/World/Row")))
    }

    private func failsToFind(_ path: RecordPath) -> Bool {
        do {
            _ = try store.type(at: path)
            return false
        } catch {
            return true
        }
    }

    @Test("refused rows are grouped by their reasons, ten are shown, and all are in a file")
    func problems() throws {
        let problems = ImportProblems(
            source: "a.csv", stateDirectory: directory.path, target: target)
        func problem(_ number: Int, _ message: String) -> ImportProblem {
            ImportProblem(
                line: number, number: number, file: nil, error: RecordError(.invalidRecord, message)
            )
        }
        for number in 1...10 { try problems.add(problem(number, "the row has \(number) cells")) }
        #expect(try problems.finish() == nil)
        for number in 11...40 { try problems.add(problem(number, "field \"n\" is INT64")) }
        let path = try #require(try problems.finish())
        #expect(problems.groups.map(\.count) == [30, 10])
        #expect(problems.groups[0].first.text(in: "a.csv") == "a.csv:11: field \"n\" is INT64")
        #expect(problems.first.count == 10)
        let lines = String(decoding: try readWholeFile(path), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 40)
        #expect(lines.first == "a.csv:1: the row has 1 cells")
        let clean = ImportProblems(source: "a.csv", stateDirectory: directory.path, target: target)
        #expect(try clean.finish() == nil)
        #expect(access(path, F_OK) != 0)
    }

    @Test("$name names the record and is no field of it")
    func nameMember() throws {
        _ = try run("a.ndjson", #"{"$name":"the one","id":"a"}"# + "\n")
        #expect(try store.names(in: "private/World/Row") == ["the one"])
        #expect(try store.text(at: "private/World/Row/the one")?.contains("$name") == false)
    }

    @Test(
        "what an export writes, an import makes again", arguments: TransferFormat.allCases)
    func exported(format: TransferFormat) throws {
        let rows = [
            #"{"$name":"a/b","text":"x, \"y\"\n","count":1,"ratio":2,"tags":["p","q"],"mix":5}"#,
            #"{"$name":"empty","text":"","ratio":2.5,"mix":"5","at":{"$timestamp":"2026-11-20T10:00:00.000Z"}}"#,
            #"{"$name":"child","$parent":"empty","mix":"x","raw":{"$bytes":"AAE="},"more":{"k":[1,null]}}"#,
        ]
        _ = try run("a.ndjson", rows.joined(separator: "\n"))
        let file = "\(directory.path)/out.\(format.rawValue)"
        let output = try FileWriting(path: file)
        let type = try store.type(at: target)
        var export = RecordExport(format: format, schema: try store.schema(of: type.name)) {
            (bytes) throws(RecordError) in try output.write(bytes)
        }
        #expect(try export.export(type.id, of: store) == 3)
        try output.finish()
        let again = try run(path: file)
        #expect(again.unchanged == 3 && again.failed == 0)
    }
}
