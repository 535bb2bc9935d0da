import RecordModel
import RecordStore
import RecordWire

/// Records that are asked for by their names.
extension Exchange {
    private static let namesOfRequest = 200

    /// What the server has under these names, at most as many as one request takes.
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

    /// Brings records as the server has them; those that it has not go.
    /// - Returns: how many have changed here.
    func bring(_ names: [RecordName], of zone: SyncedZone) async throws(SyncProblem) -> Int {
        var changed = 0
        for start in stride(from: 0, to: names.count, by: Self.namesOfRequest) {
            let some = names[start..<min(start + Self.namesOfRequest, names.count)]
            let items = try await lookUp(some, in: zone)
            changed += try await apply(items.map(\.goneWhereNotFound), of: zone)
        }
        return changed
    }

    /// Asks once more for records that could not be shown here, when somebody wants it or the schema
    /// here is another one.
    /// - Returns: how many have changed here.
    func retryPassedOver(in zone: SyncedZone) async throws(SyncProblem) -> Int {
        var changed = 0
        while true {
            let names = try read { (store) throws(RecordError) in
                try store.passedOverToRetry(in: zone.id, limit: Self.namesOfRequest)
            }
            guard !names.isEmpty else { return changed }
            changed += try await bring(names, of: zone)
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.endRetry(of: names, in: zone.id)
            }
        }
    }

    /// The zones in which that is due.
    func zonesToRetry() throws(SyncProblem) -> [ZoneID] {
        try read { (store) throws(RecordError) in
            try store.zonesWithPassedOverToRetry(in: database)
        }
    }
}

extension RecordItem {
    /// Of a lookup: what is not found is gone.
    fileprivate var goneWhereNotFound: RecordItem {
        if case .failed(let name?, let error) = self, Reaction(error) == .remake {
            .deleted(name)
        } else {
            self
        }
    }
}
