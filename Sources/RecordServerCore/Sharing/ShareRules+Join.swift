package import RecordModel
package import RecordWire

/// The standing of a user at a share: the access that its short GUID gives them.
package enum ShareStanding: Hashable {
    case owner
    /// The user is invited, or in the share already.
    case participant(ParticipantRow)
    /// The user has only the URL of a public share.
    case visitor(SharePermission)
    /// The share opens nothing for the user. These invitations wait for people at other addresses.
    case stranger(others: [ParticipantRow])

    /// Finds the standing. `value` is the text that the user opens the share with: its short GUID,
    /// or a one-time link.
    package init(of user: UserRow, in share: ShareRow, by value: Text? = nil) {
        if user.name == share.zone.database.owner {
            self = .owner
            return
        }
        let own = share.present.filter { $0.means(user) }
        // A participant is removed by name only, so that a block of an address does not reveal
        // whose address it is.
        if let row = own.first(where: { $0.status == .accepted }),
            row.permission(in: share) != .none
        {
            self = .participant(row)
            return
        }
        guard !share.blocks(user) else {
            self = .stranger(others: [])
            return
        }
        // An invitation by name or an acceptance has precedence over an invitation to an address.
        if let row = own.first(where: { $0.user != nil }) ?? own.first {
            self = row.permission(in: share) == .none ? .stranger(others: []) : .participant(row)
        } else if share.participants.contains(where: { $0.status == .removed && $0.means(user) }) {
            // A user whom the owner has removed stays out until they are invited again.
            self = .stranger(others: [])
        } else if let value, value != share.shortGUID {
            // The first user takes the link. It opens nothing for later ones.
            let open = share.present.first { $0.isOpenLink && $0.link == value }
            self = open.map { .participant($0) } ?? .stranger(others: [])
        } else if share.publicPermission.orNone != .none {
            self = .visitor(share.publicPermission)
        } else {
            self = .stranger(
                others: share.present.filter { $0.user == nil && !$0.lookup.isEmpty })
        }
    }

    var type: ParticipantType {
        switch self {
        case .owner: .owner
        case .participant(let row): row.type
        case .visitor: .publicUser
        case .stranger: .unknown
        }
    }

    var status: AcceptanceStatus {
        switch self {
        case .owner: .accepted
        case .participant(let row): row.status
        case .visitor: .invited
        case .stranger: .unknown
        }
    }

    package func permission(in share: ShareRow) -> SharePermission {
        switch self {
        case .owner: .readWrite
        case .participant(let row): row.permission(in: share)
        case .visitor(let permission): permission
        case .stranger: .none
        }
    }
}

extension ShareRules {
    /// The error for a wrong short GUID, for a revoked one, and for one of a share that the caller
    /// was never invited to. The three get the same answer.
    static let unknownShortGUID = ServerError(
        .notFound, "This short GUID belongs to no share that is open to this user.")

    /// Returns the share after `user` has accepted it by its short GUID or a one-time link, at the
    /// time of the request. The result is equal to `share` when that changes nothing.
    static func join(
        _ share: ShareRow, by value: Text, _ user: UserRow, milliseconds: Int64,
        _ settings: ServiceSettings, ids: inout RandomIDs
    ) throws(ServerError) -> ShareRow {
        var joined = share
        switch ShareStanding(of: user, in: share, by: value) {
        case .owner: return share
        case .participant(var row):
            guard row.status != .accepted else { return share }
            if row.isOpenLink { row.lookup.emailAddress = user.emailAddress }
            row.user = user.name
            row.status = .accepted
            row.acceptedMilliseconds = milliseconds
            // A person who was invited at two addresses is one participant.
            joined.participants.removeAll {
                $0.participantID != row.participantID && $0.type != .owner && $0.means(user)
            }
            joined.replace(row)
        case .visitor(let permission):
            guard share.present.count < settings.participantsPerShare else {
                throw ServerError(
                    .tooManyParticipants,
                    "The share has \(settings.participantsPerShare) participants, and takes no more."
                )
            }
            joined.participants.removeAll { $0.type != .owner && $0.means(user) }
            var row = ParticipantRow(
                participantID: ids.hex128(), user: user.name,
                lookup: UserLookup(emailAddress: user.emailAddress), type: .publicUser,
                permission: permission, status: .accepted)
            row.acceptedMilliseconds = milliseconds
            joined.participants.append(row)
        case .stranger: throw unknownShortGUID
        }
        joined.requesters.removeAll { $0.user == user.name }
        return joined
    }

    /// Stores the share as its participants changed it outside of records/modify, with a new
    /// version of its record in the zone's feed. `zone` is locked. Returns the new record.
    package static func save(
        _ new: ShareRow, old: ShareRow, zone: ZoneRow, stamp: WriteStamp, ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) -> StoredRecord {
        guard var record = try transaction.records(zone.handle, [new.name])[new.name],
            !record.isDeleted
        else { throw unknownShortGUID }
        var zone = zone
        zone.position += 1
        record.tag = zone.position
        record.position = zone.position
        record.modified = stamp
        try transaction.put(zone.handle, record)
        try transaction.updateZone(zone)
        try apply(old: old, new: new, ids: &ids, transaction)
        return record
    }
}
