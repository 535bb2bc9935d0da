import RecordModel
import RecordWire
import Testing

@Suite("Bodies of records/modify") struct ModifyRequestTests {
    private static func item(
        _ operation: String, _ record: String, isStrict: Bool = false
    ) throws -> ModifyRequest.Item {
        let json = #"{"operations":[{"operationType":"\#(operation)","record":\#(record)}]}"#
        let request = try ModifyRequest(
            try body(json), limits: RequestLimits(isStrict: isStrict))
        return try #require(request.items.first)
    }

    private static func isAccepted(_ item: ModifyRequest.Item) -> Bool {
        if case .operation = item { true } else { false }
    }

    @Test("all keys arrive")
    func keys() throws {
        let request = try ModifyRequest(try body(RequestSample.modify.text))
        #expect(request.zone == ZoneIdentifier(zone: "Work"))
        #expect(request.atomic == true)
        #expect(request.projection.desiredKeys == ["a"])
        #expect(request.projection.numbersAsStrings)
        #expect(request.operationID == "op-1")
        #expect(request.wantsSyncToken)
        guard case .operation(let first)? = request.items.first,
            case .operation(let second)? = request.items.last
        else { throw ServerError(.internalError, "malformed") }
        #expect(first.type == .create)
        #expect(first.record.name == "n")
        #expect(first.record.type == "Note")
        #expect(first.record.parent == .record("p"))
        #expect(first.record.createShortGUID)
        #expect(first.record.fields.count == 10)
        #expect(first.record.fields.first?.stamp == "1")
        #expect(first.record.share == nil)
        #expect(second.type == .update)
        #expect(second.record.changeTag == "1g")
        #expect(second.record.parent == .unchanged)
    }

    @Test("a share's keys arrive, with the type in any case")
    func shareKeys() throws {
        let text = RequestSample.shareModify.text.replacing(
            "cloudkit.share", with: "cloudKit.share")
        let request = try ModifyRequest(try body(text))
        guard case .operation(let operation)? = request.items.first else {
            throw ServerError(.internalError, "malformed")
        }
        let share = try #require(operation.record.share)
        #expect(operation.record.type == .share)
        #expect(share.root == "n")
        #expect(share.rootChangeTag == "4")
        #expect(share.publicPermission == SharePermission.none)
        let participant = try #require(share.participants?.first)
        #expect(participant.participantID == "p")
        #expect(participant.permission == .readWrite)
        #expect(participant.lookup.emailAddress == "b@example.org")
        #expect(participant.lookup.userName == "_b")
        #expect(operation.record.fields.map(\.name) == ["cloudkit.title"])
    }

    @Test(
        "each operation needs its keys",
        arguments: [
            ("create", #"{"recordType":"N"}"#, true), ("create", #"{"recordName":"n"}"#, false),
            ("create", #"{"recordType":"N","recordName":"_n"}"#, false),
            ("update", #"{"recordName":"n","recordChangeTag":"1"}"#, true),
            ("update", #"{"recordName":"n"}"#, true),
            ("update", #"{"recordChangeTag":"1"}"#, false),
            ("forceUpdate", #"{"recordName":"n","recordType":"N"}"#, true),
            ("forceUpdate", #"{"recordName":"n"}"#, false),
            ("forceUpdate", #"{"recordType":"N"}"#, false),
            ("forceUpdate", #"{"recordName":"_n","recordType":"N"}"#, false),
            ("forceUpdate", #"{"recordName":"_n","recordType":"Users"}"#, true),
            ("replace", #"{"recordName":"n","recordChangeTag":"1"}"#, true),
            ("replace", #"{"recordName":"n"}"#, true), ("replace", "{}", false),
            ("forceReplace", #"{"recordName":"n","recordType":"N"}"#, true),
            ("forceReplace", #"{"recordName":"n"}"#, false),
            ("delete", #"{"recordName":"n"}"#, true),
            ("delete", #"{"recordChangeTag":"1"}"#, false),
            ("forceDelete", #"{"recordName":"n"}"#, true), ("forceDelete", "{}", false),
            ("upsert", #"{"recordName":"n","recordType":"N"}"#, false),
            ("CREATE", #"{"recordName":"n","recordType":"N"}"#, false),
        ])
    func needs(_ operation: String, _ record: String, _ isAccepted: Bool) throws {
        #expect(Self.isAccepted(try Self.item(operation, record)) == isAccepted)
    }

    @Test(
        "strict: update, replace and delete need the tag",
        arguments: ["update", "replace", "delete"])
    func strictTags(_ operation: String) throws {
        let bare = try Self.item(operation, #"{"recordName":"n"}"#, isStrict: true)
        #expect(!Self.isAccepted(bare))
        let tagged = #"{"recordName":"n","recordChangeTag":"1"}"#
        #expect(Self.isAccepted(try Self.item(operation, tagged, isStrict: true)))
    }

    @Test("a malformed operation fails alone, with its record's name and its place")
    func malformed() throws {
        let request = try ModifyRequest(
            try body(
                """
                {"operations":[
                  {"operationType":"create","record":{"recordType":"N","recordName":"a"}},
                  {"operationType":"create","record":{"recordType":"N","recordName":"b",
                    "fields":{"photo":{"type":"INT64","value":"x"}}}},
                  {"operationType":"create","record":{"recordType":"N","recordName":"c\\n"}},
                  "nothing"]}
                """))
        #expect(request.items.count == 4)
        #expect(Self.isAccepted(request.items[0]))
        guard case .malformed(let name, let error) = request.items[1] else {
            throw ServerError(.internalError, "accepted")
        }
        #expect(name == "b")
        #expect(error.code == .badRequest)
        #expect(error.reason.contains("operations[1].record.fields.photo.value"))
        for item in request.items[2...] {
            guard case .malformed(nil, _) = item else {
                throw ServerError(.internalError, "accepted, or a name that cannot be echoed")
            }
        }
    }

    @Test(
        "a malformed envelope fails as a whole",
        arguments: [
            "[]", "null", "{}", #"{"operations":{}}"#, #"{"operations":null}"#,
            #"{"operations":[],"atomic":1}"#, #"{"operations":[],"zoneID":"Z"}"#,
            #"{"operations":[],"desiredKeys":"a"}"#, #"{"operations":[],"operationID":""}"#,
            #"{"operations":[],"numbersAsStrings":true,"numberAsStrings":false}"#,
        ])
    func envelope(_ json: String) {
        #expect(refusal { try ModifyRequest(try body(json)) }?.code == .badRequest)
    }

    @Test("an operation ID has at most 128 bytes")
    func operationID() throws {
        let longest = String(repeating: "o", count: 128)
        let json = #"{"operations":[],"operationID":"\#(longest)"}"#
        #expect(try ModifyRequest(try body(json)).operationID == Text(longest))
        let longer = json.replacing(longest, with: longest + "o")
        #expect(refusal { try ModifyRequest(try body(longer)) } != nil)
    }

    @Test(
        "field names are a letter and then letters, digits and _",
        arguments: [
            ("a", true), ("A_9", true), ("_a", false), ("___createTime", false), ("9", false),
            ("a.b", false), ("", false), ("a b", false), ("é", false), ("cloudkit.title", false),
            ("__proto__", false), (String(repeating: "a", count: 255), true),
            (String(repeating: "a", count: 256), false),
        ])
    func fieldNames(_ name: String, _ isAccepted: Bool) throws {
        let record = #"{"recordType":"N","fields":{"\#(name)":{"value":1}}}"#
        #expect(Self.isAccepted(try Self.item("create", record)) == isAccepted)
    }

    @Test("the parent is unchanged when absent, and cleared by null or a nameless reference")
    func parents() throws {
        let cases: [(String, RecordDictionary.Parent)] = [
            ("", .unchanged), (#","parent":null"#, .cleared), (#","parent":{}"#, .cleared),
            (#","parent":{"recordName":null}"#, .cleared),
            (#","parent":{"recordName":"p"}"#, .record("p")),
        ]
        for (json, expected) in cases {
            let record = try RecordDictionary(try body(#"{"recordName":"n"\#(json)}"#))
            #expect(record.parent == expected)
        }
    }

    @Test("what only the server says is read over")
    func serverKeys() throws {
        let plain = try RecordDictionary(try body(#"{"recordName":"n"}"#))
        let echoed = try RecordDictionary(
            try body(
                """
                {"recordName":"n","created":{"timestamp":1},"modified":7,"deleted":true,
                 "share":{"recordName":"s"},"shortGUID":"g","pluginFields":{},"owner":{},
                 "zoneID":{"zoneName":"Z"},"stableUrl":[],"currentUserParticipant":{}}
                """))
        #expect(plain == echoed)
    }

    @Test("a participant that names nobody is refused")
    func nobody() {
        for json in ["{}", #"{"userIdentity":{}}"#, #"{"userIdentity":{"lookupInfo":{}}}"#] {
            #expect(refusal { try ParticipantDictionary(try body(json)) }?.code == .badRequest)
        }
    }
}
