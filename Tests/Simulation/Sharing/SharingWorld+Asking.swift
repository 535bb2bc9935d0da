import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport

/// What somebody asks of the server about shares, as any client does: not by the way that the machines
/// use, on which histories have faults.
extension SharingWorld {
    /// - Returns: the answer of the first thing that was asked for; nil when it was refused.
    private func ask(
        _ endpoint: Endpoint, _ scope: DatabaseScope, _ user: Int, _ body: JSONValue
    ) async throws -> JSONValue? {
        let answer: JSONValue
        do throws(ServerError) {
            answer = try await server.callCore(endpoint, scope, as: Self.people[user], body)
        } catch {
            return Optional.none
        }
        let list = endpoint == .recordsModify || endpoint == .recordsLookup ? "records" : "results"
        let first = answer.at("\(list).0")
        // `nil` beside a value would be JSON's null.
        guard first["serverErrorCode"] == nil, first != .null else { return Optional.none }
        return first
    }

    private func modify(
        _ spot: SharedSpot, _ user: Int, _ type: String, _ members: [JSONMember]
    ) async throws -> JSONValue? {
        var zone = [JSONMember(key: "zoneName", value: JSONValue(spot.zone))]
        if user != 0 {
            zone.append(
                JSONMember(key: "ownerRecordName", value: .string(Text(utf8: Self.owner.bytes))))
        }
        let record =
            [
                JSONMember(key: "recordName", value: JSONValue(spot.shareName)),
                JSONMember(key: "recordType", value: "cloudkit.share"),
            ] + members
        return try await ask(
            .recordsModify, user == 0 ? .private : .shared, user,
            [
                "zoneID": .object(zone),
                "operations": [
                    ["operationType": JSONValue(type), "record": .object(record)]
                ],
            ])
    }

    func share(_ spot: SharedSpot) async throws {
        var members: [JSONMember] = []
        if let root = spot.root {
            let found = try await ask(
                .recordsLookup, .private, 0,
                [
                    "zoneID": ["zoneName": JSONValue(spot.zone)],
                    "records": [["recordName": JSONValue(root)]],
                ])
            guard let tag = found?["recordChangeTag"] else { return }
            members.append(
                JSONMember(
                    key: "forRecord",
                    value: ["recordName": JSONValue(root), "recordChangeTag": tag]))
        }
        let made = try await modify(spot, 0, "create", members)
        trace.append("share \(spot): \(made != nil)")
        if let link = made?["shortGUID"]?.string { model.make(spot, link: link) }
        try await readServer(after: 0)
    }

    /// - Parameter user: who asks for it.
    func manage(_ management: SharingStep.Management, _ user: Int) async throws {
        switch management {
        case .invite(let spot, let invitation):
            try await change(spot, to: model.inviting(invitation, to: spot), by: user)
        case .remove(let spot, let other):
            try await change(spot, to: model.removing(other, spot, by: user), by: user)
        case .open(let spot, let permission):
            let members = [
                JSONMember(key: "publicPermission", value: JSONValue(permission.rawValue))
            ]
            try await change(spot, to: model.opening(spot, to: permission), members, by: user)
        }
    }

    /// - Parameter share: nil when it is none that could be.
    private func change(
        _ spot: SharedSpot, to share: ShareModel.Sharing?, by user: Int
    ) async throws {
        let list = (share?.members ?? [:]).sorted { $0.key < $1.key }.map { user, member in
            Self.participant(user, member)
        }
        let members = [JSONMember(key: "participants", value: .array(list))]
        try await change(spot, to: share, members, by: user)
    }

    private func change(
        _ spot: SharedSpot, to share: ShareModel.Sharing?, _ members: [JSONMember], by user: Int
    ) async throws {
        guard let share, model.shares[spot] != nil else { return }
        let may = model.mayManage(spot, user, into: share)
        let isDone = try await modify(spot, user, "forceUpdate", members) != nil
        trace.append("user \(user) makes \(spot) \(share.description): \(isDone)")
        if isDone != may {
            problems.append(
                "User \(user) \(isDone ? "has changed" : "cannot change") who is in \(spot).")
        }
        if isDone { model.replace(spot, share) }
        try await readServer(after: user)
    }

    private static func participant(_ user: Int, _ member: ShareModel.Member) -> JSONValue {
        [
            "type": member.isAdministrator ? "ADMINISTRATOR" : "USER",
            "permission": JSONValue(member.permission.rawValue),
            "acceptanceStatus": "INVITED",
            "userIdentity": [
                "userRecordName": .string(Text(utf8: people[user].user?.bytes ?? []))
            ],
        ]
    }

    func stop(_ spot: SharedSpot) async throws {
        let isDone = try await modify(spot, 0, "forceDelete", []) != nil
        trace.append("stop \(spot): \(isDone)")
        if isDone { model.end(spot) }
        try await readServer(after: 0)
    }

    func accept(_ spot: SharedSpot, _ user: Int) async throws {
        guard user != 0, let link = model.links[spot] else { return }
        let isAdmitted = model.admits(user, to: spot)
        let isDone =
            try await ask(
                .recordsAccept, .public, user, ["shortGUIDs": [["value": .string(link)]]]) != nil
        trace.append("user \(user) accepts \(spot): \(isDone)")
        if isDone != isAdmitted {
            problems.append("User \(user) \(isDone ? "has come" : "cannot come") into \(spot).")
        }
        if isDone { model.accept(spot, user) }
        try await readServer(after: user)
    }

    func leave(_ spot: SharedSpot, _ user: Int) async throws {
        guard user != 0 else { return }
        let isDone = try await modify(spot, user, "forceDelete", []) != nil
        trace.append("user \(user) leaves \(spot): \(isDone)")
        let had = model.shares[spot]?.permission(of: user) ?? .none
        if isDone, had != .none { model.leave(spot, user) }
        try await readServer(after: user)
    }
}
