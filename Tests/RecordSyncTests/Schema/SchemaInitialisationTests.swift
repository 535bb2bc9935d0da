import Glibc
import RecordModel
import RecordServerCore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// Sample records in a server, so that its schema learns their types.
@Suite struct SchemaInitialisationTests {
    private static let zone = ZoneIdentifier(zone: ZoneName("com.apple.coredata.cloudkit.zone"))
    private static let text = """
        DEFINE SCHEMA

            RECORD TYPE CD_Post (
                CD_moveReceipt BYTES QUERYABLE SORTABLE,
                CD_moveReceipt_ckAsset ASSET,
                CD_posted TIMESTAMP QUERYABLE SORTABLE,
                CD_read INT64 QUERYABLE SORTABLE,
                CD_score DOUBLE QUERYABLE SORTABLE,
                CD_secret ENCRYPTED STRING,
                CD_secret_ckAsset ASSET,
                CD_title STRING QUERYABLE SORTABLE SEARCHABLE,
                CD_title_ckAsset ASSET
            );

            RECORD TYPE CDMR (
                CD_moveReceipt BYTES QUERYABLE SORTABLE,
                CD_moveReceipt_ckAsset ASSET,
                CD_relationships STRING QUERYABLE SORTABLE SEARCHABLE
            );

        """

    private let server: TestServer
    private let wire: CoreTransport
    private let files: TemporaryDirectory
    private let schema: SchemaDocument

    init() async throws {
        server = try await TestServer()
        wire = CoreTransport(server, .alice, overHTTP: true)
        files = try TemporaryDirectory()
        schema = try SchemaDocument(parsing: Array(Self.text.utf8))
    }

    private var samples: [SchemaSample] {
        SchemaSample.samples(of: schema) { $1 == FieldName("CD_title") ? "a title" : nil }
    }

    /// - Parameter isInterrupted: says whether to end, when it was asked for the n-th time.
    private func run(
        _ samples: [SchemaSample]? = nil,
        isInterrupted: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) async throws -> SchemaInitialisation.Outcome {
        let count = Mutex(0)
        let run = SchemaInitialisation(wire, zone: Self.zone) {
            isInterrupted(
                count.withLock {
                    $0 += 1
                    return $0
                })
        }
        let outcome = try await run.run(samples ?? self.samples, assetPath: files.path + "/sample")
        #expect(access(files.path + "/sample", F_OK) != 0)
        return outcome
    }

    /// What a failing run says.
    private func failure(
        _ samples: [SchemaSample]? = nil,
        isInterrupted: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) async throws -> String {
        do {
            _ = try await run(samples, isInterrupted: isInterrupted)
        } catch let problem as SyncProblem {
            return "\(problem)"
        }
        return "it did not fail"
    }

    private func records() async throws -> [JSONValue] {
        let answer = try await server.call(
            .recordsChanges, .private, as: .alice,
            ["zoneID": ["zoneName": .string(Text(utf8: Self.zone.zone.bytes))]])
        return (answer.json["records"]?.array ?? []).filter { $0["deleted"]?.bool != true }
    }

    private func serverSchema() async throws -> SchemaDocument {
        try await server.changeUser(.carol) { $0.isAdministrator = true }
        let answer = try await server.call(.schemaExport, .public, as: .carol)
        return try SchemaDocument(parsing: try #require(answer.json["schema"]?.string).utf8)
    }

    @Test("samples alone make all types and fields, with their indexes, and none is left")
    func grows() async throws {
        let outcome = try await run()
        #expect(outcome == .init(hasMadeZone: true, leftovers: 0))
        #expect(SchemaAddition(of: schema, to: try await serverSchema()).isEmpty)
        #expect(try await records().isEmpty)
        #expect(try await run() == .init(hasMadeZone: false, leftovers: 0))
    }

    @Test("every field has its value in the upload, in the words of Apple's protocol")
    func bodies() async throws {
        _ = try await run()
        let requests = wire.takeRequests()
        for (operation, body) in requests {
            // Apple's reference does not show encrypted fields.
            let problems = DocumentedBody.problems(operation, body)
                .filter { !$0.hasSuffix(".isEncrypted is no key") }
            #expect(problems.isEmpty, "\(operation)")
        }
        let upload = try #require(requests.first { $0.operation == .recordsModify })
        let record = try #require(
            try JSONParser.parse(upload.body)["operations"]?.array?.first?["record"])
        #expect(
            record["fields"]?.object?.map(\.key.string)
                == schema.types[0].fields.map { "\($0.name)" })
        #expect(record["fields"]?["CD_title"]?["value"] == "a title")
        #expect(record["fields"]?["CD_secret"]?["isEncrypted"] == true)
    }

    @Test("a field of another type ends the run, and the samples before it are deleted")
    func conflict() async throws {
        _ = try await run()
        var other = schema
        other.types[1].fields[2] = SchemaDocument.Field(
            RecordSchema.Field(name: FieldName("CD_relationships"), type: .int64))
        let failure = try await failure(SchemaSample.samples(of: other) { _, _ in nil })
        #expect(failure.contains("CD_relationships is STRING"), "\(failure)")
        #expect(try await records().isEmpty)
    }

    @Test("a server that coerces a value is found out by its answer, and nothing is left")
    func coerced() async throws {
        _ = try await run()
        wire.plan(
            .recordsModify,
            .altered { answer in
                let text = answer.serialized()
                let changed = String(decoding: text, as: UTF8.self)
                    .replacing("\"type\":\"INT64\"", with: "\"type\":\"DOUBLE\"")
                return (try? JSONParser.parse(Array(changed.utf8))) ?? answer
            })
        #expect(
            try await failure() == "CD_Post.CD_read is DOUBLE on the server, and would be INT64.")
        #expect(try await records().isEmpty)
    }

    /// Ten wide types, which need two requests.
    private var wide: [SchemaSample] {
        let numbers = (0..<220).map {
            RecordSchema.Field(name: FieldName("CD_n\($0)"), type: .int64)
        }
        let fields = schema.types[1].fields + numbers.map { SchemaDocument.Field($0) }
        let types = (1...10).map {
            SchemaDocument.RecordType(name: RecordTypeName("CD_W\($0)"), fields: fields)
        }
        return SchemaSample.samples(of: SchemaDocument(types: types)) { _, _ in nil }
    }

    @Test("an interruption at any place leaves nothing")
    func interrupted() async throws {
        var places = 0
        var failure = ""
        repeat {
            places += 1
            let place = places
            failure = try await self.failure(wide) { $0 >= place }
            #expect(try await records().isEmpty)
        } while failure == "it was interrupted."
        #expect(failure == "it did not fail")
        // Before the look for leftovers, the addresses, each of ten assets and the two uploads.
        #expect(places == 1 + 1 + 10 + 2 + 1)
        #expect(try await run().leftovers == 0)
    }

    @Test("a lost answer to the upload leaves nothing")
    func lostAnswer() async throws {
        wire.plan(.recordsModify, .answerLost)
        #expect(try await failure() == "The server cannot be reached: lost")
        #expect(try await records().isEmpty)
    }

    @Test("samples that could not be deleted are told, and the next run deletes them")
    func leftovers() async throws {
        wire.plan(.recordsModify, .answerLost, .requestLost)
        let said = try await failure()
        #expect(
            said.contains("Sample records may be left in the zone com.apple.coredata"), "\(said)")
        #expect(try await records().count == 2)
        // Another schema of another machine.
        let one = SchemaDocument(types: [schema.types[1]])
        #expect(try await run(SchemaSample.samples(of: one) { _, _ in nil }).leftovers == 2)
        #expect(try await records().isEmpty)
    }

    @Test("more samples than a request takes are found again, all of them")
    func many() async throws {
        let type = schema.types[1]
        let wide = SchemaDocument(
            types: (1...405).map { .init(name: RecordTypeName("CD_T\($0)"), fields: type.fields) })
        let samples = SchemaSample.samples(of: wide) { _, _ in nil }
        wire.plan(.recordsModify, .meanwhile {}, .meanwhile {}, .answerLost, .requestLost)
        _ = try await failure(samples)
        #expect(try await records().isEmpty == false)
        #expect(try await run().leftovers == 405)
        #expect(try await records().isEmpty)
    }

    @Test("a record of somebody who uses the name of a sample stays, and nothing is sent")
    func foreign() async throws {
        _ = try await run()
        let body: JSONValue = [
            "zoneID": ["zoneName": .string(Text(utf8: Self.zone.zone.bytes))],
            "operations": [
                [
                    "operationType": "create",
                    "record": ["recordName": "recordfs-schema-sample-2", "recordType": "CDMR"],
                ]
            ],
        ]
        _ = try await server.call(.recordsModify, .private, as: .alice, body)
        #expect(
            try await failure().hasPrefix(
                "the record recordfs-schema-sample-2 in the zone com.apple"))
        #expect(try await records().count == 1)
    }

    @Test("an answer that passes over records is no success")
    func incomplete() async throws {
        wire.plan(.recordsModify, .altered { _ in ["records": []] })
        #expect(
            try await failure()
                == "The server's answer is not of the protocol, as when a proxy or a "
                + "sign-in page of the network answers: records/modify answered to 0 of 2 records.")
        #expect(try await records().isEmpty)
    }

    @Test("only an administrator reads the schema, and adds to it without a loss")
    func administrator() async throws {
        #expect(try await ServerSchema(wire).read() == nil)
        try await server.changeUser(.alice) { $0.isAdministrator = true }
        try await ServerSchema(wire).add(schema)
        #expect(try await ServerSchema(wire).read() == schema)
        let one = SchemaDocument(types: [schema.types[1]])
        try await ServerSchema(wire).add(one)
        #expect(try await ServerSchema(wire).read() == schema)
    }
}
