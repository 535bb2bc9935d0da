import Glibc
import RecordControl
import RecordModel
import RecordStore
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
        var batches: [Int] = []
    }

    private func run(
        _ name: String, _ content: String, _ report: Report = Report(),
        stopAfterBatches: Int = .max, change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportProgress {
        let path = try directory.file(name, content)
        return try run(path: path, report, stopAfterBatches: stopAfterBatches, change: change)
    }

    private func run(
        path: String, _ report: Report = Report(), stopAfterBatches: Int = .max,
        change: (inout Importer.Options) -> Void = { _ in }
    ) throws -> ImportProgress {
        let type = try #require(target.type)
        var options = Importer.Options(target: target)
        change(&options)
        let executor = ControlExecutor(store: store)
        var importer = Importer(
            try ImportSource.open(path, format: nil, at: nil, schema: try store.schema(of: type)),
            options: options,
            perform: { (request) throws(RecordError) in
                if case .importBatch(let batch) = request {
                    if report.batches.count == stopAfterBatches {
                        throw RecordError(.ioFailure, "the machine is off")
                    }
                    report.batches.append(batch.rows.count)
                }
                return try executor.run(request)
            },
            onProblem: { report.problems.append("\($0.line): \($0.error.code)") },
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
        let token = try store.lastToken()
        let second = try run("a.json", rows)
        #expect([second.created, second.updated, second.unchanged] == [0, 0, 2])
        #expect(try store.lastToken() == token)
        let third = try run("a.json", rows.replacing("\"n\":2", with: "\"n\":3"))
        #expect([third.created, third.updated, third.unchanged] == [0, 1, 1])
    }

    @Test("bad rows are reported with their lines and the others go in")
    func badRows() throws {
        let report = Report()
        let result = try run(
            "a.ndjson",
            """
            {"id":"a","n":1}
            {"id":"b","n":
            {"id":"c","n":"text"}
            {"n":4}
            {"id":"a","n":5}
            {"id":"e","bad key":1}
            {"id":"f","n":6}

            """, report)
        #expect(result.created == 2 && result.failed == 5 && result.rows == 7)
        #expect(
            report.problems.sorted() == [
                "2: invalidJSON", "3: schemaMismatch", "4: invalidRecord", "5: alreadyExists",
                "6: invalidRecord",
            ])
        #expect(try store.names(in: "private/World/Row").sorted() == ["a", "f"])
        #expect(try store.text(at: "private/World/Row/a")?.contains("1") == true)
    }

    @Test("a strict import stops at the first bad row and keeps those before it")
    func strict() throws {
        for bad in ["{\"id\":\"b\",\"n\":}", "{\"id\":\"b\",\"n\":\"text\"}"] {
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
        _ = try run("a.ndjson", row + "\n") { $0.nameField = "label" }
        #expect(try store.names(in: "private/World/Row").sorted() == ["c", "x"])
        _ = try run("a.ndjson", "{\"other\":1}\n{\"other\":2}\n")
        #expect(try store.names(in: "private/World/Row").contains("line-2"))
        _ = try run("a.ndjson", "{\"id\":17,\"other\":1}\n")
        #expect(try store.names(in: "private/World/Row").contains("17"))
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
            #"{"$name":"a/b","text":"x, \"y\"\n","count":1,"ratio":2.0,"tags":["p","q"]}"#,
            #"{"$name":"empty","text":"","at":{"$timestamp":"2026-11-20T10:00:00.000Z"}}"#,
            #"{"$name":"child","$parent":"empty","raw":{"$bytes":"AAE="},"more":{"k":[1,null]}}"#,
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
