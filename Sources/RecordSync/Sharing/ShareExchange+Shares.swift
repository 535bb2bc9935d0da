import Logging
package import RecordModel
import RecordStore
package import RecordWire

extension ShareExchange {
    /// Returns the share in a share record. Returns nil, and writes a line to the log, when it
    /// cannot be read.
    func share(_ answer: RecordAnswer) -> Share? {
        do throws(ServerError) {
            let share = try ShareAnswer(answer)
            let mayWrite = exchange.database != .shared || share.current?.permission == .readWrite
            return Share(
                name: share.name, root: share.root, permission: mayWrite ? .readWrite : .readOnly,
                text: share.json.serialized(pretty: true))
        } catch {
            exchange.logger.warning(
                "A share cannot be read",
                metadata: [
                    "share": exchange.database == .shared ? "" : "\(answer.name)",
                    "why": "\(error.reason)",
                ])
            return nil
        }
    }
}

extension ShareExchange {
    /// Returns the parent of new records where others share one record of a zone with its children:
    /// the server takes only further children of it. Returns nil where the whole zone is shared,
    /// and where several records are shared and a new record has to name its parent.
    func parentOfNewRecords(in zone: SyncedZone) throws(SyncProblem) -> RecordName? {
        guard exchange.database == .shared else { return nil }
        let shares = try exchange.read { (store) throws(RecordError) in
            try store.sharing.shares(in: zone.id)
        }
        return shares.count == 1 ? shares[0].root : nil
    }

    /// Removes the remains of ended shares from the disk. While another process reads, the content
    /// of the log stays until the next time.
    func scrub() throws(SyncProblem) {
        guard exchange.database == .shared else { return }
        try exchange.read { (store) throws(RecordError) in
            if try !store.upkeep.scrub() {
                exchange.logger.notice("The rest of an ended share is removed later")
            }
        }
    }
}

extension ShareAnswer {
    /// The JSON of `recordfs share show --json`.
    package var json: JSONValue {
        var members: [JSONMember] = []
        if let url { members.append(JSONMember(key: "url", value: .string(url))) }
        if let title { members.append(JSONMember(key: "title", value: .string(title))) }
        if let type { members.append(JSONMember(key: "type", value: .string(type))) }
        if let thumbnail {
            let value = ShareThumbnail.description(of: thumbnail)
            members.append(JSONMember(key: "thumbnail", value: value))
        }
        if let root {
            members.append(JSONMember(key: "record", value: .string(Text(utf8: root.bytes))))
        }
        members.append(
            JSONMember(
                key: "publicPermission", value: .string(Text(publicPermission.rawValue))))
        if let current {
            // The owner has all permissions.
            if current.type != .owner {
                members.append(
                    JSONMember(
                        key: "permission", value: .string(Text(current.permission.rawValue))))
            }
            members.append(
                JSONMember(key: "role", value: .string(Text(current.type.rawValue))))
        }
        if let owner { members.append(JSONMember(key: "owner", value: owner.ownerJSON)) }
        members.append(
            JSONMember(
                key: "participants",
                value: .array(people.map(\.json))))
        members += access
        members.append(JSONMember(key: "changeTag", value: .string(changeTag)))
        return .object(members)
    }

    /// The participants without the owner, and without the places of unused one-time links.
    private var people: [ParticipantAnswer] {
        participants.filter { participant in
            participant.type != .owner
                && (participant.user != nil || participant.emailAddress != nil
                    || participant.phoneNumber != nil)
        }
    }

    /// The members for people who answer requests for access and make links.
    private var access: [JSONMember] {
        var members: [JSONMember] = []
        if let deniesAccessRequests {
            members.append(
                JSONMember(key: "takesRequests", value: .bool(!deniesAccessRequests)))
        }
        if !requesters.isEmpty {
            members.append(
                JSONMember(key: "requests", value: .array(requesters.map(\.requestJSON))))
        }
        if !blocked.isEmpty {
            members.append(
                JSONMember(key: "blocked", value: .array(blocked.map(\.requestJSON))))
        }
        if !links.isEmpty {
            let list = links.map { link -> JSONValue in
                let permission = participants.first { $0.id == link.participantID }?.permission
                return [
                    "id": .string(link.participantID), "url": .string(link.url),
                    "permission": JSONValue((permission ?? .unknown).rawValue),
                ]
            }
            members.append(JSONMember(key: "links", value: .array(list)))
        }
        return members
    }
}

extension ParticipantAnswer {
    /// The time of the acceptance, or of the invitation when it was not accepted.
    private var since: Text? {
        (acceptedMilliseconds ?? invitedMilliseconds).map {
            Text(ISO8601.print(milliseconds: $0))
        }
    }

    /// The identity, as far as the server reports it.
    fileprivate var identity: [(String, Text?)] {
        [
            ("user", user.map { Text(utf8: $0.bytes) }), ("name", name.isEmpty ? nil : name),
            ("address", emailAddress ?? phoneNumber),
        ]
    }

    /// The JSON of the owner, who has all permissions.
    var ownerJSON: JSONValue { Self.object(identity) }

    /// The JSON of a person who asks for access, or is blocked.
    fileprivate var requestJSON: JSONValue { Self.object(identity + [("since", since)]) }

    /// The JSON of a participant or an invited person.
    var json: JSONValue {
        Self.object(
            identity + [
                ("type", Text(type.rawValue)), ("permission", Text(permission.rawValue)),
                ("status", Text(status.rawValue)), ("since", since),
            ])
    }

    private static func object(_ texts: [(String, Text?)]) -> JSONValue {
        .object(
            texts.compactMap { key, text in
                text.map { JSONMember(key: Text(key), value: .string($0)) }
            })
    }
}
