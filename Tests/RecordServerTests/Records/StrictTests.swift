import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What a server refuses that was started as `strict`, and takes otherwise.
@Suite struct StrictTests {
    private let strict: TestServer
    private let usual: TestServer

    init() async throws {
        strict = try await TestServer { $0.service.isStrict = true }
        usual = try await TestServer()
        for server in [strict, usual] { try await server.makeZone("Z") }
    }

    /// What both say to a request.
    private func codes(
        _ endpoint: Endpoint, _ body: JSONValue
    ) async throws -> [String] {
        var codes: [String] = []
        for server in [strict, usual] {
            let answer = try await server.call(endpoint, .private, as: .alice, body)
            let items = ["records", "subscriptions"].lazy.compactMap { answer.json[$0]?.array }
            codes.append(
                answer.code ?? items.first?.first?["serverErrorCode"]?.string?.string ?? "taken")
        }
        return codes
    }

    private func save(_ field: JSONValue) async throws -> [String] {
        try await codes(
            .recordsModify,
            [
                "zoneID": ["zoneName": "Z"],
                "operations": [
                    [
                        "operationType": "forceReplace",
                        "record": [
                            "recordName": "n-1", "recordType": "Note", "fields": ["f": field],
                        ],
                    ]
                ],
            ])
    }

    @Test(
        "values without their type, true and false, and fractions of milliseconds",
        arguments: [
            (["value": "x"], "x"), (["value": 1], "1"), (["value": ["x"]], "list"),
            (["value": true, "type": "INT64"], "true"),
            (["value": .fraction(0.5), "type": "TIMESTAMP"], "fraction"),
            (["value": ["recordName": "n-1"], "type": "REFERENCE"], "without action"),
        ] as [(JSONValue, String)])
    func values(field: JSONValue, name: String) async throws {
        #expect(try await save(field) == ["BAD_REQUEST", "taken"], "\(name)")
    }

    @Test("names of records that are not of ASCII")
    func names() async throws {
        let codes = try await codes(
            .recordsLookup,
            ["zoneID": ["zoneName": "Z"], "records": [["recordName": "é"]]])
        #expect(codes == ["BAD_REQUEST", "NOT_FOUND"])
    }

    @Test(
        "values as Apple's reference has them are taken",
        arguments: [
            ["value": "x", "type": "STRING"], ["value": .null], ["value": .null, "type": "STRING"],
            ["value": [], "type": "UNKNOWN_LIST"], ["value": ["x"], "type": "STRING_LIST"],
            ["value": 1, "type": "TIMESTAMP"],
            ["value": ["latitude": 1, "longitude": 2, "timestamp": 3], "type": "LOCATION"],
            [
                "value": ["recordName": "n-1", "zoneID": ["zoneName": "Z"], "action": "NONE"],
                "type": "REFERENCE",
            ],
        ] as [JSONValue])
    func documentedValues(field: JSONValue) async throws {
        #expect(try await save(field) == ["taken", "taken"])
    }

    @Test(
        "keys that are not in Apple's reference, with the way to them",
        arguments: [
            (.recordsModify, ["operations": [], "operationID": "x"], "operationID"),
            (.recordsModify, ["operations": [], "opensNumbers": true], "opensNumbers"),
            (
                .recordsModify,
                [
                    "operations": [
                        [
                            "operationType": "create",
                            "record": [
                                "recordType": "Note",
                                "fields": [
                                    "f": ["value": "x", "type": "STRING", "modified": "1.1"]
                                ],
                            ],
                        ]
                    ]
                ], "operations[0].record.fields.f.modified"
            ),
            (
                .recordsLookup, ["records": [], "wantsAssetDetails": true], "wantsAssetDetails"
            ),
            (
                .changesZone, ["zones": [["zoneID": ["zoneName": "Z"], "wantsFileText": true]]],
                "zones[0].wantsFileText"
            ),
            (.changesDatabase, ["extendedLimits": true], "extendedLimits"),
            (
                .recordsQuery,
                ["query": ["recordType": "Note"], "zoneID": ["zoneName": "Z", "zone": "Z"]],
                "zoneID.zone"
            ),
            (.zonesLookup, ["zones": [["zoneName": "Z", "x": 1]]], "zones[0].x"),
            (.tokensCreate, ["apnsEnvironment": "development", "x": 1], "x"),
            (.assetsUpload, ["tokens": [], "x": 1], "x"),
        ] as [(Endpoint, JSONValue, String)])
    func keys(endpoint: Endpoint, body: JSONValue, path: String) async throws {
        let refused = try await strict.call(endpoint, .private, as: .alice, body)
        #expect(refused.code == "BAD_REQUEST")
        let reason = refused.json["reason"]?.string?.string ?? ""
        #expect(reason.hasPrefix("\(path) is no key of Apple's reference"), "\(reason)")
        let taken = try await usual.call(endpoint, .private, as: .alice, body)
        #expect(taken.json["reason"]?.string?.string.contains("no key") != true, "\(taken.text)")
    }

    @Test("subscriptions of a database, which Apple's reference does not have")
    func databaseSubscription() async throws {
        let body: JSONValue = [
            "operations": [
                [
                    "operationType": "create",
                    "subscription": ["subscriptionID": "s", "subscriptionType": "database"],
                ]
            ]
        ]
        #expect(try await codes(.subscriptionsModify, body) == ["BAD_REQUEST", "taken"])
    }

    @Test("a conflict has no record of the server's in it")
    func conflicts() async throws {
        for (server, hasRecord) in [(strict, false), (usual, true)] {
            let name: JSONValue = ["recordName": "c", "recordType": "Note"]
            let create: JSONValue = ["operationType": "create", "record": name]
            try await server.modify("Z", create)
            let answer = try await server.modify("Z", create)
            #expect(answer.records.first?["serverErrorCode"] == "CONFLICT")
            #expect((answer.records.first?["serverRecord"] != nil) == hasRecord)
        }
    }

    @Test("more than 200 operations, by every server")
    func operations() async throws {
        let operation: JSONValue = ["operationType": "forceDelete", "record": ["recordName": "n"]]
        let body: JSONValue = ["operations": .array(Array(repeating: operation, count: 201))]
        #expect(
            try await codes(.recordsModify, body) == ["LIMIT_EXCEEDED", "LIMIT_EXCEEDED"])
    }

    @Test("two requests with one web auth token")
    func tokens() async throws {
        for (server, statuses) in [(strict, [200, 421]), (usual, [200, 200])] {
            let path = try await server.target(.zonesList)
            async let one = server.request(.get, path).status
            async let other = server.request(.get, path).status
            #expect(try await [one, other].sorted() == statuses)
        }
    }

    @Test("an asset as it was fetched, and one without its keys")
    func assets() async throws {
        for isStrict in [true, false] {
            let fixture = try await AssetFixture { $0.service.isStrict = isStrict }
            let uploaded = try await fixture.upload([1, 2, 3])
            func save(_ asset: WireAsset) async throws -> String {
                var answer = AnswerWriter()
                asset.write(to: &answer)
                let value = try JSONParser.parse(answer.bytes)
                let saved = try await fixture.server.modify(
                    "Work",
                    [
                        "operationType": "forceUpdate",
                        "record": [
                            "recordName": "n-1", "recordType": "Note",
                            "fields": ["photo": ["value": value, "type": "ASSETID"]],
                        ],
                    ])
                return saved.records.first?["serverErrorCode"]?.string?.string ?? "taken"
            }
            let refused = isStrict ? "BAD_REQUEST" : "taken"
            var bare = uploaded
            bare.wrappingKey = nil
            #expect(try await save(bare) == refused)
            #expect(try await save(uploaded) == "taken")
            let found = try await fixture.server.lookup("Work", "n-1")
            let json = try #require(found.records.first?["fields"]?["photo"]?["value"])
            var fetched = try AssetFixture.asset(json)
            fetched.downloadURL = json["downloadURL"]?.string
            #expect(fetched.downloadURL != nil)
            #expect(try await save(fetched) == refused)
        }
    }
}
