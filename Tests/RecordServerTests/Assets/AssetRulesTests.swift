import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Receipts of assets") struct AssetRulesTests {
    private let fixture: AssetFixture

    init() async throws { fixture = try await AssetFixture() }

    private func verify(
        _ asset: WireAsset, current: [WireAsset] = [], record: String = "n-1",
        field: String = "photo", as person: TestServer.Person = .alice,
        _ scope: DatabaseScope = .private,
        zone: ZoneIdentifier = ZoneIdentifier(zone: ZoneName("Work"))
    ) async throws -> WireAsset {
        let context = try await fixture.context(person, scope)
        let service = fixture.service
        return try await fixture.server.storage.write { (transaction) throws(ServerError) in
            try AssetRules.verify(
                asset, current: current, record: RecordName(record), field: FieldName(field),
                access: try ZoneAccess.open(zone, context, transaction), context: context,
                resources: service.resources, reader: transaction)
        }
    }

    private func refused(
        _ asset: WireAsset, record: String = "n-1", field: String = "photo",
        as person: TestServer.Person = .alice, _ scope: DatabaseScope = .private,
        zone: ZoneIdentifier = ZoneIdentifier(zone: ZoneName("Work")),
        _ location: SourceLocation = #_sourceLocation
    ) async {
        let error = await #expect(throws: ServerError.self, sourceLocation: location) {
            _ = try await verify(asset, record: record, field: field, as: person, scope, zone: zone)
        }
        #expect(error?.code == .badRequest, sourceLocation: location)
    }

    @Test("a value with its receipt is taken, twice as well, and keeps checksums and size only")
    func good() async throws {
        let asset = try await fixture.upload(pattern(4096))
        #expect(asset.size == 4096)
        let checksum = try #require(Base64.decode(asset.fileChecksum.utf8))
        #expect(checksum.count == 21 && checksum[0] == 1)
        for _ in 0..<2 {
            let stored = try await verify(asset)
            #expect(stored == WireAsset(SHA256.hash(pattern(4096)), size: 4096))
        }
        var bare = asset
        (bare.wrappingKey, bare.referenceChecksum) = (nil, nil)
        #expect(try await verify(bare).size == 4096)
    }

    @Test(
        "an ending that no file name should have is refused",
        arguments: [
            "", "a/b", "a\u{0}b", "exe\u{202E}gpj", "j\npg", "\u{2066}x", "\u{85}",
            String(repeating: "x", count: 65),
        ])
    func badEnding(_ ending: String) async throws {
        var asset = try await fixture.upload(pattern(4096))
        asset.fileExtension = Text(ending)
        await refused(asset)
        asset.fileExtension = Text(String(repeating: "é", count: 32))
        #expect(try await verify(asset).fileExtension == asset.fileExtension)
    }

    @Test("a receipt is good for its record, field, size, checksum and echoed keys only")
    func bound() async throws {
        let asset = try await fixture.upload(pattern(4096))
        await refused(asset, record: "n-2")
        await refused(asset, field: "other")
        var wrong = asset
        wrong.size = 4095
        await refused(wrong)
        let other = try await fixture.upload(pattern(4096, seed: 2))
        wrong = asset
        wrong.fileChecksum = other.fileChecksum
        await refused(wrong)
        wrong = asset
        wrong.wrappingKey = other.wrappingKey
        await refused(wrong)
        wrong = asset
        wrong.referenceChecksum = other.referenceChecksum
        await refused(wrong)
        wrong = asset
        wrong.receipt = Text(asset.receipt?.string.replacing("A", with: "B") ?? "")
        await refused(wrong)
        wrong.receipt = nil
        await refused(wrong)
        _ = try await verify(asset)
    }

    @Test("a receipt is good for its user and database only")
    func strangers() async throws {
        let asset = try await fixture.upload(pattern(4096))
        try await fixture.put([asset], share: "s")
        try await fixture.share("s", .readWrite)
        let shared = ZoneIdentifier(zone: ZoneName("Work"), owner: AssetFixture.alice)
        await refused(asset, as: .bob, .shared, zone: shared)
        await refused(asset, as: .bob, zone: .defaultZone)
        await refused(asset, .public, zone: .defaultZone)
        _ = try await verify(asset, zone: .defaultZone)
    }

    @Test("a participant's receipt is for the owner's database")
    func participant() async throws {
        try await fixture.put([], share: "s")
        try await fixture.share("s", .readWrite)
        let zone: JSONValue = [
            "zoneName": "Work", "ownerRecordName": .string(Text("\(AssetFixture.alice)")),
        ]
        let asset = try await fixture.upload(pattern(9), as: .bob, .shared, zone: zone)
        let shared = ZoneIdentifier(zone: ZoneName("Work"), owner: AssetFixture.alice)
        _ = try await verify(asset, as: .bob, .shared, zone: shared)
        await refused(asset)
        #expect(try await fixture.row(asset) != nil)
    }

    @Test("a receipt ends after a day")
    func expiry() async throws {
        let asset = try await fixture.upload(pattern(4096))
        fixture.server.clock.advance(.seconds(24 * 3600))
        _ = try await verify(asset)
        fixture.server.clock.advance(.milliseconds(1))
        await refused(asset)
    }

    @Test("what the field holds already needs no receipt, one of a list as well")
    func current() async throws {
        let asset = try await fixture.upload(pattern(4096))
        let fetched = WireAsset(fileChecksum: asset.fileChecksum, size: asset.size)
        let other = WireAsset(fileChecksum: "AAAA", size: 1)
        #expect(try await verify(fetched, current: [other, fetched]) == fetched)
        await refused(fetched)
        var longer = fetched
        longer.size += 1
        let error = await #expect(throws: ServerError.self) {
            _ = try await verify(longer, current: [fetched])
        }
        #expect(error?.code == .badRequest)
    }

    @Test("rereference gives values for any record of the database, for the same user")
    func rereference() async throws {
        let one = try await fixture.upload(pattern(100))
        let two = try await fixture.upload(pattern(200), field: "gallery")
        try await fixture.put([one])
        try await fixture.put([two, one], record: "n-9", field: "gallery")
        let answer = try await fixture.server.call(
            .assetsRereference, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"],
                "assets": [
                    ["recordName": "n-1", "fieldName": "photo"],
                    ["recordName": "n-9", "fieldName": "gallery"],
                    ["recordName": "n-9", "fieldName": "photo"],
                    ["recordName": "none", "fieldName": "photo"],
                ],
            ])
        #expect(answer.status == 200)
        let items = try #require(answer.json["assets"]?.array)
        #expect(items.count == 5)
        let assets = try items.prefix(3).map(AssetFixture.asset)
        #expect(assets.map(\.fileChecksum) == [one, two, one].map(\.fileChecksum))
        #expect(items[1]["recordName"]?.string == "n-9")
        #expect(items[3]["serverErrorCode"]?.string == "NOT_FOUND")
        #expect(items[4]["serverErrorCode"]?.string == "NOT_FOUND")
        for asset in assets {
            _ = try await verify(asset, record: "elsewhere", field: "cover")
            _ = try await verify(asset, record: "elsewhere", zone: .defaultZone)
            await refused(asset, as: .bob, zone: .defaultZone)
            await refused(asset, .public, zone: .defaultZone)
        }
    }

    @Test("rereference keeps the bytes although the record goes")
    func rereferenceKeeps() async throws {
        let asset = try await fixture.upload(pattern(100))
        try await fixture.put([asset])
        fixture.server.clock.advance(.seconds(90 * 3600))
        let answer = try await fixture.server.call(
            .assetsRereference, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"],
                "assets": [["recordName": "n-1", "fieldName": "photo"]],
            ])
        let writable = try AssetFixture.asset(
            try #require(answer.json["assets"]?.array?.first))
        try await fixture.put([])
        fixture.server.clock.advance(.seconds(20 * 3600))
        try await AssetSweeper(
            storage: fixture.server.storage, assets: fixture.service.assets,
            receiptSeconds: fixture.service.settings.receiptSeconds
        ).sweep(now: fixture.server.clock.now)
        _ = try await verify(writable, record: "copy")
        #expect(try await fixture.files.count == 1)
    }

    /// What assets/rereference answers to who names the asset by its checksum.
    private func named(
        _ asset: WireAsset, _ record: JSONValue = "n-1", as person: TestServer.Person = .alice,
        _ scope: DatabaseScope = .private, zone: JSONValue = ["zoneName": "Work"]
    ) async throws -> JSONValue? {
        try await fixture.server.call(
            .assetsRereference, scope, as: person,
            [
                "zoneID": zone,
                "assets": [
                    [
                        "recordName": record, "fieldName": "photo",
                        "fileChecksum": .string(asset.fileChecksum),
                    ]
                ],
            ]
        ).json["assets"]?.array?.first
    }

    @Test("by its checksum the owner of a database gets what a record of it had, of any name")
    func former() async throws {
        let asset = try await fixture.upload(pattern(100))
        try await fixture.put([asset])
        fixture.server.clock.advance(.seconds(90 * 3600))
        for values in [[], [try await fixture.upload(pattern(50, seed: 5))]] {
            try await fixture.put(values)
            for record in ["n-1", "gone"] as [JSONValue] {
                let writable = try AssetFixture.asset(
                    try #require(try await named(asset, record)))
                #expect(writable.fileChecksum == asset.fileChecksum)
                #expect(try await verify(writable, record: "again").size == 100)
            }
        }
        // Without a checksum it is what the field has.
        try await fixture.put([])
        let answer = try await fixture.server.call(
            .assetsRereference, .private, as: .alice,
            [
                "zoneID": ["zoneName": "Work"],
                "assets": [["recordName": "n-1", "fieldName": "photo"]],
            ])
        #expect(answer.json["assets"]?.array?.first?["serverErrorCode"]?.string == "NOT_FOUND")
    }

    @Test("a checksum gives nobody an upload that was not saved, nor what is another's")
    func formerOfOthers() async throws {
        let unsaved = try await fixture.upload(pattern(100))
        #expect(try await named(unsaved)?["serverErrorCode"]?.string == "NOT_FOUND")
        let asset = try await fixture.upload(pattern(200))
        try await fixture.put([asset], share: "s")
        try await fixture.share("s", .readWrite)
        let shared: JSONValue = [
            "zoneName": "Work", "ownerRecordName": .string(Text("\(AssetFixture.alice)")),
        ]
        #expect(try await named(asset, as: .bob, .shared, zone: shared)?["receipt"] != nil)
        try await fixture.put([], share: "s")
        #expect(try await named(asset)?["receipt"] != nil)
        for (person, scope, zone) in [
            (.bob, .shared, shared), (.bob, .private, ["zoneName": "_defaultZone"]),
            (.alice, .public, ["zoneName": "_defaultZone"]),
        ] as [(TestServer.Person, DatabaseScope, JSONValue)] {
            let answer = try await named(asset, as: person, scope, zone: zone)
            #expect(answer?["serverErrorCode"]?.string == "NOT_FOUND", "\(scope)")
            #expect(answer?["receipt"] == nil)
        }
    }

    @Test("bytes that are gone although their row is there are not promised")
    func formerWithoutBytes() async throws {
        let asset = try await fixture.upload(pattern(100))
        let hash = try #require(try await fixture.row(asset)).sha256
        try await fixture.put([asset])
        try await fixture.put([])
        try await fixture.service.assets.remove([hash]) { _ in [] }
        #expect(try await named(asset)?["serverErrorCode"]?.string == "NOT_FOUND")
    }
}
