import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Servers on directories, one after the other, and people who keep their credentials meanwhile.
struct OperatedSite {
    let files: TemporaryDirectory
    let log = LogCollector()
    static let container = ContainerKey(
        container: Text(ServerConfiguration().container), environment: .development)

    init() throws { files = try TemporaryDirectory() }

    func path(_ name: String) -> String { files.path + "/" + name }

    func start(_ name: String = "data") async throws -> ServerInstance {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = path(name)
        configuration.port = 0
        return try await ServerInstance.start(configuration, logger: log.logger)
    }

    /// A user with a session that lasts, and what a request of that session has behind its path.
    struct Client: Sendable {
        let user: UserName
        let apiToken: Text
        var webAuthToken: Text
        var query: String { "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(webAuthToken)" }
    }

    func client(_ name: String, of instance: ServerInstance) async throws -> Client {
        let storage = instance.application.service.storage
        let accounts = Accounts(storage: storage)
        let now = SystemClock().now
        let user = try await accounts.addUser(
            emailAddress: Text(name + "@example.org"), password: Array("correct horse".utf8),
            cost: .quick, now: now)
        let token = try await accounts.createAPIToken(
            Self.container, name: Text(name + "'s client"), now: now
        ).token
        return Client(
            user: user.name, apiToken: token,
            webAuthToken: try await instance.application.authenticator.signIn(
                user.name, container: Self.container, staySignedIn: true, label: "test", now: now))
    }

    struct Reply: Sendable {
        let status: Int
        let json: JSONValue
        let successor: Text?
        /// Of the whole answer, or of its first item.
        var code: String? {
            let item = ["zones", "records"].compactMap { json[$0]?.array?.first }.first
            return (json["serverErrorCode"] ?? item?["serverErrorCode"])?.string?.string
        }
        var tag: String? { json["records"]?.array?.first?["recordChangeTag"]?.string?.string }
        var zoneNames: [String] {
            (json["zones"]?.array ?? []).compactMap {
                $0["zoneID"]?["zoneName"]?.string?.string
            }
        }
    }

    /// `operation` is scope and operation, such as `private/zones/list`.
    func call(
        _ instance: ServerInstance, _ operation: String, _ client: Client, _ body: JSONValue = [:]
    ) async throws -> Reply {
        let container = Self.container
        let answer = try await RawHTTP.request(
            port: instance.running.port, "POST",
            "/database/1/\(container.container)/\(container.environment.rawValue)/\(operation)"
                + client.query, body: body.serialized())
        return Reply(
            status: answer.status, json: (try? JSONParser.parse(answer.body)) ?? .null,
            successor: answer.header("x-apple-cloudkit-web-auth-token").map { Text($0) })
    }

    static func zone(_ name: String, owner: UserName? = nil) -> JSONValue {
        guard let owner else { return ["zoneName": JSONValue(name)] }
        return [
            "zoneName": JSONValue(name), "ownerRecordName": .string(Text(utf8: owner.bytes)),
        ]
    }

    func makeZone(_ name: String, _ instance: ServerInstance, _ client: Client) async throws {
        let reply = try await call(
            instance, "private/zones/modify", client,
            ["operations": [["operationType": "create", "zone": ["zoneID": Self.zone(name)]]]])
        #expect(reply.code == nil && reply.status == 200, "\(reply.json)")
    }

    /// One operation on a record of type Note in a private zone.
    func save(
        _ type: String, _ record: String, tag: String? = nil, in zone: String,
        _ instance: ServerInstance, _ client: Client
    ) async throws -> Reply {
        var members = [
            JSONMember(key: "recordName", value: JSONValue(record)),
            JSONMember(key: "recordType", value: "Note"),
            JSONMember(key: "fields", value: ["title": ["value": "t"]]),
        ]
        if let tag { members.append(JSONMember(key: "recordChangeTag", value: JSONValue(tag))) }
        return try await call(
            instance, "private/records/modify", client,
            [
                "zoneID": Self.zone(zone), "atomic": false,
                "operations": [["operationType": JSONValue(type), "record": .object(members)]],
            ])
    }

    /// Shares a whole zone with a participant, who accepts.
    func share(
        _ zone: String, _ instance: ServerInstance, from owner: Client, with participant: Client
    ) async throws {
        let made = try await call(
            instance, "private/records/modify", owner,
            [
                "zoneID": Self.zone(zone),
                "operations": [
                    TestServer.shareOperation(nil, publicPermission: "READ_WRITE")
                ],
            ])
        let guid = try #require(
            made.json["records"]?.array?.first?["shortGUID"]?.string, "\(made.json)")
        let accepted = try await call(
            instance, "public/records/accept", participant,
            ["shortGUIDs": [["value": .string(guid)]]])
        #expect(accepted.status == 200, "\(accepted.json)")
    }

    /// The path of a courier of a new device.
    func courier(_ instance: ServerInstance, _ client: Client) async throws -> String {
        let reply = try await call(
            instance, "public/tokens/create", client,
            ["apnsEnvironment": "development", "clientId": "test"])
        let url = try #require(reply.json["webcourierURL"]?.string, "\(reply.json)").string
        return String(url[try #require(url.firstRange(of: "/courier/")).lowerBound...])
    }

    /// Makes the data of another server from a backup.
    func restore(_ backup: String, to name: String, keepsSessions: Bool) async throws {
        var configuration = ServerConfiguration()
        configuration.dataDirectory = path(name)
        try await StorageFactory.restore(
            path(backup), to: configuration, keepsSessions: keepsSessions)
    }

    /// A backup of what a running server has now.
    func backUp(_ instance: ServerInstance, from name: String = "data", to backup: String)
        async throws
    {
        let storage = try #require(
            instance.application.service.storage as? any OperatedStorage)
        try await storage.backup(
            to: path(backup), assets: try AssetDirectory(path: path(name) + "/assets"))
    }
}
