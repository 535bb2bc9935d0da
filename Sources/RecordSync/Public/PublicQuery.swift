import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// The records of one type of the public database, requested by queries.
struct PublicQuery: Sendable {
    let exchange: Exchange
    let type: RecordTypeName
    let zone: SyncedZone

    /// A request asks also for changes that are older than the newest known one by this time. A
    /// server may show records that were modified at the same time in any order.
    private static let overlap = Duration.seconds(60)
    /// The number of records in one lookup request.
    private static let lookupRecords = 200

    /// The place where a query continues.
    private enum Place: Equatable {
        case beginning
        case marker(Text)
        case end
    }

    // MARK: New records

    /// The result of asking for changes.
    struct News {
        var changed = 0
        var mark: Timestamp
    }

    /// Returns the time when the newest record was modified, or the beginning of time when there is
    /// none. Returns nil when the schema has no index for the question.
    func newestModification() async throws(SyncProblem) -> Timestamp? {
        var request = self.request(desiredKeys: [])
        request.query.sorts = [QuerySort(field: .system(.modifiedTimestamp), ascending: false)]
        request.resultsLimit = 1
        do throws(SyncProblem) {
            var place = Place.beginning
            while place != .end {
                let items = try await page(&request, &place)
                if let newest = items.compactMap(\.modified).max() { return newest }
            }
            return Timestamp(seconds: 0)
        } catch  where error.isOfQuery {
            return nil
        }
    }

    /// Downloads the records that were modified since a time.
    func bringNew(since mark: Timestamp) async throws(SyncProblem) -> News {
        var request = self.request()
        let after = (mark - Self.overlap).milliseconds
        request.query.filters = [
            QueryFilter(
                comparator: .greaterThanOrEquals, field: .system(.modifiedTimestamp),
                value: WireField(
                    name: FieldName("modifiedTimestamp"),
                    value: .timestamp(milliseconds: max(after, 0)), type: .timestamp))
        ]
        request.query.sorts = [QuerySort(field: .system(.modifiedTimestamp))]
        var news = News(mark: mark)
        var place = Place.beginning
        while place != .end {
            let items = try await page(&request, &place)
            news.mark = max(news.mark, items.compactMap(\.modified).max() ?? news.mark)
            news.changed += try await exchange.apply(items, of: zone)
        }
        return news
    }

    // MARK: Deleted records

    /// Compares all names and change tags with the known ones, downloads the records that differ,
    /// and moves records that the server no longer has to the trash.
    /// - Returns: the number of records that have changed in the store.
    func compare() async throws(SyncProblem) -> Int {
        try exchange.write { (transaction) throws(RecordError) in
            try transaction.feed.abandonFeedPass(of: zone.id)
            try transaction.feed.beginFeedPass(of: zone.id)
        }
        let isEmpty = try missing(limit: 1).isEmpty
        var changed = 0
        // When this machine has no records of the type, names alone are of no use.
        var request = isEmpty ? self.request() : self.request(desiredKeys: [])
        var place = Place.beginning
        while place != .end {
            let items: [RecordItem]
            do throws(SyncProblem) {
                items = try await page(&request, &place)
            } catch  where error.reaction == .remake && place == .beginning {
                // Nobody has made a record of the type, or the schema was reset.
                break
            }
            changed +=
                isEmpty
                ? try await exchange.apply(items, of: zone) : try await bringDifferent(items)
        }
        changed += try await removeMissing()
        try exchange.write { (transaction) throws(RecordError) in
            try transaction.feed.abandonFeedPass(of: zone.id)
        }
        return changed
    }

    /// - Parameter items: records with only their names and tags.
    private func bringDifferent(_ items: [RecordItem]) async throws(SyncProblem) -> Int {
        let told = items.compactMap(\.version)
        let different = try exchange.write { (transaction) throws(RecordError) in
            try transaction.feed.noteTold(told, in: zone.id)
        }
        return try await exchange.bring(different, of: zone)
    }

    /// Removes records that the server no longer has. A record is not removed only because it was
    /// not in a list: first it is requested by its name.
    private func removeMissing() async throws(SyncProblem) -> Int {
        var changed = 0
        while true {
            let names = try missing(limit: Self.lookupRecords)
            guard !names.isEmpty else { return changed }
            changed += try await exchange.bring(names, of: zone)
            // Whatever the answers were, these records were requested.
            try exchange.write { (transaction) throws(RecordError) in
                for name in names { try transaction.feed.noteTold(name, in: zone.id) }
            }
        }
    }

    private func missing(limit: Int) throws(SyncProblem) -> [RecordName] {
        try exchange.read { (store) throws(RecordError) in
            try store.syncState.untoldRecords(type, in: zone.id, limit: limit)
        }
    }

    // MARK: Requests

    private func request(desiredKeys: [FieldName]? = nil) -> QueryRequest {
        var request = QueryRequest(
            query: WireQuery(recordType: exchange.store.model.serverType(of: type)),
            resultsLimit: Self.lookupRecords)
        request.zone = ZoneIdentifier(zone)
        request.projection = exchange.projection
        request.projection.desiredKeys = desiredKeys
        return request
    }

    /// Returns the next page, and sets the place after it.
    private func page(
        _ request: inout QueryRequest, _ place: inout Place
    ) async throws(SyncProblem) -> [RecordItem] {
        if case .marker(let marker) = place { request.continuationMarker = marker }
        let answer = try await exchange.transport.send(
            .recordsQuery, exchange.scope, request.bytes
        ) { json throws(ServerError) in try RecordsAnswer(json) }
        let next = answer.continuationMarker.map { Place.marker($0) } ?? .end
        guard next != place else {
            throw .unreadable("records/query: more is coming behind a marker that stays.")
        }
        place = next
        return answer.items
    }
}

extension SyncProblem {
    /// Indicates whether the schema does not allow the query, or does not know the type.
    fileprivate var isOfQuery: Bool {
        guard case .refused(let error) = self else { return false }
        return error.code == .badRequest || error.code == .notFound
    }
}

extension RecordItem {
    fileprivate var modified: Timestamp? {
        guard case .record(let answer) = self, let stamp = answer.modified else { return nil }
        return Timestamp(seconds: 0) + .milliseconds(stamp.milliseconds)
    }

    /// The name and the change tag of a record, without its fields.
    fileprivate var version: (RecordName, String)? {
        guard case .record(let answer) = self else { return nil }
        return (answer.name, answer.changeTag.string)
    }
}
