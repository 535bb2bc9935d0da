package import RecordModel
package import RecordWire

extension ShareRules {
    /// Returns the members of a record dictionary that only shares have, as `viewer` may see them:
    /// shortGUID, publicPermission, participants, owner, currentUserParticipant (CloudKit Web
    /// Services Reference, Types and Dictionaries).
    ///
    /// A viewer who has not accepted sees the owner and their own row. The owner sees all e-mail
    /// addresses and telephone numbers, and invited participants see those of each other. Public
    /// users see nobody's, and only the owner sees those of public users.
    package static func members(
        of share: ShareRow, for viewer: UserName?, telling extensions: ShareExtensions = .none,
        _ reader: any StorageReader
    ) throws(ServerError) -> [JSONMember] {
        let audience = Audience(share, viewer)
        var participants: [JSONValue] = []
        var owner: JSONValue?
        var current: JSONValue?
        for row in share.participants.filter({ $0.type == .owner }) + share.present {
            let isSelf = viewer != nil && row.user == viewer
            guard audience.seesEveryone || row.type == .owner || isSelf else { continue }
            var printed = try participant(row, share, audience, isSelf: isSelf, reader)
            if extensions.areTold, isSelf || audience.managesAccess {
                printed = .object((printed.object ?? []) + row.sinceWhen)
            }
            participants.append(printed)
            if row.type == .owner { owner = printed }
            if isSelf { current = printed }
        }
        var members = [
            JSONMember(key: "shortGUID", value: .string(share.shortGUID)),
            JSONMember(
                key: "publicPermission", value: JSONValue(share.publicPermission.rawValue)),
            JSONMember(key: "participants", value: .array(participants)),
        ]
        if let owner { members.append(JSONMember(key: "owner", value: owner)) }
        if let current {
            members.append(JSONMember(key: "currentUserParticipant", value: current))
        }
        if extensions.areTold, audience.managesAccess {
            members += try access(to: share, for: viewer, extensions, reader)
        }
        return members
    }

    /// The rights of a viewer to see the others in a share.
    private struct Audience {
        let isOwner: Bool
        let seesEveryone: Bool
        /// Indicates whether the viewer was invited, or has the share as an invited participant.
        let seesAddresses: Bool
        /// Indicates whether the viewer is the owner or an administrator.
        let managesAccess: Bool

        init(_ share: ShareRow, _ viewer: UserName?) {
            isOwner = viewer == share.zone.database.owner
            let row = viewer.flatMap { share.participant($0) }
            seesEveryone = isOwner || row?.status == .accepted
            seesAddresses = isOwner || row.map { $0.type != .publicUser } ?? false
            managesAccess = isOwner || row?.status == .accepted && row?.type == .administrator
        }
    }

    private static func participant(
        _ row: ParticipantRow, _ share: ShareRow, _ audience: Audience, isSelf: Bool,
        _ reader: any StorageReader
    ) throws(ServerError) -> JSONValue {
        let account: UserRow? =
            if let name = row.user { try reader.user(name) } else { nil }
        // A name reveals who has an account. It is left out until that person agrees to be known.
        let known = account.flatMap { account in
            row.status == .accepted || isSelf || account.isDiscoverable ? account : nil
        }
        let showsAddress =
            isSelf || audience.isOwner || audience.seesAddresses && row.type != .publicUser
        var lookup = UserLookup()
        if showsAddress {
            lookup = row.lookup
            if row.type == .owner { lookup.emailAddress = account?.emailAddress }
        }
        let identity = UserIdentity(userName: row.user, account: known, lookup: lookup)
        return [
            "participantId": .string(row.participantID),
            "userIdentity": identity.json,
            "type": JSONValue(row.type.rawValue),
            "permission": JSONValue(row.permission(in: share).rawValue),
            "acceptanceStatus": JSONValue(row.status.rawValue),
        ]
    }
}
