import RecordModel
package import RecordStore
import RecordWire

extension Exchange {
    /// Sends what has changed here in a zone until nothing is left that can go.
    ///
    /// A zone that only this machine has is made. One that was removed here is removed there when its
    /// records are, and when nobody has put anything into it meanwhile.
    /// - Returns: how many changes the server has taken.
    @discardableResult
    package func upload(_ zone: SyncedZone) async throws(SyncProblem) -> Int {
        do throws(SyncProblem) {
            return try await sendAll(of: zone)
        } catch  where error.reaction == .findZone {
            // It is gone there: what was edited here is sent into a new one.
            try await download(zone)
            guard let zone = try self.zone(zone.id), try !isKnown(zone) else { throw error }
            return try await sendAll(of: zone)
        }
    }

    private func isKnown(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in
            try store.feedToken(of: .zone(zone.id)) != nil
        }
    }

    private func sendAll(of zone: SyncedZone) async throws(SyncProblem) -> Int {
        try await resume(zone)
        let isKnown = try isKnown(zone)
        if !isKnown && !zone.isRemoved {
            try await makeThere(zone)
            // From now on it is one that the server has: when somebody removes it there, it goes here.
            try await download(zone)
        }
        if isKnown && zone.isRemoved { try await download(zone) }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.releaseOutbox(in: zone.id)
        }
        var sent = 0
        var fruitless = 0
        var limits = settings.claims
        while true {
            let claims = try write { (transaction) throws(RecordError) in
                try transaction.claimOutbox(in: zone.id, limits: limits)
            }
            guard !claims.isEmpty else { break }
            let round = try await send(claims, of: zone)
            sent += round.sent
            fruitless = round.sent + round.parked == 0 ? fruitless + 1 : 0
            if let problem = round.problem { throw problem }
            if fruitless > settings.fruitlessRequests {
                throw .fruitless(
                    "The server takes none of the changes and names no lasting reason.")
            }
            limits.records =
                round.isTooLarge
                ? max(1, claims.count / 2) : min(settings.claims.records, limits.records * 2)
        }
        if isKnown, zone.isRemoved, try isEmptied(zone) {
            // What others have put into it while the deletes were sent.
            try await download(zone)
            if try isEmptied(zone) { try await removeThere(zone) }
        }
        return sent
    }

    /// Whether all that was in a removed zone is gone there too, and nothing has brought it back.
    private func isEmptied(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in
            guard try store.syncedZone(zone.id)?.isRemoved == true else { return false }
            return try !store.hasOutgoing(zone.id)
        }
    }

    /// What came of one request.
    struct Round {
        var sent = 0
        var parked = 0
        /// The request, or what it held, was too large for the server.
        var isTooLarge = false
        /// Why the rest of the upload has to wait.
        var problem: SyncProblem?
    }

    private func send(_ claims: [OutboxClaim], of zone: SyncedZone) async throws(SyncProblem)
        -> Round
    {
        var results = UploadResults(claims)
        do throws(SyncProblem) {
            let assets = try await bringAssets(of: claims, zone, &results)
            let request = try request(claims, zone, assets, &results)
            if !request.items.isEmpty { try await send(request, &results, zone) }
            try await lookUp(&results, zone)
        } catch {
            // What became of it, the same request asks when it comes again.
            if results.isUnanswered, error.mayBeDone { return Round(problem: error) }
            results.fail(error)
        }
        return try settle(results, zone)
    }

    private func send(
        _ request: ModifyRequest, _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        var request = request
        if settings.hasExtensions, let batch = results.all.first?.claim.row.batch {
            let id = Self.newOperationID()
            request.operationID = Text(id)
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.keepRequest(request.bytes, id: id, batch: batch, in: zone.id)
            }
            results.isUnanswered = true
        }
        try await send(request.bytes, &results, zone)
    }

    private func send(
        _ body: [UInt8], _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        let answer = try await transport.send(.recordsModify, scope, body) {
            json throws(ServerError) in try RecordsAnswer(json)
        }
        results.isUnanswered = false
        results.read(answer.items)
        for result in results.all where !results.isOpen(result.claim.row.name) {
            receipts.forget(result.claim.row.name, zone.id)
        }
    }

    /// That nobody else has.
    private static func newOperationID() -> String {
        let halves = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }
        return halves.joined(separator: "-")
    }

    /// Sends a request again that has no answer, with the same bytes: the server says what became of
    /// it when it came first, or does it now. Nothing else of the zone goes on before, so that what
    /// others have done since is not taken for something that was there before.
    func resume(_ zone: SyncedZone) async throws(SyncProblem) {
        let request = try read { (store) throws(RecordError) in
            try store.sentRequest(in: zone.id)
        }
        guard let request else { return }
        var results = UploadResults(request.claims, isRepeated: true)
        results.isUnanswered = true
        do throws(SyncProblem) {
            try await send(request.body, &results, zone)
            try await lookUp(&results, zone)
        } catch {
            if results.isUnanswered, error.tellsNothing { throw error }
            results.fail(error)
        }
        if let problem = try settle(results, zone).problem { throw problem }
    }

    private func request(
        _ claims: [OutboxClaim], _ zone: SyncedZone, _ assets: [OutgoingAsset.Place: WireAsset],
        _ results: inout UploadResults
    ) throws(SyncProblem) -> ModifyRequest {
        var items: [ModifyRequest.Item] = []
        for claim in claims where results.isOpen(claim.row.name) {
            if let operation = try operation(claim, assets) {
                items.append(.operation(operation))
            } else if claim.document == nil {
                // What is to be deleted may have arrived: its tag is asked for.
                results.lookUp(claim.row.name)
            }
        }
        var request = ModifyRequest(items: items, zone: ZoneIdentifier(zone))
        request.atomic = false
        request.projection.wantsAssetDetails = true
        return request
    }

    private func operation(
        _ claim: OutboxClaim, _ assets: [OutgoingAsset.Place: WireAsset]
    ) throws(SyncProblem) -> RecordOperation? {
        try read { (store) throws(RecordError) in
            let schema = try store.schema(of: claim.row.type)
            return RecordOperation(claim, schema: schema) { field, _, index in
                assets[OutgoingAsset.Place(record: claim.row.name, field: field, index: index)]
            }
        }
    }

    /// Asks for records that the server has in another state and did not tell.
    private func lookUp(
        _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        let names = results.toLookUp
        guard !names.isEmpty else { return }
        var request = LookupRequest(
            items: names.map { LookupRequest.Item(name: $0) }, zone: ZoneIdentifier(zone))
        request.projection.wantsAssetDetails = true
        let answer = try await transport.send(.recordsLookup, scope, request.bytes) {
            json throws(ServerError) in try RecordsAnswer(json)
        }
        results.readLookup(answer.items)
    }

    /// Writes down what became of all of them.
    private func settle(_ results: UploadResults, _ zone: SyncedZone) throws(SyncProblem) -> Round {
        var round = Round(isTooLarge: results.isTooLarge, problem: results.problem)
        var told: [(OutboxClaim, RemoteChange)] = []
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.forgetRequest(in: zone.id)
            for result in results.all {
                let claim = result.claim
                switch result.outcome {
                case .saved(let tag):
                    round.sent += 1
                    try transaction.completeOutbox(claim, changeTag: tag)
                case .deleted:
                    round.sent += 1
                    try transaction.completeOutbox(claim, changeTag: "")
                case .savedAndGone:
                    round.sent += 1
                    try transaction.completeOutbox(claim, changeTag: "")
                    _ = try transaction.applyRemote(
                        RemoteChange(deleted: claim.row.name), in: zone.id)
                case .unsent: try transaction.failOutbox(claim.row.id, error: nil)
                case .parked(let reason):
                    round.parked += 1
                    try transaction.failOutbox(claim.row.id, error: reason)
                case .differs, .gone: break
                }
            }
        }
        for result in results.all {
            switch result.outcome {
            case .differs(let answer): told.append((result.claim, try change(answer)))
            case .gone: told.append((result.claim, RemoteChange(deleted: result.claim.row.name)))
            case .saved, .deleted, .savedAndGone, .unsent, .parked: break
            }
        }
        for (claim, change) in told {
            if try !merge(change, into: claim, of: zone) { round.parked += 1 }
        }
        return round
    }

    /// What the server has instead of what was sent; it is sent again then. False when the two cannot
    /// be brought together: the change is parked with the reason.
    private func merge(
        _ change: RemoteChange, into claim: OutboxClaim, of zone: SyncedZone
    ) throws(SyncProblem) -> Bool {
        do throws(SyncProblem) {
            try write { (transaction) throws(RecordError) in
                try transaction.failOutbox(claim.row.id, error: nil)
                _ = try transaction.applyRemote(change, in: zone.id)
            }
            return true
        } catch  where error.isAboutContent {
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.failOutbox(
                    claim.row.id, error: "The server's record cannot be merged: \(error)")
            }
            return false
        }
    }
}
