import RecordModel
package import RecordStore
import RecordStoreSync
import RecordWire

extension Exchange {
    /// Sends the local changes of a zone until nothing is left that can be sent.
    ///
    /// A zone that only this machine has is made on the server. A zone that was removed on this
    /// machine is removed on the server when its records are deleted there and nobody has put
    /// anything into it in the meantime.
    /// - Returns: the number of changes that the server has taken.
    @discardableResult
    package func upload(_ zone: SyncedZone) async throws(SyncProblem) -> Int {
        do throws(SyncProblem) {
            return try await sendAll(of: zone)
        } catch  where error.reaction == .findZone {
            // The zone is gone on the server: local edits are sent to a new zone.
            try await download(zone)
            guard let zone = try self.zone(zone.id), try !isKnown(zone) else { throw error }
            return try await sendAll(of: zone)
        } catch  where error.reaction == .restartFeed {
            // The server was restored: first this machine downloads the records that the server
            // has.
            try await download(zone)
            return try await sendAll(of: zone)
        }
    }

    /// The number of changes after which an upload gives back unused memory. One request takes
    /// fewer changes.
    private static let manyChanges = 1_000

    func isKnown(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in
            try store.syncState.feedToken(of: .zone(zone.id)) != nil
        }
    }

    private func mayBeOnServer(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in try store.syncState.mayBeOnServer(zone.id) }
    }

    private func sendAll(of zone: SyncedZone) async throws(SyncProblem) -> Int {
        var sent = try await resume(zone)
        // A removed zone may be there although its feed was never read.
        let isKnown = zone.isRemoved ? try mayBeOnServer(zone) : try isKnown(zone)
        if !isKnown && !zone.isRemoved {
            // A zone of others already exists on the server, or this machine could not make it.
            let first = database == .shared ? nil : try await makeThere(zone)
            // From now on the server has this zone: when somebody removes it there, it is removed
            // here.
            try await download(zone, first: first)
        }
        if isKnown && zone.isRemoved { try await download(zone) }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.outbox.releaseOutbox(in: zone.id)
        }
        defer { if sent > Self.manyChanges { store.upkeep.noteMuchWork() } }
        var fruitless = 0
        var order = UploadOrder()
        let most = sizes.limits(of: zone.id, settings.claims)
        var limits = most
        var hasRoom = false
        var asked: Set<RecordName> = []
        while true {
            if hasRoom, let wait = settings.waitForMore, try hasReady(zone) { await wait() }
            let claims = try write { (transaction) throws(RecordError) in
                let claims = try transaction.outbox.claimOutbox(
                    in: zone.id, limits: limits, except: order.exceptions)
                if !claims.isEmpty { try noteBegin(.export, zone.id, transaction) }
                return claims
            }
            if claims.isEmpty {
                if order.beginAnew() { continue }
                break
            }
            hasRoom = hasRoomLeft(claims)
            let round = try await send(claims, of: zone, takesBack: order.takesBack, asked)
            order.note(round)
            if !round.vanished.isEmpty {
                asked.formUnion(round.vanished)
                try await download(zone)
            }
            sent += round.sent
            fruitless = round.isFruitless ? fruitless + 1 : 0
            if let problem = round.problem { throw problem }
            if fruitless > settings.fruitlessRequests {
                throw .fruitless(
                    "The server takes none of the changes and names no lasting reason.")
            }
            limits.records =
                round.isTooLarge
                ? max(1, claims.count / 2) : min(most.records, limits.records * 2)
        }
        if let problem = order.problem { throw problem }
        if isKnown, zone.isRemoved, try isEmptied(zone) {
            // Downloads records that others have put into the zone while the deletes were sent.
            try await download(zone)
            if try isEmptied(zone) { try await removeThere(zone) }
        }
        return sent
    }

    /// Returns whether a request had room for a quarter more. Then it is worth waiting for more
    /// changes.
    private func hasRoomLeft(_ claims: [OutboxClaim]) -> Bool {
        let limits = settings.claims
        return claims.count < limits.records / 4 * 3
            && claims.reduce(0) { $0 + $1.bytes } < limits.bytes / 4 * 3
    }

    private func hasReady(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in try store.syncState.hasReady(zone.id) }
    }

    /// Returns whether everything in a removed zone is deleted on the server too, and nothing has
    /// brought the zone back.
    private func isEmptied(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in
            guard try store.syncState.syncedZone(zone.id)?.isRemoved == true else { return false }
            return try !store.syncState.hasOutgoing(zone.id)
        }
    }

    /// The result of one request.
    struct Round {
        var sent = 0
        var parked = 0
        /// Deletes of records that still have children, and changes that do not fit the quota.
        var blocked: Set<Int64> = []
        var withoutRoom: Set<Int64> = []
        /// Records that edits did not find. The feed may report more about them.
        var vanished: Set<RecordName> = []
        /// The server's answer about the quota.
        var quota: SyncProblem?
        /// Indicates whether the request, or something in it, was too large for the server.
        var isTooLarge = false
        /// The reason why the rest of the upload has to wait.
        var problem: SyncProblem?
        var isFruitless: Bool {
            sent + parked == 0 && blocked.isEmpty && withoutRoom.isEmpty
        }
    }

    private func send(
        _ claims: [OutboxClaim], of zone: SyncedZone, takesBack: Bool, _ asked: Set<RecordName>
    ) async throws(SyncProblem) -> Round {
        let claims = claims.map { (claim) -> OutboxClaim in
            guard sizes.withholdsText(of: claim.row.name, zone.id) else { return claim }
            var claim = claim
            claim.withholdText()
            return claim
        }
        var results = UploadResults(claims)
        results.takesBack = takesBack
        results.asked = asked
        results.isOfOthers = database == .shared
        results.keepUnsendable(hasExtensions: settings.hasExtensions)
        do throws(SyncProblem) {
            let assets = try await assets.bringAssets(of: claims, zone, &results)
            let request = try request(claims, zone, assets, &results)
            if isTooLarge(request) {
                // The request is known to be too large without the server's answer: it is sent in
                // halves.
                var round = try save(results, zone)
                round.isTooLarge = true
                return round
            }
            if !request.items.isEmpty { try await send(request, &results, zone) }
            try await lookUp(&results, zone)
        } catch {
            // When the same request is sent again, the server reports its result.
            if results.isUnanswered, error.mayBeDone { return Round(problem: error) }
            if isTooLargeWithText(claims, error, zone) { return try save(results, zone) }
            results.fail(error)
        }
        return try save(results, zone)
    }

    private func isTooLarge(_ request: ModifyRequest) -> Bool {
        guard let most = settings.requestBytes, request.items.count > 1 else { return false }
        return request.bytes.count > most
    }

    /// Returns whether a record that was refused as too large is sent once more, with only its
    /// values and without the text of its file.
    private func isTooLargeWithText(
        _ claims: [OutboxClaim], _ problem: SyncProblem, _ zone: SyncedZone
    ) -> Bool {
        guard case .refused(let refusal) = problem, refusal.code == .limitExceeded,
            claims.count == 1, let claim = claims.first, claim.fileText != nil
        else { return false }
        return sizes.withholdText(of: claim.row.name, zone.id)
    }
}
