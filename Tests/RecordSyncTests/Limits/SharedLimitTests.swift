import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// What a save here may have is what the server takes: one below a limit, at it, and one above it.
@Suite("The limits that mount and server share", .serialized) struct SharedLimitTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    /// The record is on the other machine and on one that comes later, with its values and types, and the
    /// server has it.
    private func expectEverywhere(_ name: String) async throws {
        try await a.sync()
        try await b.sync()
        let fresh = try Replica(server)
        try await fresh.sync()
        #expect(try a.outbox() == [])
        let values = try fields(name, at: a)
        #expect(!values.isEmpty)
        for replica in [b, fresh] {
            // Compared so that a failure does not print a megabyte.
            let isSame = try fields(name, at: replica) == values
            #expect(isSame)
            try replica.expectSound()
        }
        let there = try await recordOfServer(name)
        let size = there.fields.countedBytes
        #expect(size <= ServerLimits.recordBytes)
    }

    private func fields(_ name: String, at replica: Replica) throws -> [FieldName: FieldValue] {
        guard let text = try replica.text(name) else { return [:] }
        let schema = try replica.store.schema(of: RecordTypeName("Note"))
        let document = try RecordDocument(
            parsing: Array(text.utf8), schema: schema, limits: .received)
        return Dictionary(
            document.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private func recordOfServer(_ name: String) async throws -> RecordAnswer {
        let answer = try await server.callCore(
            .recordsLookup, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Box"],
                "records": [["recordName": JSONValue(name)]],
            ])
        let items = try RecordsAnswer(JSONReader(answer)).items
        guard case .record(let record)? = items.first else {
            throw SyncProblem.unreadable("\(items)")
        }
        return record
    }

    private func assets(of record: RecordAnswer) -> [FieldName] {
        record.fields.filter { field in
            if case .asset? = field.value { true } else { false }
        }.map(\.name)
    }

    @Test(
        "one below a limit, and at it, a record goes everywhere", arguments: LimitCase.all, [1, 0])
    func within(_ limit: LimitCase, below: Int) async throws {
        let record = limit.record(limit.limit - below)
        try a.save(record.name, record.text)
        try await expectEverywhere(record.name)
    }

    @Test("one above a limit a save is refused, or goes in another form", arguments: LimitCase.all)
    func above(_ limit: LimitCase) async throws {
        let record = limit.record(limit.limit + 1)
        guard let refusal = limit.refusal else {
            try a.save(record.name, record.text)
            return try await expectEverywhere(record.name)
        }
        // Its name is too long for a file, and its text is not read.
        guard record.name.utf8.count <= ServerLimits.nameBytes - 5 else { return }
        let error = #expect(throws: RecordError.self) { try a.save(record.name, record.text) }
        #expect(error?.code == refusal)
        #expect(error?.message.isEmpty == false)
        #expect(try a.outbox() == [])
    }

    @Test("one above a limit the server refuses what a program sends", arguments: LimitCase.all)
    func aboveAtServer(_ limit: LimitCase) async throws {
        // A mount leaves room in a request for what is not the values.
        guard limit.refusal != nil, !limit.name.hasPrefix("escapes"),
            limit.name != "name of a record"
        else { return }
        let record = limit.record(limit.limit + 1)
        let schema = RecordSchema.empty
        var limits = RecordLimits.received
        limits.textBytes = .max
        guard
            let document = try? RecordDocument(
                parsing: Array(record.text.utf8), schema: schema, limits: limits)
        else { return }
        var dictionary = RecordDictionary(
            name: RecordName(record.name), type: RecordTypeName("Note"))
        for field in document.fields {
            dictionary.fields.append(
                WireField(
                    name: field.name,
                    value: WireValue(field.value, asset: { _, _ in nil }), type: field.value.type))
        }
        var request = ModifyRequest(
            items: [.operation(RecordOperation(type: .create, record: dictionary))],
            zone: ZoneIdentifier.defaultZone)
        request.atomic = false
        var writer = AnswerWriter()
        request.write(to: &writer)
        let answer = try await server.call(
            .recordsModify, .private, as: .alice, try JSONParser.parse(writer.bytes))
        let item = answer.json["records"]?.array?.first
        let isRefused = answer.status != 200 || item?["serverErrorCode"] != nil
        #expect(isRefused)
    }

    private func numbers(_ range: Range<Int>) -> String {
        range.map { "\"f\($0)\":\($0)" }.joined(separator: ",")
    }

    @Test("the fields of a type are counted over all its records, on every machine")
    func fieldsOfManyRecords() async throws {
        let most = ServerLimits.fieldsPerType
        try a.save("first", "{\(numbers(0..<most - 50))}")
        try a.save("second", "{\(numbers(100..<most))}")
        for name in ["first", "second"] { try await expectEverywhere(name) }
        for replica in [a, b] {
            let error = #expect(throws: RecordError.self) { try replica.save("third", #"{"g":1}"#) }
            #expect(error?.code == .tooLarge)
            #expect(try replica.outbox() == [])
        }
        try b.save("third", #"{"f7":1}"#)
        try await b.sync()
        try await expectEverywhere("third")
    }

    @Test("a long value is in the last field of a type, too: the way it goes takes no other field")
    func longValueOfFullType() async throws {
        let most = ServerLimits.fieldsPerType
        let text = String(repeating: "k", count: ServerLimits.recordBytes + 1)
        try a.save("x", "{\(numbers(1..<most)),\"a\":\"\(text)\"}")
        try await expectEverywhere("x")
        #expect(try await assets(of: recordOfServer("x")).map(\.description) == ["a_ckAsset"])
        try b.save("x", "{\(numbers(1..<most)),\"a\":\"short\"}")
        try await b.sync()
        try await expectEverywhere("x")
        #expect(try await assets(of: recordOfServer("x")).isEmpty)
    }

    @Test(
        "in a zone that no server has, the limits of servers do not hold", arguments: LimitCase.all)
    func local(_ limit: LimitCase) throws {
        guard limit.refusal == .tooLarge, limit.name != "fields of a type" else { return }
        let record = limit.record(limit.limit + 1)
        try a.save(record.name, record.text, zone: "Here", in: .local)
    }

    // MARK: Long values

    @Test("long values are the same everywhere, byte for byte", arguments: LimitCase.long)
    func long(_ limit: LimitCase) async throws {
        let record = limit.record(limit.limit)
        try a.save(record.name, record.text)
        try await expectEverywhere(record.name)
        let there = try await recordOfServer(record.name)
        let twins = assets(of: there)
        #expect(!twins.isEmpty)
        for name in twins {
            let field = try #require(name.field)
            let value = try #require(there.fields.first { $0.name == field }?.value)
            #expect(value.countedBytes == 0, "\(field) stands in \(name)")
        }
    }

    private static func text(_ letter: Character, _ count: Int, n: Int = 1) -> String {
        "{\"a\":\"\(String(repeating: letter, count: count))\",\"n\":\(n)}"
    }

    @Test("a long value is sent and fetched once, whatever else is edited")
    func once() async throws {
        try a.save("x", Self.text("k", 2_000_000))
        for replica in [a, b, a] { try await replica.sync() }
        let sent = a.wire.uploadedBytes
        #expect(sent == 2_000_000)
        try a.save("x", Self.text("k", 2_000_000, n: 2))
        for replica in [a, b] { try await replica.sync() }
        #expect(try b.text("x") == Self.text("k", 2_000_000, n: 2))
        try b.save("x", Self.text("k", 2_000_000, n: 3))
        for replica in [b, a] { try await replica.sync() }
        #expect(try a.text("x") == Self.text("k", 2_000_000, n: 3))
        #expect(a.wire.uploadedBytes == sent && b.wire.uploadedBytes == 0)
    }

    @Test("a long value that becomes short, empty, or is removed leaves no asset behind")
    func shorter() async throws {
        for text in [Self.text("s", 10), Self.text("s", 0), #"{"n":1}"#, #"{"a":5,"n":1}"#] {
            let name = "x\(text.utf8.count)"
            let isOtherType = text.contains("5")
            try a.save(name, Self.text("k", 1_500_000), zone: isOtherType ? "Cup" : "Box")
            if isOtherType { continue }
            for replica in [a, b] { try await replica.sync() }
            try b.save(name, text)
            for replica in [b, a] { try await replica.sync() }
            let there = try await recordOfServer(name)
            #expect(assets(of: there).isEmpty)
            #expect(try a.text(name) == text)
        }
    }

    @Test("both sides edit a record with a long value, and have both edits")
    func merged() async throws {
        let lines = (0..<200_000).map { "line \($0)" }.joined(separator: #"\n"#)
        try a.save("x", "{\"a\":\"\(lines)\",\"n\":1}")
        for replica in [a, b] { try await replica.sync() }
        try a.save(
            "x", "{\"a\":\"\(lines.replacing("line 7\\", with: "line seven\\"))\",\"n\":1}")
        try b.save("x", "{\"a\":\"\(lines)\",\"n\":2}")
        for replica in [a, b, a, b] { try await replica.sync() }
        let expected =
            "{\"a\":\"\(lines.replacing("line 7\\", with: "line seven\\"))\",\"n\":2}"
        for replica in [a, b] {
            let isSame = try replica.text("x") == expected
            #expect(isSame)
            #expect(try replica.outbox() == [])
        }
    }

    @Test("what any program has written as an empty field and its asset is a value here")
    func otherProgram() async throws {
        let program = try Replica(server) { $0.hasExtensions = false }
        try program.save("x", Self.text("k", 1_200_000))
        try await program.sync()
        try await a.sync()
        #expect(try a.text("x")?.utf8.count == program.text("x")?.utf8.count)
        try a.save("x", Self.text("j", 1_300_000))
        try await a.sync()
        try await program.sync()
        #expect(try program.file("x")?.contains(String(repeating: "j", count: 1_300_000)) == true)
    }

    @Test("the asset in which an app has kept a short value goes when another value is written")
    func shortAsset() async throws {
        let program = try Replica(server) { $0.hasExtensions = false }
        try program.save("x", #"{"CD_entityName":"Note","CD_note":"none"}"#)
        try program.attach(
            Array("from an asset".utf8), to: "x", "CD_note_ckAsset", fileExtension: "txt")
        try await program.sync()
        try await OtherClient(server: server).send(
            "forceUpdate", "x", ["CD_note": ["value": ""]])
        #expect(try await assets(of: recordOfServer("x")) == [FieldName("CD_note_ckAsset")])
        try await a.sync()
        #expect(try a.text("x") == #"{"CD_entityName":"Note","CD_note":"from an asset"}"#)
        try a.save("x", #"{"CD_entityName":"Note","CD_note":"s"}"#)
        try await a.sync()
        #expect(try await assets(of: recordOfServer("x")).isEmpty)
        try await expectEverywhere("x")
    }

    @Test("a field of one's own beside a long one has its name, and another value goes")
    func ownTwin() async throws {
        let long = String(repeating: "k", count: 900_000)
        try a.save("x", "{\"a\":\"\(long)\",\"a_ckAsset\":\"mine\",\"b\":\"\(long)\"}")
        try await expectEverywhere("x")
        let there = try await recordOfServer("x")
        #expect(assets(of: there) == [FieldName("b_ckAsset")])
    }

    @Test("what can never be a record there is refused here, with its reason")
    func never() async throws {
        let cases: [(String, String, RecordError.Code)] = [
            ("_mine", "{}", .invalidName),
            ("cloudkit.zoneshare", "{}", .invalidName),
            ("x", #"{"a":{"$ref":"y","zone":"Cup","action":"DELETE_SELF"}}"#, .invalidRecord),
            ("x", #"{"a":[{"$ref":"y","zone":"Cup","action":"VALIDATE"}]}"#, .invalidRecord),
            ("x", #"{"$parent":"x"}"#, .invalidRecord),
        ]
        for (name, text, code) in cases {
            let error = #expect(throws: RecordError.self) { try a.save(name, text) }
            #expect(error?.code == code, "\(name) \(text)")
        }
        let far = String(repeating: "k", count: 300)
        for text in ["{\"a\":{\"$ref\":\"\(far)\"}}", "{\"$parent\":\"\(far)\"}"] {
            let error = #expect(throws: RecordError.self) { try a.save("x", text) }
            #expect(error?.message.contains("this one, of 300 bytes, is none") == true)
        }
        try a.save("p", "{}")
        try a.save("q", #"{"$parent":"p"}"#)
        let error = #expect(throws: RecordError.self) { try a.save("p", #"{"$parent":"q"}"#) }
        #expect(error?.code == .invalidRecord)
        for replica in [a, b] { try await replica.sync() }
        #expect(try a.outbox() == [])
        #expect(try b.names() == ["p", "q"])
    }

    @Test("what the server refuses all the same is a failed export")
    func failedExport() async throws {
        let small = try await TestServer { $0.service.recordBytes = 5_000 }
        let replica = try Replica(small)
        try replica.save("x", "{\"a\":[\"\(String(repeating: "k", count: 6_000))\"]}")
        try await replica.sync()
        let events = try replica.store.syncState.syncEvents(after: 0, limit: 100)
        let failed = events.filter { $0.kind == .export && $0.error != nil }
        #expect(failed.count == 1)
        #expect(failed.first?.error?.contains("5000") == true)
    }
}
