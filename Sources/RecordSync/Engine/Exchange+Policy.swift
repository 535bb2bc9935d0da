import Logging
import RecordModel
import RecordStore

/// Which zones are here, and how much of them.
extension Exchange {
    /// Makes what is here fit the policy, which may have changed since the last time.
    ///
    /// A zone that shall not be here goes, unless it has something that only this machine has: then it
    /// goes another time. One that is wanted again is told of anew.
    package func applyPolicy() throws(SyncProblem) {
        guard database == .private else { return }
        let zones = try read { (store) throws(RecordError) in
            try store.zonesOfServer(in: database).filter { !$0.isRemoved }
        }
        for zone in zones {
            switch settings.policy.extent(of: zone.name) {
            case .full?:
                _ = try write { (transaction) throws(RecordError) in
                    try transaction.pin(.zone(zone.id), in: zone.id)
                }
            case .onDemand?:
                _ = try write { (transaction) throws(RecordError) in
                    try transaction.unpin(.zone(zone.id))
                }
            case SyncPolicy.Extent.none?: try leave(zone)
            case nil: break
            }
        }
        try write { (transaction) throws(RecordError) in
            if try transaction.notePolicy(settings.policy.zonesText) {
                try transaction.setFeedToken(nil, of: .database(database))
            }
        }
    }

    private func leave(_ zone: SyncedZone) throws(SyncProblem) {
        let left = try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.leaveZone(zone.id)
        }
        if !left {
            logger.notice(
                "A zone stays although it shall not be here: this machine alone has some of it",
                metadata: ["zone": "\(zone.name)"])
        }
    }

    /// Whether a zone of the server is not for this store.
    func isLeftOut(_ zone: ZoneName) -> Bool {
        database == .private && settings.policy.extent(of: zone) == SyncPolicy.Extent.none
    }
}
