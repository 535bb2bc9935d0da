package import RecordModel
import RecordStore
import RecordStoreSync

extension Exchange {
    /// Does the due work of one zone. The download is first: changes of others are merged on this
    /// machine, so that the server does not refuse the upload because of them.
    /// - Returns: the number of records that have changed in the store, or were sent.
    @discardableResult
    package func work(
        _ id: ZoneID, downloads: Bool, uploads: Bool
    ) async throws(SyncProblem) -> Int {
        await zonesInWork.begin(id)
        defer { zonesInWork.end(id) }
        var count = 0
        if downloads, let zone = try zone(id) { count += try await download(zone) }
        if downloads, let zone = try zone(id), !zone.isRemoved {
            count += try await retryPassedOver(in: zone)
        }
        if downloads { try shares.scrub() }
        if uploads, let zone = try zone(id) { count += try await upload(zone) }
        return count
    }

    /// Returns a zone of this database. Returns nil for a zone of another database: `local` never
    /// leaves this machine.
    func zone(_ id: ZoneID) throws(SyncProblem) -> SyncedZone? {
        let zone = try read { (store) throws(RecordError) in try store.syncState.syncedZone(id) }
        return zone?.database == database ? zone : nil
    }

    /// Returns the user's own zone with this name, if the server and this machine have it.
    func zoneID(of name: ZoneName) throws(SyncProblem) -> ZoneID? {
        try read { (store) throws(RecordError) in
            try store.syncState.zonesOfServer(in: database).first {
                $0.name == name && !$0.isRemoved
            }?.id
        }
    }

    /// Returns the zones with changes to send.
    /// - Parameter zone: the only zone to look at, or nil for all.
    func zonesWithWork(_ zone: ZoneID? = nil) throws(SyncProblem) -> [SyncedZone] {
        try read { (store) throws(RecordError) in
            try store.syncState.zonesWithWork(in: database, zone)
        }
    }

    /// Does all due work once and in order: download, then upload. For callers that work step by
    /// step, such as tests. In the daemon `SyncSchedule` sets the order.
    ///
    /// A problem of one zone does not delay the others. The first problem is thrown at the end.
    package func round() async throws(SyncProblem) {
        let news = try await fetchDatabase()
        var problem: SyncProblem?
        let named = news?.zones ?? []
        for zone in try named + zonesToRetry().filter({ !named.contains($0) }) {
            do throws(SyncProblem) {
                try await work(zone, downloads: true, uploads: false)
            } catch {
                if error.isOfServer { throw error }
                problem = problem ?? error
            }
        }
        if let news, problem == nil { try finish(news) }
        for zone in try zonesWithWork() {
            do throws(SyncProblem) {
                try await work(zone.id, downloads: false, uploads: true)
            } catch {
                if error.isOfServer { throw error }
                problem = problem ?? error
            }
        }
        if let problem { throw problem }
    }
}
