import RecordModel
import RecordWire

extension ModifyPlan {
    /// Writes what was planned, and says what changed, for subscriptions.
    mutating func write() throws(ServerError) -> ChangeNotice? {
        guard !overlay.planned.isEmpty else { return nil }
        let isSeenByOthers = !zone.database.isPublic
        var viewers = isSeenByOthers ? try currentViewers() : []
        var row = access.zone
        var changes: [ChangeNotice.Change] = []
        if hasSchemaGrown { try schema.save(transaction) }
        var batch = WriteBatch()
        for name in writeOrder() {
            guard var plan = overlay.planned[name] else { continue }
            try place(&plan, &row)
            try put(plan, &batch)
            overlay.planned[name] = plan
            if plan.changesTag {
                changes.append(ChangeNotice.Change(event: plan.event, record: plan.noticed))
            }
        }
        try batch.put(row.handle, transaction)
        try transaction.updateZone(row)
        try applyShares()
        if isSeenByOthers { viewers.formUnion(try currentViewers()) }
        return ChangeNotice(zone: zone, changes: changes, viewers: viewers.sorted())
    }

    private func currentViewers() throws(ServerError) -> Set<UserName> {
        Set(try transaction.viewers(zone).map(\.viewer))
    }

    /// The records of the operations in the order of the request, each followed by what it brings
    /// about.
    private func writeOrder() -> [RecordName] {
        // Without the records themselves, which sorting would move about.
        let places = overlay.planned.map { name, plan in
            (operation: plan.operation, isOwn: plan.isOwn, name: name)
        }
        return places.sorted { left, right in
            if left.operation != right.operation { return left.operation < right.operation }
            if left.isOwn != right.isOwn { return left.isOwn }
            return left.name < right.name
        }.map(\.name)
    }

    /// Gives the record its place in the feed, and counts it.
    private func place(_ plan: inout PlannedRecord, _ row: inout ZoneRow) throws(ServerError) {
        if plan.changesPosition {
            row.position += 1
            plan.record.position = row.position
        }
        if plan.changesTag { plan.record.tag = plan.record.position }
        let wasThere = plan.before != nil
        let isThere = !plan.record.isDeleted
        row.recordCount += (isThere ? 1 : 0) - (wasThere ? 1 : 0)
        row.recordBytes += Int64(plan.record.fields.count - (plan.before?.fields.count ?? 0))
    }

    /// Of a tombstone nothing goes out: to put it takes away what did.
    private mutating func put(
        _ plan: PlannedRecord, _ batch: inout WriteBatch
    ) throws(ServerError) {
        let record = plan.record
        let handle = access.zone.handle
        try transaction.put(handle, record)
        if let share = plan.before?.share, share != record.share, removedShares[share] == nil {
            try transaction.putExit(
                handle, share: share, record.name, position: record.position)
        }
        guard !record.isDeleted else { return }
        if let content = plan.content {
            if plan.before != nil || !content.references.isEmpty {
                batch.references.append(
                    RecordReferences(source: record.name, content.references))
            }
            if plan.before?.hasAssets == true || !content.assets.isEmpty {
                batch.assets.append(
                    RecordAssets(record.name, content.assets.map(\.fileChecksum)))
            }
        }
        let fields: [WireField] =
            if let content = plan.content {
                content.fields
            } else {
                try FieldsCodec.decode(record.fields)
            }
        batch.indexes.append(
            RecordIndex(
                record.name, type: record.type, schema.indexEntries(record, fields: fields)))
        if batch.isLarge { try batch.put(handle, transaction) }
    }

    /// Participants who left or were taken in or out, and shares that ended.
    private mutating func applyShares() throws(ServerError) {
        for step in steps {
            if let share = step.share {
                try ShareRules.apply(old: share.old, new: share.new, ids: &ids, transaction)
            }
            if case .left(let name) = step.outcome, let user = access.user?.name,
                let old = try transaction.share(zone, name)
            {
                try ShareRules.apply(
                    old: old, new: ShareRules.leave(old, user), ids: &ids, transaction)
            }
        }
        for share in removedShares.keys.sorted() {
            if let old = try overlay.share(zone, share) {
                try ShareRules.apply(old: old, new: nil, ids: &ids, transaction)
            }
        }
    }

    /// The answer to the request.
    func answer(_ request: ModifyRequest) throws(ServerError) -> Answer {
        var printer = RecordPrinter(
            service: service, access: access, context: context, projection: request.projection,
            reader: transaction)
        return try AnswerWriter.answer(capacity: 512 * steps.count) { answer throws(ServerError) in
            try answer.member(
                "records",
                array: { answer throws(ServerError) in
                    for step in steps { try write(step, &printer, to: &answer) }
                })
            if context.wantsSyncToken || request.wantsSyncToken {
                answer.member("syncToken", try currentToken())
            }
        }
    }

    private func write(
        _ step: Step, _ printer: inout RecordPrinter, to answer: inout AnswerWriter
    ) throws(ServerError) {
        switch step.outcome {
        case .failed(let error):
            answer.value(
                error.item(
                    recordName: step.name, requestID: context.requestID,
                    dialect: context.dialect))
        case .saved(let plan):
            let record = overlay.planned[plan.record.name]?.record ?? plan.record
            try printer.write(record, to: &answer)
        case .deleted, .left, .withdrawn:
            guard let name = step.name else { return }
            answer.value(TombstoneAnswer(name))
        }
    }

    private func currentToken() throws(ServerError) -> Text {
        let row = try transaction.zone(zone) ?? access.zone
        return ZoneToken.current(
            ZoneAccess(zone: row, view: access.view, user: access.user, roots: access.roots)
        ).sealed(service.seal)
    }
}

/// What goes out from the records of a batch: one call for each kind, but for batches with more than
/// should be in memory at once.
private struct WriteBatch {
    var references: [RecordReferences] = []
    var assets: [RecordAssets] = []
    var indexes: [RecordIndex] = [] {
        didSet { if let last = indexes.last { entries += last.entries.count } }
    }
    private var entries = 0

    var isLarge: Bool { entries > RecordIndex.entriesPerCall }

    mutating func put(_ zone: ZoneHandle, _ transaction: any StorageTransaction)
        throws(ServerError)
    {
        defer { self = WriteBatch() }
        if !references.isEmpty { try transaction.putReferences(zone, references) }
        if !assets.isEmpty { try transaction.putAssetReferences(zone, assets) }
        if !indexes.isEmpty { try transaction.putIndexes(zone, indexes) }
    }
}

extension PlannedRecord {
    /// The record after the change, or its last state before a deletion.
    fileprivate var noticed: StoredRecord {
        record.isDeleted ? before ?? record : record
    }
}
