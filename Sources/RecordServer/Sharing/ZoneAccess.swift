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
    /// The roots of the hierarchies that the view is limited to: what is above them is the owner's.
    package let roots: Set<RecordName>

    package init(
        zone: ZoneRow, view: View, user: UserRow?, roots: Set<RecordName> = []
    ) {
        self.zone = zone
        self.view = view
        self.user = user
        self.roots = roots
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

    /// Whether the parent of this record is outside of what the view shows.
    package func hidesParent(of record: RecordName) -> Bool {
        visibleShares != nil && roots.contains(record)
    }

    /// The record as this view has it: nothing in it names what the view does not show.
    package func shown(_ record: StoredRecord) -> StoredRecord {
        guard record.parent != nil, hidesParent(of: record.name) else { return record }
        var shown = record
        shown.parent = nil
        return shown
    }

    /// Whether the record is there for this view at all.
    package func shows(_ record: StoredRecord) -> Bool {
        guard let shares = visibleShares else { return true }
        return record.share.map { shares.contains($0) } ?? false
    }
}
