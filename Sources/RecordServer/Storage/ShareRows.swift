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
