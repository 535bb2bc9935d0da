import Logging
package import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// The public database. It has one zone and no feed (Apple, "CloudKit Web Services": changes/zone
/// is for custom zones of private and shared databases). For each mirrored type the engine asks for
/// new records. From time to time it compares all names to find deleted records.
extension Exchange {
    /// The pause before the next comparison, as a multiple of the time that the last one took. With
    /// it, comparing large types is a small part of all work.
    private static let pause = 20

    /// Returns the zone of the public database, which always may have news. Makes the zone when it
    /// does not exist.
    func publicNews() throws(SyncProblem) -> DatabaseNews {
        let known = try read { (store) throws(RecordError) in
            try store.syncState.zonesOfServer(in: .public).first { $0.name == .publicZone }
        }
        if let known { return DatabaseNews(zones: [known.id], token: []) }
        let zone = try write { (transaction) throws(RecordError) in
            let zone = try transaction.makeZone(.public, .me, .publicZone)
            try transaction.feed.setFeedToken(Array("public".utf8), of: .zone(zone.id))
            return zone.id
        }
        return DatabaseNews(zones: [zone], token: [])
    }

    /// Downloads the changes of others in the mirrored types.
    ///
    /// A problem of one type does not delay the others. The first problem is thrown at the end.
    /// - Returns: the number of records that have changed in the store.
    func mirror(_ zone: SyncedZone) async throws(SyncProblem) -> Int {
        try await resume(zone)
        var changed = 0
        var problem: SyncProblem?
        for type in try mirroredTypes(zone) {
            do throws(SyncProblem) {
                changed += try await mirror(type, zone)
            } catch {
                if error.isOfServer { throw error }
                problem = problem ?? error
            }
        }
        if let problem { throw problem }
        return changed
    }

    /// Returns the types of the settings, or those that have a directory.
    private func mirroredTypes(_ zone: SyncedZone) throws(SyncProblem) -> [RecordTypeName] {
        guard let types = settings.policy.publicTypes else {
            return try read { (store) throws(RecordError) in
                try store.types(in: zone.id).map(\.name)
            }
        }
        let missing = try read { (store) throws(RecordError) in
            try Set(types).subtracting(store.types(in: zone.id).map(\.name))
        }
        if !missing.isEmpty {
            try write { (transaction) throws(RecordError) in
                for type in missing { _ = try transaction.makeType(zone.id, type) }
            }
        }
        return types
    }

    /// Looks only for new records for an hour, as after a comparison that took minutes.
    package func putOffComparison(of type: RecordTypeName) {
        guard let known = publicTypes[type] else { return }
        publicTypes[type] = PublicTypes.Known(
            mark: known.mark, nextComparison: .now + .seconds(3_600))
    }

    private func mirror(
        _ type: RecordTypeName, _ zone: SyncedZone
    ) async throws(SyncProblem) -> Int {
        let query = PublicQuery(exchange: self, type: type, zone: zone)
        if let known = publicTypes[type], let mark = known.mark {
            let news = try await query.bringNew(since: mark)
            publicTypes[type] = PublicTypes.Known(
                mark: news.mark, nextComparison: known.nextComparison)
            return news.changed
        }
        let start = ContinuousClock.now
        // Changes during the comparison are newer than this mark, so the next look finds them.
        let mark = try await query.newestModification()
        let changed = try await query.compare()
        let took = ContinuousClock.now - start
        publicTypes[type] = PublicTypes.Known(
            mark: mark, nextComparison: start + took * (Self.pause + 1))
        return changed
    }
}
