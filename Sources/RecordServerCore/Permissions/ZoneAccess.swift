package import RecordModel
package import RecordWire

/// The view and the rights of one caller in one zone, as true as the transaction that it was read
/// in.
package struct ZoneAccess: Sendable {
    package enum View: Sendable, Hashable {
        /// The caller's own zone: everything.
        case owner
        /// The public database: the grants of the caller's roles for each record type.
        case publicDatabase
        /// Another user's zone, through these accepted shares.
        case participant(SharedZoneRow, permissions: [RecordName: SharePermission])
    }

    package let zone: ZoneRow
    package let view: View
    /// The user. It is nil for a caller without one.
    package let user: UserRow?
    /// The roots of the hierarchies that the view is limited to. The records above them belong to
    /// the owner alone.
    package let roots: Set<RecordName>

    package init(
        zone: ZoneRow, view: View, user: UserRow?, roots: Set<RecordName> = []
    ) {
        self.zone = zone
        self.view = view
        self.user = user
        self.roots = roots
    }

    /// The shares whose members this view is limited to. It is nil when the view shows the whole
    /// zone.
    package var visibleShares: [RecordName]? { view.visibleShares }

    /// Returns the permission of a participant for the members of this share. The owner may do
    /// anything.
    package func permission(for share: RecordName?) -> SharePermission {
        view.permission(for: share)
    }

    /// Returns whether the parent of this record is outside of the view.
    package func hidesParent(of record: RecordName) -> Bool {
        visibleShares != nil && roots.contains(record)
    }

    /// Returns the record as this view has it: nothing in it names a record that the view does not
    /// show.
    package func shown(_ record: StoredRecord) -> StoredRecord {
        guard record.parent != nil, hidesParent(of: record.name) else { return record }
        var shown = record
        shown.parent = nil
        return shown
    }

    /// Returns whether the view shows the record at all.
    package func shows(_ record: StoredRecord) -> Bool {
        Sight(shares: visibleShares, grants: .none).includes(record.share)
    }
}

extension ZoneAccess.View {
    /// The shares whose members the view is limited to. It is nil when the view shows the whole
    /// zone.
    package var visibleShares: [RecordName]? {
        guard case .participant(let row, _) = self else { return nil }
        return row.shares.contains(.zoneShare) ? nil : row.shares
    }

    /// Returns the permission of a participant for the members of this share. The owner may do
    /// anything.
    func permission(for share: RecordName?) -> SharePermission {
        switch self {
        case .owner, .publicDatabase: return .readWrite
        case .participant(_, let permissions):
            if let permission = permissions[.zoneShare] { return permission }
            guard let share else { return .none }
            return permissions[share] ?? .none
        }
    }
}
