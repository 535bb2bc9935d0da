import RecordModel
import RecordWire

/// What a short GUID opens for somebody.
enum ShareStanding: Hashable {
    case owner
    /// Invited, or in the share already.
    case participant(ParticipantRow)
    /// Anyone with the URL, of a share that is public.
    case visitor(SharePermission)
    /// Nothing; these invitations wait for somebody at another address.
    case stranger(others: [ParticipantRow])

    /// `value` is what somebody opens the share by: its short GUID, or a one-time link.
    init(of user: UserRow, in share: ShareRow, by value: Text? = nil) {
        if user.name == share.zone.database.owner {
            self = .owner
            return
        }
        let own = share.present.filter { $0.means(user) }
        // Who is in is taken out by name, so that a block of an address does not tell whose it is.
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
        // An invitation by name or an acceptance counts before one to an address.
        if let row = own.first(where: { $0.user != nil }) ?? own.first {
            self = row.permission(in: share) == .none ? .stranger(others: []) : .participant(row)
        } else if share.participants.contains(where: { $0.status == .removed && $0.means(user) }) {
            // Whom the owner has taken out stays out until it is invited again.
            self = .stranger(others: [])
        } else if let value, value != share.shortGUID {
            // Whoever comes first: the link is nobody's who comes later.
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

    func permission(in share: ShareRow) -> SharePermission {
        switch self {
        case .owner: .readWrite
        case .participant(let row): row.permission(in: share)
        case .visitor(let permission): permission
        case .stranger: .none
        }
    }
}

extension ShareRules {
    /// The same answer for a short GUID that is wrong, for one that was revoked, and for one of a
    /// share that the caller was never invited to.
    static let unknownShortGUID = ServerError(
        .notFound, "This short GUID is of no share that is open to this user.")

    /// The share after `user` has accepted it by its short GUID or a one-time link, at the time of
    /// the request; equal to `share` when that changes nothing.
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
            // One person who was invited at two addresses is one participant.
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
    static func save(
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
