import Logging
import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// Makes the upload requests, sends them, and sends them again.
extension Exchange {
    func send(
        _ request: ModifyRequest, _ results: inout UploadResults, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        var request = request
        if settings.hasExtensions, let batch = results.all.first?.claim.row.batch {
            request.operationID = Text(Self.newOperationID())
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.outbox.keepRequest(request.bytes, batch: batch, in: zone.id)
            }
            results.isUnanswered = true
        }
        // Everything that the server has received from this machine must also be known here after a
        // power cut. Otherwise a record that somebody has since deleted on the server would be made
        // again.
        try read { (store) throws(RecordError) in try store.sync() }
        try await send(request.bytes, of: request, &results, zone)
    }

    /// - Parameter request: the request with this body. Nil when the body is sent again.
    private func send(
        _ body: [UInt8], of request: ModifyRequest?, _ results: inout UploadResults,
        _ zone: SyncedZone
    ) async throws(SyncProblem) {
        let answer = try await transport.send(.recordsModify, scope, body) {
            json throws(ServerError) in try RecordsAnswer(json)
        }
        results.isUnanswered = false
        results.feeds = newFeeds(answer, request)
        if request != nil { results.freeBytes = answer.freeBytes }
        sizes.noteSuccess(
            of: zone.id, ClaimLimits(records: results.all.count, bytes: body.count),
            settings.claims)
        results.read(answer.items)
        results.unshared = answer.unsharedChildren
        for name in results.all.map(\.claim.row.name)
        where !results.isOpen(name) || results.withStaleReceipts.contains(name) {
            receipts.forget(name, zone.id)
        }
        for name in results.unfitting { sizes.withholdSplices(of: name, zone.id) }
        let sent = results.sent
        for name in sent { sizes.noteSent(name, zone.id) }
        let again = sent.isEmpty ? [] : sizes.takeSecondChances(of: zone.id)
        guard !again.isEmpty else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            for name in again { try transaction.outbox.retryOutbox(of: name, in: zone.id) }
        }
    }

    /// Returns the feed tokens of the answer, together with those of the request.
    private func newFeeds(
        _ answer: RecordsAnswer, _ request: ModifyRequest?
    ) -> UploadResults.Feeds? {
        guard let known = request?.knownToken, let token = answer.syncToken else { return nil }
        var feeds = UploadResults.Feeds(zone: (known.utf8, token.utf8))
        if let known = request?.knownDatabaseToken, let token = answer.databaseToken {
            feeds.database = (known.utf8, token.utf8)
        }
        return feeds
    }

    /// Returns an identifier that nobody else has.
    private static func newOperationID() -> String {
        let halves = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 36) }
        return halves.joined(separator: "-")
    }

    /// Sends a request without an answer again, with the same bytes. The server reports the result
    /// of its first arrival, or does it now. Nothing else of the zone is sent before. Otherwise
    /// later changes of others would be mistaken for changes that were there before.
    ///
    /// - Returns: the number of changes that the server has taken.
    @discardableResult
    func resume(_ zone: SyncedZone) async throws(SyncProblem) -> Int {
        let request = try read { (store) throws(RecordError) in
            try store.syncState.sentRequest(in: zone.id)
        }
        guard let request else { return 0 }
        var results = UploadResults(request.claims, isRepeated: true)
        results.isUnanswered = true
        results.isOfOthers = database == .shared
        do throws(SyncProblem) {
            try await send(request.body, of: nil, &results, zone)
            try await lookUp(&results, zone)
        } catch {
            if results.isUnanswered, error.isOfServer {
                // The server did not look at the request, or does not say so.
                try await giveUp(on: error, zone)
                giveUpAlone(&results, error, zone)
            } else {
                results.fail(error)
            }
        }
        let round = try save(results, zone)
        // The feed, which is read next, reports that the server was restored.
        if let problem = round.problem, problem.reaction != .restartFeed { throw problem }
        return round.sent
    }

    /// Sends the request of the zone with this number again. Does nothing for a zone that is gone.
    func resume(_ id: ZoneID) async throws(SyncProblem) -> Int {
        await zonesInWork.begin(id)
        defer { zonesInWork.end(id) }
        guard let zone = try zone(id) else { return 0 }
        return try await resume(zone)
    }

    /// Returns when a request is no longer sent because it never gets through, although the server
    /// answers others. Its changes are sent in smaller requests. The state of the records then
    /// shows whether the request arrived. Throws until then.
    private func giveUp(
        on problem: SyncProblem, _ zone: SyncedZone
    ) async throws(SyncProblem) {
        guard problem.mayBeItsSize else { throw problem }
        do throws(SyncProblem) {
            _ = try await databasePage(nil)
        } catch {
            throw problem
        }
        guard sizes.noteFailure(of: zone.id, most: settings.resends) else {
            throw .fruitless(
                "An upload does not get through, although the server answers: \(problem)")
        }
        logger.notice(
            "An upload that does not get through is sent in smaller parts",
            metadata: ["zone": "\(zone.name)", "why": "\(problem)"])
    }

    /// Gives up a record that does not get through even alone. First it is sent with only its
    /// values, without the text of its file. When that has been tried, it is parked, because others
    /// wait behind it.
    private func giveUpAlone(
        _ results: inout UploadResults, _ problem: SyncProblem, _ zone: SyncedZone
    ) {
        guard results.all.count == 1, let claim = results.all.first?.claim, !claim.isDelete,
            !sizes.withholdText(of: claim.row.name, zone.id)
        else { return }
        sizes.noteGivenUp(claim.row.name, zone.id)
        results.giveUp(
            claim.row.name,
            "It does not get through, although the server answers other requests: \(problem). A "
                + "smaller record may; make large fields files.")
    }

    func request(
        _ claims: [OutboxClaim], _ zone: SyncedZone, _ assets: [OutgoingAsset.Place: WireAsset],
        _ results: inout UploadResults
    ) throws(SyncProblem) -> ModifyRequest {
        var items: [ModifyRequest.Item] = []
        let root = try shares.parentOfNewRecords(in: zone)
        for claim in claims where results.isOpen(claim.row.name) {
            if let reason = refusal(of: claim) {
                results.giveUp(claim.row.name, reason)
            } else if var operation = try operation(claim, assets) {
                if let root, claim.base == nil, claim.document?.parent == nil {
                    operation.record.parent = .record(root)
                }
                if operation.record.hasSplices { results.noteSplices(claim.row.name) }
                items.append(.operation(operation))
            } else if claim.document == nil {
                // A record that is to be deleted may have reached the server: its tag is requested.
                results.lookUp(claim.row.name)
            }
        }
        var request = ModifyRequest(items: items, zone: ZoneIdentifier(zone))
        request.atomic = false
        try addKnownFeeds(to: &request, claims, zone)
        // As on this machine, a fraction may be written to a field that had whole numbers.
        request.opensNumbers = settings.hasExtensions
        request.projection = projection
        // For a saved record its tag is enough. A conflict is answered with the whole record.
        request.projection.desiredKeys = []
        return request
    }

    /// Adds the known places in the feeds, so that the answer can say that everything up to this
    /// request is known. Adds nothing for servers and databases where the server may make something
    /// of a record that this machine does not know.
    private func addKnownFeeds(
        to request: inout ModifyRequest, _ claims: [OutboxClaim], _ zone: SyncedZone
    ) throws(SyncProblem) {
        guard settings.hasExtensions, database == .private else { return }
        let tokens = try knownFeeds(zone)
        request.knownToken = tokens.zone.map(Text.init(utf8:))
        guard request.knownToken != nil else { return }
        request.knownDatabaseToken = tokens.database.map(Text.init(utf8:))
        request.clientID = courierName.current
    }

    /// Returns the known places in the feeds of a zone and of the database. Returns none while a
    /// pass of the zone is running.
    private func knownFeeds(
        _ zone: SyncedZone
    ) throws(SyncProblem) -> (zone: [UInt8]?, database: [UInt8]?) {
        try read { (store) throws(RecordError) in
            guard try !store.syncState.hasFeedPass(zone.id) else { return (nil, nil) }
            return (
                try store.syncState.feedToken(of: .zone(zone.id)),
                try store.syncState.feedToken(of: .database(database))
            )
        }
    }

    /// Returns the reason why a server without extensions cannot take a change: its nested JSON
    /// could no longer be distinguished from a text. Returns nil when the server can take it.
    private func refusal(of claim: OutboxClaim) -> String? {
        guard !settings.hasExtensions, let document = claim.document else { return nil }
        let nested = claim.changedFields.first { document[$0]?.isNested == true }
        return nested.map { field in
            "Field \(field) is nested JSON, which is an extension of recordfs-server: the server of this "
                + "account keeps texts, numbers, dates, bytes, places, references, files and lists of "
                + "one of them. Write it as a string, or as separate fields."
        }
    }

    private func operation(
        _ claim: OutboxClaim, _ assets: [OutgoingAsset.Place: WireAsset]
    ) throws(SyncProblem) -> RecordOperation? {
        try read { (store) throws(RecordError) in
            let schema = try store.schema(of: claim.row.type)
            var operation = RecordOperation(
                claim, type: store.model.serverType(of: claim.row.type), schema: schema,
                hasExtensions: settings.hasExtensions
            ) { field, _, index in
                assets[OutgoingAsset.Place(record: claim.row.name, field: field, index: index)]
            }
            if settings.hasExtensions {
                operation?.record.gesture = claim.origin?.text
                operation?.record.fileText = claim.fileText.map(Text.init(utf8:))
                if transport.takesSplices,
                    !sizes.withholdsSplices(of: claim.row.name, claim.row.zone)
                {
                    operation?.record.splice(since: claim)
                }
            }
            return operation
        }
    }
}

extension FieldValue {
    /// Indicates whether the value is nested JSON. A text in a field of JSON is sent as the text
    /// that it is.
    fileprivate var isNested: Bool {
        if case .json(let json) = self { json.string == nil } else { false }
    }
}
