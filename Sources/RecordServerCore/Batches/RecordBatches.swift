import RecordModel
import RecordWire

/// Answers records/modify.
struct RecordBatches: Sendable {
    let resources: ServiceResources

    /// Answers records/modify (CloudKit Web Services Reference, Modifying Records).
    func modifyRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let request = try ModifyRequest(JSONReader(body), limits: resources.settings.requestLimits)
        var ids = RandomIDs()
        let names = Self.names(of: request, &ids)
        let incarnation = ids.incarnation()
        let drawn = ids
        try await requireInvitations(request, context)
        let digest = request.operationID == nil ? [] : OperationOutcome.digest(of: body)
        let end = ContinuousClock.now + .seconds(resources.settings.preparationSeconds)
        let outcome = try await prepared(until: end) { () throws(ServerError) in
            try await resources.storage.write { transaction throws(ServerError) in
                try self.modify(
                    request, digest: digest, names: names, incarnation: incarnation, ids: drawn,
                    context, transaction)
            }
        }
        if !outcome.recent.isEmpty, let zone = outcome.zone {
            resources.recent.note(outcome.recent, in: zone)
        }
        if let notice = outcome.notice { resources.push.publish(notice) }
        if outcome.invitationCount > 0 {
            try await resources.throttles.spend(
                .invitation(by: try context.requireUser().name),
                times: Int64(outcome.invitationCount), now: context.now)
        }
        switch outcome.answer {
        case .printed(let answer): return answer
        case .printing(let task): return try await task.value.get()
        }
    }

    /// Refuses a user who has invited too many people until enough time has passed. The number of
    /// people that a request invites is known only when it is done.
    private func requireInvitations(
        _ request: ModifyRequest, _ context: OperationContext
    ) async throws(ServerError) {
        let mayInvite = request.items.contains { item in
            guard case .operation(let operation) = item else { return false }
            return operation.record.share?.participants?.isEmpty == false
        }
        guard mayInvite, let user = context.caller.user else { return }
        let charge = ThrottleCharge.invitation(by: user.name)
        let missing = try await resources.throttles.missing(charge, now: context.now)
        guard let seconds = charge.allowance.secondsToWait(missing: missing) else { return }
        throw ServerError(
            .throttled, "You have invited many people at once: wait for `retryAfter` seconds.",
            retryAfter: seconds)
    }

    /// Returns the name of the record of each operation. New records without a name get one.
    private static func names(
        of request: ModifyRequest, _ ids: inout RandomIDs
    ) -> [RecordName?] {
        request.items.map { item in
            switch item {
            case .malformed(let name, _): return name
            case .operation(let operation):
                if let name = operation.record.name { return name }
                let isZoneShare =
                    operation.record.type == .share && operation.record.share?.root == nil
                return isZoneShare ? .zoneShare : ids.recordName()
            }
        }
    }

    private enum PrintedAnswer: Sendable {
        case printed(Answer)
        case printing(Task<Result<Answer, ServerError>, Never>)
    }

    private struct ModifyOutcome: Sendable {
        let answer: PrintedAnswer
        let notice: ChangeNotice?
        /// The trees that have to be made first. Nothing was changed when it is set.
        let unready: TreeBuilder?
        /// The records of the zone as they were.
        var recent: [RecentRecords.Change] = []
        var zone: ZoneKey?
        /// The number of people that the request has invited.
        let invitationCount: Int

        init(answer: PrintedAnswer, notice: ChangeNotice?, invitationCount: Int = 0) {
            self.answer = answer
            self.notice = notice
            self.invitationCount = invitationCount
            unready = nil
        }

        init(_ unready: TreeBuilder) {
            answer = .printed(Answer([]))
            notice = nil
            invitationCount = 0
            self.unready = unready
        }
    }

    /// Runs `body` repeatedly, each time after the preparation that it asked for.
    private func prepared(
        until end: ContinuousClock.Instant,
        _ body: () async throws(ServerError) -> ModifyOutcome
    ) async throws(ServerError) -> ModifyOutcome {
        while true {
            let outcome = try await body()
            guard let builder = outcome.unready else { return outcome }
            try await builder.run(resources.storage, until: end)
        }
    }

    private func modify(
        _ request: ModifyRequest, digest: [UInt8], names: [RecordName?], incarnation: UInt64,
        ids: RandomIDs, _ context: OperationContext, _ transaction: any StorageTransaction
    ) throws(ServerError) -> ModifyOutcome {
        let access = try ZoneAccess.openForWriting(
            request.zone, context, incarnation: incarnation, transaction)
        let user = try context.requireUser().name
        let database = access.zone.key.database
        let operationID = request.operationID.map { Self.operationKey($0, access.zone) }
        if let operationID,
            let stored = try transaction.operationResult(
                database, user, operationID: operationID),
            let outcome = OperationOutcome(stored)
        {
            guard outcome.digest == digest else { throw Self.otherRequest }
            let answer = try RetryAnswer(
                resources: resources, access: access, context: context, reader: transaction
            ).answer(request, names: names, outcome)
            return ModifyOutcome(answer: .printed(answer), notice: nil)
        }
        var plan = try ModifyPlan.make(
            request, names: names, access: access, context: context, resources: resources, ids: ids,
            transaction: transaction)
        if let builder = plan.builder { return ModifyOutcome(builder) }
        let users = try database.isPublic ? UsersRecord(of: context) : nil
        let hadRecord = try users?.exists(transaction) ?? true
        let places = plan.place()
        var answer = try plan.answer(request)
        let wantsToken = context.wantsSyncToken || request.wantsSyncToken
        let known = try KnownFeeds(request, access, context, resources.seal, transaction)
        let isEarly = !wantsToken && known == nil && !answer.needsReader
        let printing = isEarly ? answer.start() : nil
        var notice = try plan.write(places)
        if wantsToken { answer.syncToken = try plan.currentToken() }
        if let known, plan.isAllOwn(places),
            let tokens = try known.after(plan.count(places), transaction)
        {
            (answer.syncToken, answer.databaseToken) = (tokens.zone, tokens.database)
            if tokens.database != nil {
                answer.freeBytes = try DatabasePage.quota(
                    of: user, resources.settings, transaction)?
                    .freeBytes
            }
            notice?.origin = request.clientID
        }
        // A user who writes has a record, except a user who has just deleted it.
        if !hadRecord, plan.hasEffect { try users?.put(transaction) }
        // A request that changed nothing may be tried again with another outcome.
        if let operationID, plan.hasEffect {
            try transaction.putOperationResult(
                database, user, operationID: operationID,
                result: plan.outcome(digest: digest).encoded(),
                milliseconds: context.milliseconds, keeping: OperationOutcome.maximumCount)
        }
        let printed: PrintedAnswer =
            if let printing {
                .printing(printing)
            } else if answer.needsReader {
                .printed(try answer.answer(transaction))
            } else {
                .printing(answer.start())
            }
        var outcome = ModifyOutcome(
            answer: printed, notice: notice, invitationCount: plan.invitationCount)
        outcome.zone = access.zone.key
        outcome.recent = plan.recent(places)
        return outcome
    }

    private static let otherRequest = ServerError(
        .badRequest,
        "operationID: another request had this identifier already, and only the same request may "
            + "have it again; nothing was changed.")

    /// Returns the key of an operation. The same identifier in another zone, or in a later zone of
    /// the same name, has another key.
    private static func operationKey(_ id: Text, _ zone: ZoneRow) -> Text {
        Text(utf8: Array("\(String(zone.incarnation, radix: 36))/".utf8) + id.utf8)
    }
}
