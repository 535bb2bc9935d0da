import Glibc
import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// A test server with a zone `Work` of alice, and short ways to bring and get assets.
struct AssetFixture {
    let server: TestServer
    static let container = ContainerKey(
        container: TestServer.container, environment: .development)
    static let alice = TestServer.userName("a11ce")
    static let bob = TestServer.userName("b0b")
    static let carol = TestServer.userName("ca701")
    static let work = ZoneKey(
        database: DatabaseKey(container: container, owner: alice), zone: ZoneName("Work"))
    static let everyone = ZoneKey(
        database: DatabaseKey(container: container, owner: .everyone),
        zone: ZoneIdentifier.defaultZone.zone)

    init(
        _ transport: TestServer.Transport = TestServer.usualTransport,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws {
        server = try await TestServer(transport, configure: configure)
        try await server.storage.write { (transaction) throws(ServerError) in
            _ = try transaction.createZone(Self.work, incarnation: 7)
        }
    }

    var service: RecordService { server.service }
    var directory: AssetDirectory {
        get throws { try #require(service.assets as? AssetDirectory) }
    }

    func context(_ person: TestServer.Person = .alice, _ scope: DatabaseScope = .private)
        async throws -> OperationContext
    {
        let user = try await server.storage.read { (reader) throws(ServerError) in
            guard let name = person.user else { return nil as UserRow? }
            return try reader.user(name)
        }
        return OperationContext(
            endpoint: .recordsModify, container: Self.container, scope: scope,
            caller: user.map(Caller.user) ?? .anonymous, requestID: "r", now: server.clock.now,
            baseURL: "http://127.0.0.1")
    }

    // MARK: Bringing

    /// The answer to assets/upload for one field.
    func token(
        _ record: String = "n-1", field: String = "photo", as person: TestServer.Person = .alice,
        _ scope: DatabaseScope = .private, zone: JSONValue = ["zoneName": "Work"]
    ) async throws -> JSONValue {
        let answer = try await server.call(
            .assetsUpload, scope, as: person,
            [
                "zoneID": zone,
                "tokens": [
                    [
                        "recordType": "Note", "recordName": JSONValue(record),
                        "fieldName": JSONValue(field),
                    ]
                ],
            ])
        return answer.json["tokens"]?.array?.first ?? answer.json
    }

    /// The path of an upload URL.
    func uploadPath(
        _ record: String = "n-1", field: String = "photo", as person: TestServer.Person = .alice,
        _ scope: DatabaseScope = .private, zone: JSONValue = ["zoneName": "Work"]
    ) async throws -> String {
        let token = try await token(record, field: field, as: person, scope, zone: zone)
        return try Self.path(try #require(token["url"]?.string, "\(token)"))
    }

    static func path(_ url: Text) throws -> String {
        let rest = url.string.trimmingPrefix("http://")
        return String(rest[try #require(rest.firstIndex(of: "/"))...])
    }

    /// Brings bytes and gives the five keys of the answer.
    func upload(
        _ bytes: [UInt8], _ record: String = "n-1", field: String = "photo",
        as person: TestServer.Person = .alice, _ scope: DatabaseScope = .private,
        zone: JSONValue = ["zoneName": "Work"]
    ) async throws -> WireAsset {
        let path = try await uploadPath(record, field: field, as: person, scope, zone: zone)
        let answer = try await server.request(.post, path, body: bytes)
        #expect(answer.status == 200, "\(answer.text)")
        return try Self.asset(try #require(answer.json["singleFile"]))
    }

    static func asset(_ json: JSONValue) throws -> WireAsset {
        var asset = WireAsset(
            fileChecksum: try #require(json["fileChecksum"]?.string),
            size: try #require(json["size"]?.int64))
        asset.receipt = json["receipt"]?.string
        asset.wrappingKey = json["wrappingKey"]?.string
        asset.referenceChecksum = json["referenceChecksum"]?.string
        return asset
    }

    // MARK: Saving

    /// Puts a record with these assets (a list where there are several) behind the wire's back.
    func put(
        _ assets: [WireAsset], record: String = "n-1", field: String = "photo",
        zone: ZoneKey = work, share: String? = nil, by user: UserName = alice
    ) async throws {
        let values = assets.map { asset in
            WireValue.asset(WireAsset(fileChecksum: asset.fileChecksum, size: asset.size))
        }
        let value = values.count == 1 ? values[0] : WireValue.list(values)
        let now = server.clock.now.nanoseconds / 1_000_000
        let stamp = WriteStamp(milliseconds: now, user: user, device: "")
        try await server.storage.write { (transaction) throws(ServerError) in
            let existing = try transaction.zone(zone)
            var row: ZoneRow
            if let existing {
                row = existing
            } else {
                row = try transaction.createZone(zone, incarnation: 1)
            }
            row.position += 1
            try transaction.updateZone(row)
            var stored = StoredRecord(
                name: RecordName(record), type: RecordTypeName("Note"), tag: row.position,
                position: row.position,
                fields: FieldsCodec.encode(
                    assets.isEmpty
                        ? [] : [WireField(name: FieldName(field), value: value, type: nil)]),
                hasAssets: !assets.isEmpty, created: stamp, modified: stamp)
            stored.share = share.map { RecordName($0) }
            stored.tree = stored.share.map { TreeNumber(of: $0) }
            try transaction.putTestTree(row.handle, stored.share, top: RecordName("n-1"))
            try transaction.put(row.handle, stored)
            try transaction.putAssetReferences(
                row.handle, from: stored.name, assets.map(\.fileChecksum))
        }
    }

    /// Lets bob into the hierarchy of `share` in alice's zone, or takes it away again.
    func share(_ share: String, _ permission: SharePermission?, zone: ZoneKey = work) async throws {
        try await server.storage.write { (transaction) throws(ServerError) in
            guard let permission else {
                try transaction.deleteShare(zone, RecordName(share))
                try transaction.deleteSharedZone(Self.bob, zone, reason: .deleted)
                return
            }
            try transaction.putShare(
                ShareRow(
                    zone: zone, name: RecordName(share), root: RecordName("n-1"),
                    shortGUID: Text("guid-" + share), publicPermission: .none,
                    participants: [
                        ParticipantRow(
                            participantID: "p1", user: Self.bob, lookup: UserLookup(),
                            type: .user, permission: permission, status: .accepted)
                    ]))
            try transaction.putSharedZone(
                SharedZoneRow(
                    viewer: Self.bob, zone: zone, incarnation: 3, shares: [RecordName(share)]))
        }
    }

    // MARK: Getting

    func downloadPath(
        _ asset: WireAsset, record: String = "n-1", field: String = "photo",
        as person: TestServer.Person = .alice, _ scope: DatabaseScope = .private,
        zone: ZoneIdentifier = ZoneIdentifier(zone: ZoneName("Work"))
    ) async throws -> String {
        let context = try await context(person, scope)
        let access = try await server.storage.read { (reader) throws(ServerError) in
            try ZoneAccess.open(zone, context, reader)
        }
        return try Self.path(
            AssetRules.downloadURL(
                asset, record: RecordName(record), field: FieldName(field), access: access,
                context: context, resources: service.resources))
    }

    // MARK: Behind the wire

    /// Names of all files of the asset directory, without folders, when no upload is unfinished:
    /// one lets go of its file some time after its answer.
    var files: [String] {
        get async throws {
            let path = server.assetPath
            let found = Mutex<[String]>([])
            let hasEnded = try await DirectoryChanges.wait(
                in: path + "/tmp", Deadline(seconds: 30)
            ) {
                let now = Self.allFiles(in: path)
                found.withLock { $0 = now }
                return !now.contains(where: Self.isUnfinished)
            }
            try #require(hasEnded, "an upload does not end")
            return found.withLock(\.self)
        }
    }

    /// Returns when the server is in the middle of an upload.
    func waitForUnfinished() async throws {
        let path = server.assetPath
        let hasBegun = try await DirectoryChanges.wait(in: path + "/tmp", Deadline(seconds: 30)) {
            Self.allFiles(in: path).contains(where: Self.isUnfinished)
        }
        try #require(hasBegun, "no upload begins")
    }

    /// The same also while an upload is unfinished.
    var filesNow: [String] { Self.allFiles(in: server.assetPath) }

    private static func allFiles(in path: String) -> [String] {
        names(in: path).flatMap { names(in: path + "/" + $0) }.sorted()
    }

    /// Whole files have the 64 digits of their hash for a name.
    private static func isUnfinished(_ name: String) -> Bool { name.utf8.count == 32 }

    static func names(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    func row(_ asset: WireAsset, _ database: DatabaseKey = work.database) async throws -> AssetRow?
    {
        try await server.storage.read { (reader) throws(ServerError) in
            try reader.asset(database, fileChecksum: asset.fileChecksum)
        }
    }
}

/// Bytes that do not repeat soon.
func pattern(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}
