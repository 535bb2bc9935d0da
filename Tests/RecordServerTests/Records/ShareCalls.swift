import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Short forms of requests about shares, for tests.
extension TestServer {
    /// The operation that makes a share: of a root, or of a whole zone.
    static func shareOperation(
        _ root: String?, name: String? = nil, with people: [Person: String] = [:],
        publicPermission: String = "NONE"
    ) -> JSONValue {
        let participants = people.map { person, permission -> JSONValue in
            let user = person.user.map { JSONValue.string(Text(utf8: $0.bytes)) } ?? .null
            let identity: JSONValue = ["lookupInfo": ["userRecordName": user]]
            return [
                "type": "USER", "permission": JSONValue(permission),
                "acceptanceStatus": "INVITED", "userIdentity": identity,
            ]
        }
        var extra = [
            JSONMember(key: "publicPermission", value: JSONValue(publicPermission)),
            JSONMember(key: "participants", value: .array(participants)),
        ]
        if let root {
            let forRecord: JSONValue = ["recordName": JSONValue(root)]
            extra.append(JSONMember(key: "forRecord", value: forRecord))
        }
        let ownName = root.map { "share-" + $0 } ?? "cloudkit.zoneshare"
        return operation("create", name ?? ownName, type: "cloudkit.share", [:], .object(extra))
    }

    /// Shares a root, or a whole zone, of alice and lets everybody named accept.
    @discardableResult
    func share(
        _ zone: String, _ root: String?, with people: [Person: String] = [:],
        publicPermission: String = "NONE"
    ) async throws -> Answer {
        let share = Self.shareOperation(root, with: people, publicPermission: publicPermission)
        let answer =
            if let root {
                try await modify(zone, share, force(root))
            } else {
                try await modify(zone, share)
            }
        let guid = try #require(answer.records.first?["shortGUID"]?.string)
        for person in people.keys {
            let accepted = try await accept(guid, as: person)
            #expect(accepted.status == 200, "\(accepted.text)")
        }
        return answer
    }

    @discardableResult
    func accept(_ guid: Text, as person: Person) async throws -> Answer {
        try await call(
            .recordsAccept, .public, as: person, ["shortGUIDs": [["value": .string(guid)]]])
    }
}
