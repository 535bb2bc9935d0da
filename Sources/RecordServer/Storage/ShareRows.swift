package import RecordModel
package import RecordWire

/// What a share record says besides its fields.
package struct ShareRow: Hashable, Sendable {
    package let zone: ZoneKey
    /// The name of the `cloudkit.share` record.
    package let name: RecordName
    /// The root of the hierarchy; nil for the whole zone.
    package let root: RecordName?
    /// 128 bits from a secure source, in URL-safe base64. Stays with the root over unshare and
    /// share again.
    package let shortGUID: Text
    package var publicPermission: SharePermission
    package var participants: [ParticipantRow]
    /// Whether nobody may ask for access.
    package var deniesAccessRequests = false
    /// Who has asked for access and waits, in that order; at most `requesterLimit`.
    package var requesters: [RequesterRow] = []
    /// Who gets in by no link, and whose requests are not told.
    package var blocked: [BlockedRow] = []
    package init(
        zone: ZoneKey, name: RecordName, root: RecordName?, shortGUID: Text,
        publicPermission: SharePermission, participants: [ParticipantRow]
    ) {
        self.zone = zone
        self.name = name
        self.root = root
        self.shortGUID = shortGUID
        self.publicPermission = publicPermission
        self.participants = participants
    }
}

package struct ParticipantRow: Hashable, Sendable {
    /// 128 random bits in hexadecimal.
    package let participantID: Text
    /// Nil until an invitation to an address is accepted by a user.
    package var user: UserName?
    package var lookup: UserLookup
    package var type: ParticipantType
    package var permission: SharePermission
    package var status: AcceptanceStatus
    /// When it was invited, in milliseconds since 1970. Nil for the owner, for who came by the URL
    /// of a public share, and for invitations of before this was kept.
    package var invitedMilliseconds: Int64?
    /// When it accepted, in milliseconds since 1970. Nil before, and as above.
    package var acceptedMilliseconds: Int64?
    /// Whether it was in `requesters` when it was invited.
    package var isApprovedRequester = false
    /// The token of its one-time link: whoever opens that first is this participant. Stays when
    /// that has happened, so that the same user may open it again.
    package var link: Text?
    package init(
        participantID: Text, user: UserName?, lookup: UserLookup, type: ParticipantType,
        permission: SharePermission, status: AcceptanceStatus
    ) {
        self.participantID = participantID
        self.user = user
        self.lookup = lookup
        self.type = type
        self.permission = permission
        self.status = status
    }
}

/// Somebody who asks for access to a share.
package struct RequesterRow: Hashable, Sendable {
    package let user: UserName
    /// Since 1970.
    package let milliseconds: Int64
    package init(user: UserName, milliseconds: Int64) {
        self.user = user
        self.milliseconds = milliseconds
    }
}

/// Somebody whom a share is closed to.
package struct BlockedRow: Hashable, Sendable {
    /// Normalised; names at least one of user, e-mail address and telephone number.
    package let lookup: UserLookup
    package init(lookup: UserLookup) { self.lookup = lookup }
}

/// A zone in somebody's shared database: there while at least one share of it is accepted.
package struct SharedZoneRow: Hashable, Sendable {
    package let viewer: UserName
    package let zone: ZoneKey
    /// Random, new whenever the set of accepted shares changes: older tokens of this view expire.
    package var incarnation: UInt64
    /// The accepted shares, by the name of their record.
    package var shares: [RecordName]
    package init(viewer: UserName, zone: ZoneKey, incarnation: UInt64, shares: [RecordName]) {
        self.viewer = viewer
        self.zone = zone
        self.incarnation = incarnation
        self.shares = shares
    }
}
