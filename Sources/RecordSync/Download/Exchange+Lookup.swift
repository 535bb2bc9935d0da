import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// Requests for records by their names.
extension Exchange {
    private static let namesOfRequest = 200

    /// Returns the records that the server has under these names. At most as many names as one
    /// request takes.
    func lookUp(
        _ names: some Sequence<RecordName>, in zone: SyncedZone
    ) async throws(SyncProblem) -> [RecordItem] {
        var request = LookupRequest(
            items: names.map { LookupRequest.Item(name: $0) }, zone: ZoneIdentifier(zone))
        request.projection = projection
        return try await lookUp(request)
    }

    func lookUp(_ request: LookupRequest) async throws(SyncProblem) -> [RecordItem] {
        try await transport.send(.recordsLookup, scope, request.bytes) {
            json throws(ServerError) in try RecordsAnswer(json)
        }.items
    }

    /// Downloads records as the server has them. Records that the server does not have are deleted
    /// here.
    /// - Returns: the number of records that have changed in the store.
    func bring(_ names: [RecordName], of zone: SyncedZone) async throws(SyncProblem) -> Int {
        var changed = 0
        for start in stride(from: 0, to: names.count, by: Self.namesOfRequest) {
            let some = names[start..<min(start + Self.namesOfRequest, names.count)]
            let items = try await lookUp(some, in: zone)
            changed += try await apply(items.map(\.goneWhereNotFound), of: zone)
        }
        return changed
    }

    /// Asks again for records that could not be shown on this machine, when somebody requested it
    /// or when the local schema has changed.
    /// - Returns: the number of records that have changed in the store.
    func retryPassedOver(in zone: SyncedZone) async throws(SyncProblem) -> Int {
        var changed = 0
        while true {
            let names = try read { (store) throws(RecordError) in
                try store.syncState.passedOverToRetry(in: zone.id, limit: Self.namesOfRequest)
            }
            guard !names.isEmpty else { return changed }
            changed += try await bring(names, of: zone)
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.feed.endRetry(of: names, in: zone.id)
            }
        }
    }

    /// Returns the zones with records to ask for again.
    func zonesToRetry() throws(SyncProblem) -> [ZoneID] {
        try read { (store) throws(RecordError) in
            try store.syncState.zonesWithPassedOverToRetry(in: database)
        }
    }
}

extension RecordItem {
    /// The item of a lookup in which a record that was not found counts as deleted.
    fileprivate var goneWhereNotFound: RecordItem {
        if case .failed(let name?, let error) = self, Reaction(error) == .remake {
            .deleted(name)
        } else {
            self
        }
    }
}
