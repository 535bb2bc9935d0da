import Logging
import RecordModel
import RecordStore
import RecordStoreSync

/// Decides which zones are on this machine, and how much of each.
extension Exchange {
    /// Makes the content of the store fit the policy, which may have changed since the last time.
    ///
    /// A zone that the policy leaves out is removed, unless it contains something that only this
    /// machine has: then it is removed at another time. A zone that is wanted again is reported
    /// again by the feed.
    package func applyPolicy() throws(SyncProblem) {
        guard database == .private else { return }
        let zones = try read { (store) throws(RecordError) in
            try store.syncState.zonesOfServer(in: database).filter { !$0.isRemoved }
        }
        for zone in zones {
            switch settings.policy.extent(of: zone.name) {
            case .full?:
                _ = try write { (transaction) throws(RecordError) in
                    try transaction.assets.pin(.zone(zone.id), in: zone.id)
                }
            case .onDemand?:
                _ = try write { (transaction) throws(RecordError) in
                    try transaction.assets.unpin(.zone(zone.id))
                }
            case SyncPolicy.Extent.none?: try leave(zone)
            case nil: break
            }
        }
        try write { (transaction) throws(RecordError) in
            if try transaction.outbox.notePolicy(settings.policy.zonesText) {
                try transaction.feed.setFeedToken(nil, of: .database(database))
            }
        }
    }

    private func leave(_ zone: SyncedZone) throws(SyncProblem) {
        let left = try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.outbox.leaveZone(zone.id)
        }
        if !left {
            logger.notice(
                "A zone stays although it shall not be here: this machine alone has some of it",
                metadata: ["zone": "\(zone.name)"])
        }
    }

    /// Returns whether the policy leaves a zone of the server out of this store.
    func isLeftOut(_ zone: ZoneName) -> Bool {
        database == .private && settings.policy.extent(of: zone) == SyncPolicy.Extent.none
    }
}
