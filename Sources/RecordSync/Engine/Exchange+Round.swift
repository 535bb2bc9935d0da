package import RecordModel
import RecordStore

extension Exchange {
    /// What is due in one zone. Fetching comes first: what others have changed is merged here before
    /// it would be refused there.
    /// - Returns: how many records have changed here, or are sent.
    @discardableResult
    package func work(
        _ id: ZoneID, downloads: Bool, uploads: Bool
    ) async throws(SyncProblem) -> Int {
        var count = 0
        if downloads, let zone = try zone(id) { count += try await download(zone) }
        if downloads, let zone = try zone(id), !zone.isRemoved {
            count += try await retryPassedOver(in: zone)
        }
        if downloads { try scrub() }
        if uploads, let zone = try zone(id) { count += try await upload(zone) }
        return count
    }

    /// Nil for a zone of another database: `local` never leaves this machine.
    func zone(_ id: ZoneID) throws(SyncProblem) -> SyncedZone? {
        let zone = try read { (store) throws(RecordError) in try store.syncedZone(id) }
        return zone?.database == database ? zone : nil
    }

    /// A zone of the server that is here, by its name; one's own.
    func zoneID(of name: ZoneName) throws(SyncProblem) -> ZoneID? {
        try read { (store) throws(RecordError) in
            try store.zonesOfServer(in: database).first { $0.name == name && !$0.isRemoved }?.id
        }
    }

    /// Those in which something has to be sent.
    /// - Parameter zone: nil for all.
    func zonesWithWork(_ zone: ZoneID? = nil) throws(SyncProblem) -> [SyncedZone] {
        try read { (store) throws(RecordError) in try store.zonesWithWork(in: database, zone) }
    }

    /// All that there is to do, once and in order: fetch, then send. For who goes step by
    /// step, as tests do; the daemon's order is `SyncSchedule`'s.
    ///
    /// A zone's problem does not keep the others waiting; the first is thrown at the end.
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
