import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Assets of records") struct AssetEndToEndTests {
    private let fixture: AssetFixture

    init() async throws { fixture = try await AssetFixture() }

    private static func value(_ asset: WireAsset) -> JSONValue {
        var members: [JSONMember] = [
            JSONMember(key: "fileChecksum", value: .string(asset.fileChecksum)),
            JSONMember(key: "size", value: JSONValue(asset.size)),
        ]
        for (key, text) in [
            ("receipt", asset.receipt), ("wrappingKey", asset.wrappingKey),
            ("referenceChecksum", asset.referenceChecksum),
        ] as [(Text, Text?)] {
            if let text { members.append(JSONMember(key: key, value: .string(text))) }
        }
        return .object(members)
    }

    /// The item of one operation that sets one field.
    private func save(
        _ value: JSONValue, _ operation: String = "forceUpdate", record: String = "n-1",
        field: Text = "photo", _ more: [JSONMember] = []
    ) async throws -> JSONValue {
        let fields = JSONValue.object([JSONMember(key: field, value: ["value": value])] + more)
        let answer = try await fixture.server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"], "atomic": false,
                "operations": [
                    [
                        "operationType": JSONValue(operation),
                        "record": [
                            "recordName": JSONValue(record), "recordType": "Note",
                            "fields": fields,
                        ],
                    ]
                ],
            ])
        return answer.json["records"]?.array?.first ?? answer.json
    }

    private func get(_ value: JSONValue?) async throws -> [UInt8] {
        let url = try #require(value?["downloadURL"]?.string)
        return try await fixture.server.request(.get, try AssetFixture.path(url)).body
    }

    @Test("an asset is brought, saved, looked up and got back")
    func wholeWay() async throws {
        let asset = try await fixture.upload(pattern(70_000))
        let saved = try await save(Self.value(asset))
        let field = try #require(saved["fields"]?["photo"], "\(saved)")
        #expect(field["type"]?.string == "ASSETID")
        let keys = try #require(field["value"]?.object).map(\.key.string).sorted()
        #expect(keys == ["downloadURL", "fileChecksum", "size"])
        #expect(try await get(field["value"]) == pattern(70_000))
        let found = try await fixture.server.call(
            .recordsLookup, .private, as: .alice,
            ["zoneID": ["zoneName": "Work"], "records": [["recordName": "n-1"]]])
        let record = try #require(found.json["records"]?.array?.first)
        #expect(try await get(record["fields"]?["photo"]?["value"]) == pattern(70_000))
        #expect(
            record["fields"]?["photo"]?["value"]?["downloadURL"]?.string?.string.hasSuffix("/${f}")
                == true)
    }

    @Test("a value without receipt is refused by name, and what was fetched may be sent back")
    func receipts() async throws {
        let asset = try await fixture.upload(pattern(100))
        let bare = WireAsset(fileChecksum: asset.fileChecksum, size: asset.size)
        let refused = try await save(Self.value(bare))
        #expect(refused["serverErrorCode"]?.string == "BAD_REQUEST")
        #expect(
            refused["reason"]?.string?.string.contains("operations[0].record.fields.photo")
                == true, "\(refused)")
        _ = try await save(Self.value(asset))
        let again = try await save(
            Self.value(bare), "forceUpdate", [JSONMember(key: "title", value: ["value": "x"])])
        #expect(again["serverErrorCode"] == nil, "\(again)")
        let elsewhere = try await save(Self.value(bare), record: "n-2")
        #expect(elsewhere["serverErrorCode"]?.string == "BAD_REQUEST")
        let twice = try await save(Self.value(asset))
        #expect(twice["serverErrorCode"] == nil)
    }

    @Test(
        "an asset is no path and no URL",
        arguments: [
            ["fileChecksum": "../../etc/passwd", "size": 1, "receipt": "x"],
            ["fileChecksum": "file:///etc/passwd", "size": 1],
            ["fileChecksum": "AQ==", "size": -1, "receipt": "x"],
            ["fileChecksum": "AQ==", "size": "1"], ["fileChecksum": "AQ=="],
            ["downloadURL": "http://127.0.0.1/"],
        ] as [JSONValue])
    func strange(_ value: JSONValue) async throws {
        let item = try await save(value)
        let code = item["serverErrorCode"]?.string
        #expect(code == "BAD_REQUEST", "\(item)")
        #expect(try await fixture.files == [])
    }

    @Test("rereferenced bytes live on in another record")
    func copied() async throws {
        let asset = try await fixture.upload(pattern(500))
        _ = try await save(Self.value(asset))
        let answer = try await fixture.server.call(
            .assetsRereference, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"],
                "assets": [["recordName": "n-1", "fieldName": "photo"]],
            ])
        let writable = try AssetFixture.asset(try #require(answer.json["assets"]?.array?.first))
        let copy = try await save(Self.value(writable), "create", record: "n-2")
        #expect(copy["serverErrorCode"] == nil, "\(copy)")
        _ = try await fixture.server.call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"],
                "operations": [
                    ["operationType": "forceDelete", "record": ["recordName": "n-1"]]
                ],
            ])
        fixture.server.clock.advance(.seconds(2 * 24 * 3600))
        try await AssetSweeper(
            storage: fixture.server.storage, assets: fixture.service.assets,
            receiptSeconds: 60
        ).sweep(now: fixture.server.clock.now)
        let found = try await fixture.server.call(
            .recordsLookup, .private, as: .alice,
            ["zoneID": ["zoneName": "Work"], "records": [["recordName": "n-2"]]])
        let record = try #require(found.json["records"]?.array?.first)
        #expect(try await get(record["fields"]?["photo"]?["value"]) == pattern(500))
    }

    @Test("a list of assets keeps its order and has a URL for each")
    func list() async throws {
        var assets: [WireAsset] = []
        for seed in 1...3 {
            assets.append(try await fixture.upload(pattern(50, seed: UInt64(seed)), field: "all"))
        }
        let saved = try await save(
            .array(assets.map(Self.value)), "create", field: "all")
        let values = try #require(saved["fields"]?["all"]?["value"]?.array, "\(saved)")
        #expect(saved["fields"]?["all"]?["type"]?.string == "ASSETID_LIST")
        for (seed, value) in zip(1..., values) {
            #expect(try await get(value) == pattern(50, seed: UInt64(seed)))
        }
        let shorter = try await save(
            .array([Self.value(assets[2])]), field: "all")
        #expect(shorter["fields"]?["all"]?["value"]?.array?.count == 1)
        let gone = try AssetFixture.path(try #require(values[0]["downloadURL"]?.string))
        #expect(try await fixture.server.request(.get, gone).status == 404)
    }

    @Test("a batch that fails leaves the bytes to the sweeper")
    func failed() async throws {
        let asset = try await fixture.upload(pattern(100))
        var wrong = asset
        wrong.size = 99
        #expect(
            try await save(Self.value(wrong))["serverErrorCode"]?.string == "BAD_REQUEST")
        #expect(try await fixture.row(asset) != nil)
        fixture.server.clock.advance(.seconds(24 * 3600 + 1))
        try await AssetSweeper(
            storage: fixture.server.storage, assets: fixture.service.assets,
            receiptSeconds: fixture.service.settings.receiptSeconds
        ).sweep(now: fixture.server.clock.now)
        #expect(try await fixture.files == [])
    }
}
