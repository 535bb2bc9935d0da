import RecordModel
package import RecordWire

extension ShareRules {
    /// Stores the new state of a share (nil: none before, or none any more). Gives every viewer
    /// whose set of accepted shares changed another view, so that older tokens of it expire. The
    /// caller writes the share record, its root and the members.
    package static func apply(
        old: ShareRow?, new: ShareRow?, ids: inout RandomIDs,
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        guard let share = new ?? old else { return }
        if let new {
            try transaction.putShare(new)
        } else {
            try transaction.deleteShare(share.zone, share.name)
        }
        let before = old?.viewers ?? []
        let after = new?.viewers ?? []
        for viewer in before.symmetricDifference(after).sorted() {
            let shown = try transaction.sharedZone(viewer, share.zone)?.shares ?? []
            var shares = shown.filter { $0 != share.name }
            if after.contains(viewer) { shares.append(share.name) }
            if shares.isEmpty {
                try transaction.deleteSharedZone(viewer, share.zone, reason: .deleted)
            } else {
                try transaction.putSharedZone(
                    SharedZoneRow(
                        viewer: viewer, zone: share.zone, incarnation: ids.incarnation(),
                        shares: shares.sorted()))
            }
        }
    }

    /// Removes a zone from every shared database, before the zone itself is deleted.
    package static func endViews(
        of zone: ZoneKey, reason: DeletionReason, _ transaction: any StorageTransaction
    ) throws(ServerError) {
        for viewer in try transaction.viewers(zone) {
            try transaction.deleteSharedZone(viewer.viewer, zone, reason: reason)
        }
    }
}
