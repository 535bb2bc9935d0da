import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// Handles the results of changes that were sent.
extension Exchange {
    /// Asks for records that the server has in another state but did not send.
    func lookUp(
        _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        try await lookUpMissing(&results, zone)
        do throws(SyncProblem) {
            try await assets.identifyAssets(of: results.differing)
            for answer in results.differing {
                results.replaceDiffering(try await whole(answer, of: zone).answer)
            }
        } catch {
            results.forgetDiffering()
            throw error
        }
    }

    private func lookUpMissing(
        _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        let names = results.toLookUp
        guard !names.isEmpty else { return }
        results.mayBeHidden = try hiddenNames(among: results.taken, in: zone)
        results.readLookup(try await lookUp(names, in: zone))
    }

    /// Returns the names of new records that are already taken on the server and may belong to
    /// records that are not shared with this account: this account has never heard of them.
    private func hiddenNames(
        among taken: Set<RecordName>, in zone: SyncedZone
    ) throws(SyncProblem) -> Set<RecordName> {
        guard database == .shared, !taken.isEmpty else { return [] }
        return try read { (store) throws(RecordError) in
            guard try store.sharing.share(of: nil, in: zone.id) == nil else { return [] }
            var hidden: Set<RecordName> = []
            for name in taken where try !store.syncState.isOfServer(name, in: zone.id) {
                hidden.insert(name)
            }
            return hidden
        }
    }

    /// Saves the results of all changes.
    func save(_ results: UploadResults, _ zone: SyncedZone) throws(SyncProblem) -> Round {
        var round = Round(
            blocked: results.blocked, withoutRoom: results.withoutRoom, quota: results.quota,
            isTooLarge: results.isTooLarge, problem: results.problem)
        let quota = try results.freeBytes.flatMap { free throws(SyncProblem) in
            try ownQuota(freeBytes: free)
        }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.outbox.forgetRequest(in: zone.id)
            if let quota { try transaction.sharing.setQuotas([quota], of: database) }
            for result in results.all {
                try save(result, of: results, in: zone, transaction, &round)
            }
            for (root, children) in results.unshared {
                try transaction.sharing.noteUnshared(children, of: root, in: zone.id)
            }
            if results.all.contains(where: \.hasMade) {
                try retryMissingReferences(zone, transaction)
            }
            try noteRefusals(results.parked, of: zone, transaction)
            if round.sent > 0 {
                try noteBegin(.export, zone.id, hasProgress: true, transaction)
            }
            if let feeds = results.feeds {
                try transaction.feed.advanceFeed(
                    .zone(zone.id), from: feeds.zone.known, to: feeds.zone.new)
                if let database = feeds.database {
                    try transaction.feed.advanceFeed(
                        .database(self.database), from: database.known, to: database.new)
                }
            }
        }
        var told: [(OutboxClaim, RemoteChange)] = []
        for result in results.all where !round.vanished.contains(result.claim.row.name) {
            if let change = try otherState(result) { told.append((result.claim, change)) }
        }
        for (claim, change) in told {
            if try isOfUnknownRestore(change, zone) {
                round.problem = Self.wasRestored
                try write(isFreeing: true) { (transaction) throws(RecordError) in
                    try transaction.outbox.failOutbox(claim.row.id, error: nil)
                }
            } else if try !merge(change, into: claim, of: zone, takesBack: results.takesBack) {
                round.parked += 1
            }
        }
        return round
    }

    /// Saves the result of one change.
    private func save(
        _ result: UploadResults.Result, of results: UploadResults, in zone: SyncedZone,
        _ transaction: borrowing Transaction, _ round: inout Round
    ) throws(RecordError) {
        let claim = result.claim
        switch result.outcome {
        case .saved(let tag):
            round.sent += 1
            try transaction.outbox.completeOutbox(claim, changeTag: tag)
        case .deleted:
            round.sent += 1
            try transaction.outbox.completeOutbox(claim, changeTag: "")
        case .savedAndGone:
            round.sent += 1
            try transaction.outbox.completeOutbox(claim, changeTag: "")
            _ = try transaction.feed.applyRemote(
                RemoteChange(deleted: claim.row.name), in: zone.id)
        case .unsent: try transaction.outbox.failOutbox(claim.row.id, error: nil)
        case .parked(let reason):
            round.parked += 1
            try transaction.outbox.failOutbox(claim.row.id, error: reason)
        case .withoutBytes(let fields):
            let reason = Self.missingBytes(of: fields)
            let waits = try transaction.outbox.failForBytes(
                claim.row.id, of: fields, reason: reason)
            // They are looked for again and again.
            if waits, try !transaction.feed.isKnown(reason, of: claim.eventRecord, in: zone.id) {
                try noteRefusals([(claim.eventRecord, reason)], of: zone, transaction)
            }
            // In that case another change is to be sent now.
            if waits { round.parked += 1 } else { round.sent += 1 }
        case .stays: round.sent += 1
        case .differs, .gone:
            guard isAskedFor(result, results) else { return }
            round.vanished.insert(claim.row.name)
            try transaction.outbox.failOutbox(claim.row.id, error: nil)
        }
    }

    /// Returns the state that the server has in place of the sent one.
    private func otherState(_ result: UploadResults.Result) throws(SyncProblem) -> RemoteChange? {
        switch result.outcome {
        case .differs(let answer), .stays(let answer):
            try change(answer, type(of: answer) ?? answer.type)
        case .gone: RemoteChange(deleted: result.claim.row.name)
        case .saved, .deleted, .savedAndGone, .unsent, .parked, .withoutBytes: nil
        }
    }

    /// Returns the account's quota with this free space. The feed of the database reports the
    /// total. Returns nil when it has not.
    private func ownQuota(freeBytes: Int64) throws(SyncProblem) -> Quota? {
        try read { (store) throws(RecordError) in try store.sharing.ownQuota() }.map {
            Quota(owner: .me, totalBytes: $0.totalBytes, freeBytes: freeBytes)
        }
    }

    /// Returns whether the feed is asked about a record that an edit did not find, or found in
    /// another state. The record may have moved, and its name may belong to another record since
    /// then. The feed is not asked in zones of others, because a missing record may no longer be
    /// shared.
    private func isAskedFor(_ result: UploadResults.Result, _ results: UploadResults) -> Bool {
        let claim = result.claim
        // A record that was new on this machine is not a record that has moved.
        if case .differs = result.outcome, claim.base == nil { return false }
        return settings.hasExtensions && database == .private && !claim.isDelete
            && !results.asked.contains(claim.row.name)
    }

    private static func missingBytes(of fields: [FieldName]) -> String {
        let names = fields.map(\.description).joined(separator: ", ")
        return
            "The bytes of \(names) are not on this machine, and no record of the server has them. They "
            + "are looked for again. Write the file again, or give the change up: recordfs revert."
    }

    /// Sends changes again that were refused because something that they refer to was missing.
    func retryMissingReferences(
        _ zone: SyncedZone, _ transaction: Transaction
    ) throws(RecordError) {
        try transaction.outbox.retryOutbox(
            in: zone.id, refusedFor: ServerErrorCode.validatingReferenceError.rawValue)
    }

    /// Applies the server's state of a record whose change was sent; then the change is sent again.
    /// Returns false when the two cannot be merged: the change is parked with the reason.
    private func merge(
        _ change: RemoteChange, into claim: OutboxClaim, of zone: SyncedZone, takesBack: Bool
    ) throws(SyncProblem) -> Bool {
        do throws(SyncProblem) {
            try write { (transaction) throws(RecordError) in
                if takesBack, claim.isDelete {
                    return try transaction.outbox.takeBackDelete(claim, change, in: zone.id)
                }
                try transaction.outbox.failOutbox(claim.row.id, error: nil)
                _ = try transaction.feed.applyRemote(change, in: zone.id)
            }
            return true
        } catch  where error.isAboutContent {
            let reason = "\(OutboxRow.unmergeable): \(error)"
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.outbox.failOutbox(claim.row.id, error: reason)
                try noteRefusals([(claim.eventRecord, reason)], of: zone, transaction)
            }
            return false
        }
    }

    /// Returns whether a record was changed since a restore that this machine does not know about
    /// yet. Such a record is not merged: the machine that changed it may have known less than this
    /// one.
    private func isOfUnknownRestore(
        _ change: RemoteChange, _ zone: SyncedZone
    ) throws(SyncProblem) -> Bool {
        let known = try read { (store) throws(RecordError) in
            try store.syncState.serverRestorePoint(of: zone.id)
        }
        guard let known, let position = ChangePosition(tag: change.changeTag) else { return false }
        return known.isBeforeRestore(behind: position)
    }

    private static let wasRestored = SyncProblem.refused(
        WireError(
            text: Text(ServerErrorCode.changeTokenExpired.rawValue),
            reason: "The server was restored from a backup."))

    // MARK: Events

    /// Tells of an exchange that runs, in the transaction that begins it. Does nothing when an event
    /// has told of it, and without an engine.
    ///
    /// - Parameter hasProgress: whether the server has taken or sent something.
    func noteBegin(
        _ kind: SyncEvent.Kind, _ zone: ZoneID?, hasProgress: Bool = false,
        _ transaction: Transaction
    ) throws(RecordError) {
        guard let start = running.due(kind, zone, hasProgress: hasProgress) else { return }
        let id = try transaction.feed.begin(
            SyncEvent(kind, database, zone, start: start, end: nil))
        transaction.whenCommitted { [running] in running.note(id, zone) }
    }

    /// Notes changes that the server does not take as failed exports, for those who follow events.
    func noteRefusals(
        _ refusals: [(record: SyncEvent.Record, reason: String)], of zone: SyncedZone,
        _ transaction: Transaction
    ) throws(RecordError) {
        func note(_ error: String, _ record: SyncEvent.Record?) throws(RecordError) {
            try transaction.feed.note(
                SyncEvent(
                    .export, database, zone.id, start: transaction.now, end: transaction.now,
                    error: error, record: record))
        }
        for refusal in refusals.prefix(Self.toldRefusals) {
            try note(refusal.reason, refusal.record)
        }
        let rest = refusals.count - Self.toldRefusals
        guard rest > 0 else { return }
        try note("\(rest) more records were refused. recordfs errors lists all.", nil)
    }

    /// The number of refused records of one request that get an event each.
    private static let toldRefusals = 100
}
