import RecordModel
import RecordWire

extension RecordService {
    /// The most bytes of records in one answer. The items beyond it say to ask for less.
    static let maximumAnswerBytes = 16 << 20
    /// The most bytes and records of one read.
    private static let lookupBytes = 1 << 20
    private static let lookupCount = 20

    /// Answers records/lookup (reference §6.2): an item for each name, in order.
    func lookupRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let request = try LookupRequest(JSONReader(body), limits: settings.requestLimits)
        return try await storage.read { reader throws(ServerError) in
            let access = try ZoneAccess.open(request.zone, context, reader)
            let visibility = try RecordVisibility(access, context, reader)
            var found: [RecordName: StoredRecord] = [:]
            var printer = RecordPrinter(
                service: self, access: access, context: context, projection: request.projection,
                reader: reader)
            return try AnswerWriter.answer(capacity: 512 * request.items.count + 64) {
                answer throws(ServerError) in
                answer.key("records")
                try answer.array { answer throws(ServerError) in
                    var known = 0
                    for (index, item) in request.items.enumerated() {
                        // Read a part at a time, because the records together may be larger than
                        // the answer.
                        if index == known {
                            let names = request.items[index...].prefix(Self.lookupCount)
                                .map(\.name)
                            let part = try reader.records(
                                access.zone.handle, first: names[...],
                                maximumBytes: Self.lookupBytes)
                            found = part.found
                            known += part.count
                        }
                        guard let record = found[item.name], visibility.shows(record) else {
                            answer.value(Self.missing(item.name, context))
                            continue
                        }
                        guard answer.count < Self.maximumAnswerBytes else {
                            answer.value(Self.tooMuch(item.name, context))
                            continue
                        }
                        try printer.write(
                            record,
                            desiredKeys: item.desiredKeys ?? request.projection.desiredKeys,
                            to: &answer)
                        try context.hold(answer.count)
                    }
                }
                if context.wantsSyncToken || request.wantsSyncToken, context.scope != .public {
                    answer.member(
                        "syncToken", ZoneToken.current(access).sealed(self.seal))
                }
            }
        }
    }

    private static func missing(_ name: RecordName, _ context: OperationContext) -> ErrorAnswer {
        ServerError(.notFound, "There is no such record.")
            .item(recordName: name, requestID: context.requestID, dialect: context.dialect)
    }

    private static func tooMuch(_ name: RecordName, _ context: OperationContext) -> ErrorAnswer {
        ServerError(
            .limitExceeded,
            "An answer has about \(maximumAnswerBytes) bytes at most: ask for fewer records."
        )
        .item(recordName: name, requestID: context.requestID, dialect: context.dialect)
    }

    /// Answers records/modify (reference §6.3).
    func modifyRecords(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> Answer
    {
        let request = try ModifyRequest(JSONReader(body), limits: settings.requestLimits)
        var ids = RandomIDs()
        let names = Self.names(of: request, &ids)
        let incarnation = ids.incarnation()
        let drawn = ids
        try await requireInvitations(request, context)
        let digest = request.operationID == nil ? [] : OperationOutcome.digest(of: body)
        let end = ContinuousClock.now + .seconds(settings.preparationSeconds)
        let outcome = try await prepared(until: end) { () throws(ServerError) in
            try await self.storage.write { transaction throws(ServerError) in
                try self.modify(
                    request, digest: digest, names: names, incarnation: incarnation, ids: drawn,
                    context, transaction)
            }
        }
        if !outcome.recent.isEmpty, let zone = outcome.zone {
            recent.note(outcome.recent, in: zone)
        }
        if let notice = outcome.notice { push.publish(notice) }
        if outcome.invitationCount > 0 {
            try await throttles.spend(
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
        let missing = try await throttles.missing(charge, now: context.now)
        let limit = charge.allowance.whole / charge.allowance.interval
        guard missing >= limit else { return }
        let seconds = (missing - limit + 1) * charge.allowance.interval / 1_000_000_000
        throw ServerError(
            .throttled, "You have invited many people at once: wait for `retryAfter` seconds.",
            retryAfter: max(1, Int(clamping: seconds)))
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
            try await builder.run(storage, until: end)
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
                service: self, access: access, context: context, reader: transaction
            ).answer(request, names: names, outcome)
            return ModifyOutcome(answer: .printed(answer), notice: nil)
        }
        var plan = try ModifyPlan.make(
            request, names: names, access: access, context: context, service: self, ids: ids,
            transaction: transaction)
        if let builder = plan.builder { return ModifyOutcome(builder) }
        let users = try database.isPublic ? Self.usersRecord(context) : nil
        let hadRecord = try users?.exists(transaction) ?? true
        let places = plan.place()
        var answer = try plan.answer(request)
        let wantsToken = context.wantsSyncToken || request.wantsSyncToken
        let known = try KnownFeeds(request, access, context, seal, transaction)
        let isEarly = !wantsToken && known == nil && !answer.needsReader
        let printing = isEarly ? answer.start() : nil
        var notice = try plan.write(places)
        if wantsToken { answer.syncToken = try plan.currentToken() }
        if let known, plan.isAllOwn(places),
            let tokens = try known.after(plan.count(places), transaction)
        {
            (answer.syncToken, answer.databaseToken) = (tokens.zone, tokens.database)
            if tokens.database != nil {
                answer.freeBytes = try DatabasePage.quota(of: user, settings, transaction)?
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
