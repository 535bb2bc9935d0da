import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// A server with Alice's zone `Work`: topic `t-1`, note `n-1` below it, comment `c-1` below that,
/// and note `x-1` on its own.
struct ShareScene {
    let server: TestServer
    static let zone: JSONValue = ["zoneName": "Work"]

    static var foreign: JSONValue {
        ["zoneName": "Work", "ownerRecordName": .string(name(.alice))]
    }

    static func name(_ person: TestServer.Person) -> Text {
        Text(utf8: person.user?.bytes ?? [])
    }

    init(configure: (inout ServerConfiguration) -> Void = { _ in }) async throws {
        try await self.init(TestServer(configure: configure))
    }

    init(_ server: TestServer) async throws {
        self.server = server
        let made = try await server.call(
            .zonesModify, .private, as: .alice,
            ["operations": [["operationType": "create", "zone": ["zoneID": Self.zone]]]])
        #expect(made.status == 200)
        try await modifyAll([
            Self.create("t-1", "Topic"), Self.create("n-1", "Note", parent: "t-1"),
            Self.create("c-1", "Note", parent: "n-1"), Self.create("x-1", "Note"),
        ])
    }

    // MARK: Operations

    static func create(_ name: String, _ type: String, parent: String? = nil) -> JSONValue {
        var record: [JSONMember] = [
            JSONMember(key: "recordName", value: JSONValue(name)),
            JSONMember(key: "recordType", value: JSONValue(type)),
            JSONMember(
                key: "fields",
                value: ["name": ["value": JSONValue("text of \(name)"), "type": "STRING"]]),
        ]
        if let parent {
            record.append(
                JSONMember(key: "parent", value: ["recordName": JSONValue(parent)]))
        }
        return operation("create", .object(record))
    }

    static func operation(_ type: String, _ record: JSONValue) -> JSONValue {
        ["operationType": JSONValue(type), "record": record]
    }

    static func edit(_ name: String, _ text: String, type: String = "Note") -> JSONValue {
        operation(
            "forceUpdate",
            [
                "recordName": JSONValue(name), "recordType": JSONValue(type),
                "fields": ["name": ["value": JSONValue(text), "type": "STRING"]],
            ])
    }

    static func remove(_ name: String) -> JSONValue {
        operation("forceDelete", ["recordName": JSONValue(name)])
    }

    /// A participant to invite.
    static func invite(
        _ person: TestServer.Person, _ permission: String = "READ_WRITE", _ type: String = "USER"
    ) -> JSONValue {
        [
            "type": JSONValue(type), "permission": JSONValue(permission),
            "acceptanceStatus": "INVITED",
            "userIdentity": ["userRecordName": .string(name(person))],
        ]
    }

    /// Bodies of one zone: Alice's own, or as the others have it.
    private func body(_ person: TestServer.Person, _ members: [JSONMember]) -> JSONValue {
        let zone = person == .alice ? Self.zone : Self.foreign
        return .object([JSONMember(key: "zoneID", value: zone)] + members)
    }

    private func scope(_ person: TestServer.Person) -> DatabaseScope {
        person == .alice ? .private : .shared
    }

    /// The `records` of the answer, or the answer when the whole request failed.
    @discardableResult
    func modify(
        _ operations: [JSONValue], as person: TestServer.Person = .alice, atomic: Bool = true
    ) async throws -> JSONValue {
        let answer = try await server.call(
            .recordsModify, scope(person), as: person,
            body(
                person,
                [
                    JSONMember(key: "operations", value: .array(operations)),
                    JSONMember(key: "atomic", value: .bool(atomic)),
                ]))
        return answer.json["records"] ?? answer.json
    }

    /// All of which must succeed.
    @discardableResult
    func modifyAll(
        _ operations: [JSONValue], as person: TestServer.Person = .alice,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let records = try await modify(operations, as: person)
        for record in records.array ?? [records] {
            #expect(
                record["serverErrorCode"] == nil,
                "\(String(decoding: record.serialized(), as: UTF8.self))",
                sourceLocation: sourceLocation)
        }
        return records
    }

    /// Shares `t-1` as `s-1`, or the zone; gives back the short GUID.
    @discardableResult
    func share(
        _ participants: [JSONValue] = [], permission: String = "NONE", root: String? = "t-1",
        name: String = "s-1"
    ) async throws -> Text {
        var record: [JSONMember] = [
            JSONMember(
                key: "recordName", value: JSONValue(root == nil ? "cloudkit.zoneshare" : name)),
            JSONMember(key: "recordType", value: "cloudkit.share"),
            JSONMember(key: "publicPermission", value: JSONValue(permission)),
            JSONMember(key: "participants", value: .array(participants)),
            JSONMember(
                key: "fields",
                value: ["cloudkit.title": ["value": "Plans", "type": "STRING"]]),
        ]
        var operations: [JSONValue] = []
        if let root {
            record.append(
                JSONMember(key: "forRecord", value: ["recordName": JSONValue(root)]))
            operations.append(
                Self.operation(
                    "forceUpdate",
                    [
                        "recordName": JSONValue(root), "recordType": "Topic", "fields": [:],
                    ]))
        }
        operations.insert(Self.operation("create", .object(record)), at: 0)
        let records = try await modifyAll(operations)
        return try #require(records.at("0.shortGUID").string)
    }

    /// Saves the share again with these keys.
    @discardableResult
    func change(
        _ keys: JSONValue, of name: String = "s-1", as person: TestServer.Person = .alice
    ) async throws -> JSONValue {
        let record: [JSONMember] = [
            JSONMember(key: "recordName", value: JSONValue(name)),
            JSONMember(key: "recordType", value: "cloudkit.share"),
        ]
        return try await modify(
            [Self.operation("forceUpdate", .object(record + (keys.object ?? [])))], as: person
        ).at("0")
    }

    func accept(_ guid: Text, as person: TestServer.Person) async throws -> JSONValue {
        try await server.call(
            .recordsAccept, .public, as: person, ["shortGUIDs": [["value": .string(guid)]]]
        ).json.at("results.0")
    }

    // MARK: What somebody sees

    func lookup(_ names: [String], as person: TestServer.Person) async throws -> JSONValue {
        let records = names.map {
            JSONValue.object([JSONMember(key: "recordName", value: JSONValue($0))])
        }
        let answer = try await server.call(
            .recordsLookup, scope(person), as: person,
            body(person, [JSONMember(key: "records", value: .array(records))]))
        return answer.json["records"] ?? answer.json
    }

    /// The item of the zone in changes/zone.
    func feed(after token: JSONValue? = nil, as person: TestServer.Person) async throws -> JSONValue
    {
        var zone = [
            JSONMember(key: "zoneID", value: person == .alice ? Self.zone : Self.foreign)
        ]
        if let token { zone.append(JSONMember(key: "syncToken", value: token)) }
        return try await server.call(
            .changesZone, scope(person), as: person, ["zones": [.object(zone)]]
        ).json.at("zones.0")
    }

    /// Names of the records of a feed, gone ones with a minus.
    func names(_ feed: JSONValue) -> Set<String> {
        Set(
            (feed["records"]?.array ?? []).map { record in
                let name = record["recordName"]?.string?.string ?? "?"
                return record["deleted"] == true ? "-" + name : name
            })
    }

    func database(after token: JSONValue? = nil, as person: TestServer.Person) async throws
        -> JSONValue
    {
        try await server.call(
            .changesDatabase, .shared, as: person, token.map { ["syncToken": $0] } ?? [:]
        ).json
    }
}

extension JSONValue {
    /// `serverErrorCode`, of an item or an answer.
    var code: String? { self["serverErrorCode"]?.string?.string }
}
