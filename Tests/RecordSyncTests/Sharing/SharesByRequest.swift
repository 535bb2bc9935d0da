import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Shares that Alice makes, changes and ends by requests of the protocol, with Bob as the one participant.
extension TestServer {
    /// - Parameter root: nil for the whole zone.
    func modifyShare(
        _ type: String, of root: String?, in zone: String = "Box", _ members: [JSONMember] = []
    ) async throws -> Answer {
        let name = root.map { "share-\($0)" } ?? "cloudkit.zoneshare"
        let record =
            [
                JSONMember(key: "recordName", value: JSONValue(name)),
                JSONMember(key: "recordType", value: "cloudkit.share"),
            ] + members
        return try await call(
            .recordsModify, .private, as: .alice,
            [
                "zoneID": ["zoneName": JSONValue(zone)],
                "operations": [
                    ["operationType": JSONValue(type), "record": .object(record)]
                ],
            ])
    }

    /// What a share has for its participants.
    static func invitation(ofBob permission: JSONValue) -> JSONMember {
        let name = JSONValue.string(Text(utf8: Person.bob.user?.bytes ?? []))
        let invited: JSONValue = [
            "type": "USER", "permission": permission, "acceptanceStatus": "INVITED",
            "userIdentity": ["userRecordName": name],
        ]
        return JSONMember(key: "participants", value: [invited])
    }

    /// What a share has for its title.
    static func title(_ title: JSONValue) -> JSONMember {
        JSONMember(key: "fields", value: ["cloudkit.title": ["value": title, "type": "STRING"]])
    }

    /// Shares it with Bob, who joins.
    func share(
        _ root: String?, in zone: String = "Box", permission: JSONValue = "READ_WRITE",
        _ more: [JSONMember] = []
    ) async throws {
        var members = [Self.invitation(ofBob: permission)] + more
        if let root {
            let found = try await call(
                .recordsLookup, .private, as: .alice,
                [
                    "zoneID": ["zoneName": JSONValue(zone)],
                    "records": [["recordName": JSONValue(root)]],
                ])
            members.append(
                JSONMember(
                    key: "forRecord",
                    value: [
                        "recordName": JSONValue(root),
                        "recordChangeTag": found.json.at("records.0.recordChangeTag"),
                    ]))
        }
        let made = try await modifyShare("create", of: root, in: zone, members)
        let guid = try #require(made.json.at("records.0.shortGUID").string)
        let accepted = try await call(
            .recordsAccept, .public, as: .bob, ["shortGUIDs": [["value": .string(guid)]]])
        #expect(accepted.json.at("results.0.participantStatus") == "ACCEPTED")
    }

    func endShare(of root: String?, in zone: String = "Box") async throws {
        let ended = try await modifyShare("forceDelete", of: root, in: zone)
        #expect(ended.json.at("records.0.deleted") == true)
    }
}
