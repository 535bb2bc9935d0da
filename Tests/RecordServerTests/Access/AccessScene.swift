import HTTPTypes
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerHTTP

/// Alice's zone with the hierarchy `t-1`, `n-1`, `c-1` that is shared and the note `x-1` that is
/// not, records in the public database, and one caller of the given role.
struct AccessScene {
    /// Begins every text in a record.
    static let canary = "text of "
    /// Nobody but the owner sees these, ever.
    static let secrets = ["text of x-1", "text of d-1"]
    static let photo = Array("the bytes of the photo".utf8)
    static let container = ContainerKey(
        container: TestServer.container, environment: .development)

    let role: AccessRole
    let scene: ShareScene
    let person: TestServer.Person
    /// Whose key signs, for that role.
    let keyHolder: TestServer.Person
    private(set) var ids: AccessIDs
    /// The path of a courier of the caller, with a subscription to all notes.
    private(set) var courier: String?

    var server: TestServer { scene.server }

    init(_ role: AccessRole, withCourier: Bool = false) async throws {
        self.role = role
        scene = try await ShareScene { configuration in
            configuration.push.holdTime = .milliseconds(50)
            configuration.push.checkInterval = .seconds(600)
        }
        let server = scene.server
        switch role {
        case .owner: person = .alice
        case .anonymous, .key, .schemaKey: person = .anonymous
        case .nobody: person = .nobody
        default: person = try await server.addUser("caller")
        }
        keyHolder = try await server.addUser("holder")
        let guest = try await server.addUser("guest")
        ids = AccessIDs(owner: ShareScene.name(.alice), guest: ShareScene.name(guest))
        if role == .administrator {
            try await server.changeUser(person) { $0.isAdministrator = true }
        }
        // A key is not what its user is.
        if role == .key || role == .schemaKey {
            try await server.changeUser(keyHolder) { $0.isAdministrator = true }
        }
        try await fillPublic()
        try await fillZone()
        try await join()
        if withCourier, role.isUser { courier = try await subscribe() }
        try await takeOwnTokens()
        if role == .revoked {
            #expect(try await scene.change(["participants": []]).code == nil)
        }
        try await takeTokens()
    }

    // MARK: Making

    private mutating func fillPublic() async throws {
        try await server.changeUser(.alice) {
            ($0.isAdministrator, $0.isDiscoverable) = (true, false)
        }
        let known = try await server.call(.schemaExport, .public, as: .alice).json["schema"]
        let text = try #require(known?.string?.string)
        let diary = Self.type("Diary")
        let imported = try await server.call(
            .schemaImport, .public, as: .alice, ["schema": .string(Text(text + diary))])
        try #require(imported.status == 200, "\(imported.text)")
        try await server.changeUser(.alice) { $0.isAdministrator = false }
        let made = try await server.call(
            .recordsModify, .public, as: .alice,
            ["operations": [ShareScene.create("p-1", "Note"), ShareScene.create("d-1", "Diary")]])
        try #require(!made.text.contains("serverErrorCode"), "\(made.text)")
    }

    /// A type that only the creator of a record may read.
    private static func type(_ name: String) -> String {
        """

            RECORD TYPE \(name) (
                "___recordID" REFERENCE QUERYABLE,
                name STRING,
                GRANT READ TO "_creator",
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud"
            );

        """
    }

    private mutating func fillZone() async throws {
        for name in ["n-1", "x-1"] {
            let asset = try await upload(Self.photo, for: name)
            try await scene.modifyAll([
                ShareScene.operation(
                    "forceUpdate",
                    [
                        "recordName": JSONValue(name), "recordType": "Note",
                        "fields": ["photo": ["value": asset, "type": "ASSETID"]],
                    ])
            ])
        }
        ids.receipt = try await upload(Array("other bytes".utf8), for: "n-1")
        let made = try await server.call(
            .subscriptionsModify, .private, as: .alice,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": [
                            "subscriptionID": .string(ids.subscription),
                            "subscriptionType": "database",
                        ],
                    ]
                ]
            ])
        try #require(!made.text.contains("serverErrorCode"), "\(made.text)")
        let token = try await server.call(
            .tokensCreate, .public, as: .alice, ["apnsEnvironment": "development"])
        ids.pushToken = try #require(token.json["apnsToken"]?.string)
        ids.courierURL = try #require(token.json["webcourierURL"]?.string)
    }

    /// Brings bytes for the photo of one of alice's notes.
    private func upload(_ bytes: [UInt8], for record: String) async throws -> JSONValue {
        let answer = try await server.call(
            .assetsUpload, .private, as: .alice,
            [
                "zoneID": ShareScene.zone,
                "tokens": [
                    [
                        "recordType": "Note", "recordName": JSONValue(record),
                        "fieldName": "photo",
                    ]
                ],
            ])
        let url = try #require(answer.json.at("tokens.0.url").string, "\(answer.text)")
        let stored = try await server.request(.post, try AssetFixture.path(url), body: bytes)
        return try #require(stored.json["singleFile"], "\(stored.text)")
    }

    private mutating func join() async throws {
        let invited = role.joins && role != .joiner
        ids.guid = try await scene.share(
            invited
                ? [ShareScene.invite(person, role == .reader ? "READ_ONLY" : "READ_WRITE")] : [],
            permission: role == .joiner ? "READ_WRITE" : "NONE")
        guard role.joins else { return }
        #expect(try await scene.accept(ids.guid, as: person).code == nil)
    }

    private func subscribe() async throws -> String {
        let made = try await server.call(
            .subscriptionsModify, role.scope, as: person,
            [
                "operations": [
                    [
                        "operationType": "create",
                        "subscription": PushFixture.querySubscription("notes"),
                    ]
                ]
            ])
        try #require(!made.text.contains("serverErrorCode"), "\(made.text)")
        let token = try await server.call(
            .tokensCreate, .public, as: person, ["apnsEnvironment": "development"])
        return try AssetFixture.path(try #require(token.json["webcourierURL"]?.string))
    }

    /// What the server gave the caller before it was put out.
    private mutating func takeOwnTokens() async throws {
        guard role.isUser, role != .owner else { return }
        ids.ownDatabaseToken = try #require(try await scene.database(as: person)["syncToken"])
        guard role.joins else { return }
        ids.ownZoneToken = try #require(try await scene.feed(as: person)["syncToken"])
    }

    private mutating func takeTokens() async throws {
        ids.zoneToken = try #require(try await scene.feed(as: .alice)["syncToken"])
        ids.databaseToken = try #require(
            try await server.call(.changesDatabase, .private, as: .alice).json["syncToken"])
        if ids.ownZoneToken == .null { ids.ownZoneToken = ids.zoneToken }
        if ids.ownDatabaseToken == .null { ids.ownDatabaseToken = ids.databaseToken }
        let page = try await server.call(
            .recordsQuery, .private, as: .alice,
            ["query": ["recordType": "Note"], "zoneID": ids.zoneID, "resultsLimit": 1])
        ids.marker = try #require(page.json["continuationMarker"], "\(page.text)")
        let known = try await server.storage.read { (reader) throws(ServerError) in
            try ContainerSchema.current(Self.container, reader).document.print()
        }
        ids.schema = Text(String(decoding: known, as: UTF8.self) + Self.type("Extra"))
        ids.hiddenTag = try await scene.lookup(["x-1"], as: .alice).at("0.recordChangeTag")
    }

    // MARK: Calling

    struct Reply {
        let status: Int
        let text: String
        let json: JSONValue

        /// Of the request, or of its only item.
        var code: String? {
            if let code = json.code { return code }
            for key in ["records", "zones", "subscriptions", "tokens", "assets", "results"] {
                if let code = json[key]?.at("0").code { return code }
            }
            return nil
        }
        /// Without what differs between any two answers. The longest names go first: a random short
        /// GUID may hold a short name such as "d-9".
        func comparable(without names: [String]) -> String {
            var text = text.replacing(/"uuid":"[^"]*"/, with: "")
            text.replace(/"redirectURL":"[^"]*"/, with: "")
            for name in names.sorted(by: { $0.count > $1.count }) where !name.isEmpty {
                text = text.replacing(name, with: "ID")
            }
            return text
        }
    }

    func call(_ endpoint: Endpoint, _ scope: DatabaseScope, _ body: JSONValue) async throws
        -> Reply
    {
        guard role == .key || role == .schemaKey else {
            let answer = try await server.call(endpoint, scope, as: person, body)
            return Reply(status: answer.status, text: answer.text, json: answer.json)
        }
        // Signatures have their own tests; what a key may do is decided behind them.
        let name = try #require(keyHolder.user)
        let found = try await server.storage.read { (reader) throws(ServerError) in
            try reader.user(name)
        }
        let context = OperationContext(
            endpoint: endpoint, container: Self.container, scope: scope,
            caller: .serverKey(
                try #require(found), keyID: "key", managesSchema: role == .schemaKey),
            requestID: "request", now: server.clock.now, baseURL: "http://127.0.0.1")
        let service = try await server.next().service
        do throws(ServerError) {
            let bytes = try await service.answer(body, context)
            let json = (try? JSONParser.parse(bytes)) ?? .null
            return Reply(status: 200, text: String(decoding: bytes, as: UTF8.self), json: json)
        } catch {
            let json: JSONValue = [
                "serverErrorCode": JSONValue(error.code.rawValue),
                "reason": JSONValue(error.reason),
            ]
            return Reply(
                status: error.code.httpStatus,
                text: String(decoding: json.serialized(), as: UTF8.self), json: json)
        }
    }

    /// Everything that a request could have changed.
    func state() async throws -> AccessState {
        let users =
            [UserName.everyone] + [TestServer.Person.alice, person, keyHolder].compactMap(\.user)
        let container = Self.container
        return try await server.storage.read { (reader) throws(ServerError) in
            try AccessState(users, container, reader)
        }
    }
}

/// What is stored about some users, to be compared.
struct AccessState: Equatable, Sendable {
    private var zones: [ZoneRow] = []
    private var feeds: [[FeedEntry]] = []
    private var shares: [ShareRow] = []
    private var views: [SharedZoneRow] = []
    private var subscriptions: [SubscriptionRow] = []
    private var devices: [PushDeviceRow] = []
    private var usedBytes: [Int64] = []
    private var schemas: [[UInt8]] = []

    init(_ users: [UserName], _ container: ContainerKey, _ reader: any StorageReader)
        throws(ServerError)
    {
        for user in users {
            for zone in try reader.zones(DatabaseKey(container: container, owner: user)) {
                zones.append(zone)
                feeds.append(
                    try reader.changes(
                        zone.handle, after: 0, shares: nil, descending: false, limit: 1_000))
                shares += try reader.shares(zone.key)
                views += try reader.viewers(zone.key)
            }
            for scope in DatabaseScope.allCases {
                subscriptions += try reader.subscriptions(
                    SubscriptionKey(container: container, user: user, scope: scope))
            }
            devices += try reader.pushDevices(container, user)
            usedBytes.append(try reader.usedBytes(.user(user)))
        }
        for environment in ServerEnvironment.allCases {
            let key = ContainerKey(container: container.container, environment: environment)
            schemas.append(try ContainerSchema.current(key, reader).document.print())
        }
    }
}
