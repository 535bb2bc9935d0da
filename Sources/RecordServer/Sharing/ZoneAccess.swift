package import RecordModel
package import RecordWire

/// What one caller may see and do in one zone, as true as the transaction that it was read in.
package struct ZoneAccess: Sendable {
    package enum View: Sendable, Hashable {
        /// One's own zone: everything.
        case owner
        /// What the roles of the caller are granted for each record type.
        case publicDatabase
        /// A zone of somebody else, through these accepted shares.
        case participant(SharedZoneRow, permissions: [RecordName: SharePermission])
    }

    package let zone: ZoneRow
    package let view: View
    /// Nil for a caller without a user.
    package let user: UserRow?

    package init(zone: ZoneRow, view: View, user: UserRow?) {
        self.zone = zone
        self.view = view
        self.user = user
    }

    /// The shares whose members this view is limited to; nil when it shows the whole zone.
    package var visibleShares: [RecordName]? {
        guard case .participant(let row, _) = view else { return nil }
        return row.shares.contains(.zoneShare) ? nil : row.shares
    }

    /// What a participant may do with the members of this share; the owner may do anything.
    package func permission(for share: RecordName?) -> SharePermission {
        switch view {
        case .owner, .publicDatabase: return .readWrite
        case .participant(_, let permissions):
            if let permission = permissions[.zoneShare] { return permission }
            guard let share else { return .none }
            return permissions[share] ?? .none
        }
    }

    /// Whether the record is there for this view at all.
    package func shows(_ record: StoredRecord) -> Bool {
        guard let shares = visibleShares else { return true }
        return record.share.map { shares.contains($0) } ?? false
    }
}
