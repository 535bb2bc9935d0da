package import RecordModel
package import RecordWire

/// The content of a share record besides its fields.
package struct ShareRow: Hashable, Sendable {
    package let zone: ZoneKey
    /// The name of the `cloudkit.share` record.
    package let name: RecordName
    /// The root of the hierarchy. Nil stands for the whole zone.
    package let root: RecordName?
    /// 128 bits from a secure source, in URL-safe base64. The root keeps it when its share is
    /// removed and made again.
    package let shortGUID: Text
    package var publicPermission: SharePermission
    package var participants: [ParticipantRow]
    /// Indicates whether nobody may ask for access.
    package var deniesAccessRequests = false
    /// The users who have asked for access and wait, in that order; at most `requesterLimit`.
    package var requesters: [RequesterRow] = []
    /// The people whom no link lets in, and whose requests are not reported.
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
    /// The user. It is nil until a user accepts an invitation to an address.
    package var user: UserName?
    package var lookup: UserLookup
    package var type: ParticipantType
    package var permission: SharePermission
    package var status: AcceptanceStatus
    /// The time of the invitation, in milliseconds since 1970. It is nil for the owner, for a
    /// participant who came by the URL of a public share, and for invitations from before this was
    /// stored.
    package var invitedMilliseconds: Int64?
    /// The time of the acceptance, in milliseconds since 1970. It is nil before, and for the rows
    /// named above.
    package var acceptedMilliseconds: Int64?
    /// Indicates whether the participant was in `requesters` when the invitation was made.
    package var isApprovedRequester = false
    /// The token of the participant's one-time link. The first person who opens it is this
    /// participant. The token stays after that, so that the same user may open the link again.
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

/// A user who asks for access to a share.
package struct RequesterRow: Hashable, Sendable {
    package let user: UserName
    /// The time of the request, in milliseconds since 1970.
    package let milliseconds: Int64
    package init(user: UserName, milliseconds: Int64) {
        self.user = user
        self.milliseconds = milliseconds
    }
}

/// A person that a share is closed to.
package struct BlockedRow: Hashable, Sendable {
    /// The person. The lookup is normalised and names at least one of user, e-mail address and
    /// telephone number.
    package let lookup: UserLookup
    package init(lookup: UserLookup) { self.lookup = lookup }
}

/// A zone in a user's shared database. It is there while at least one share of it is accepted.
package struct SharedZoneRow: Hashable, Sendable {
    package let viewer: UserName
    package let zone: ZoneKey
    /// A random number that changes whenever the set of accepted shares changes. Older tokens of
    /// this view expire.
    package var incarnation: UInt64
    /// The accepted shares, by the names of their records.
    package var shares: [RecordName]
    package init(viewer: UserName, zone: ZoneKey, incarnation: UInt64, shares: [RecordName]) {
        self.viewer = viewer
        self.zone = zone
        self.incarnation = incarnation
        self.shares = shares
    }
}
