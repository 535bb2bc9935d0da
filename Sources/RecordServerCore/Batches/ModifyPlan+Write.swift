import RecordModel
import RecordWire

extension ModifyPlan {
    /// The records that are written, in their order, and the row of the zone after that.
    struct Places {
        fileprivate let order: [RecordName]
        fileprivate var row: ZoneRow
    }

    /// Gives all records their places in the feed, so that the answer can be printed while they are
    /// being written.
    mutating func place() -> Places {
        var places = Places(order: writeOrder(), row: access.zone)
        for name in places.order {
            guard var plan = overlay.planned.removeValue(forKey: name) else { continue }
            place(&plan, &places.row)
            overlay.planned[name] = plan
        }
        return places
    }

    /// Returns whether the plan writes only the operations' own records, and no further effects of
    /// them.
    func isAllOwn(_ places: Places) -> Bool {
        removedShares.isEmpty && madeShares.isEmpty
            && steps.allSatisfy { $0.share == nil }
            && places.order.allSatisfy { overlay.planned[$0]?.isOwn ?? false }
    }

    /// Returns records with long texts, as they were before.
    func recent(_ places: Places) -> [RecentRecords.Change] {
        guard !zone.database.isPublic else { return [] }
        return places.order.compactMap { overlay.planned[$0].flatMap(RecentRecords.change(_:)) }
    }

    /// Returns how many places in the feed were given.
    func count(_ places: Places) -> Int {
        places.order.reduce(0) {
            $0 + (overlay.planned[$1]?.departedTo == nil ? 1 : 2)
        }
    }

    /// Writes the plan and returns the changes, for subscriptions.
    mutating func write(_ places: Places) throws(ServerError) -> ChangeNotice? {
        guard !places.order.isEmpty else { return nil }
        let isSeenByOthers = !zone.database.isPublic
        var viewers = isSeenByOthers ? try currentViewers() : []
        var row = places.row
        var changes: [ChangeNotice.Change] = []
        if hasSchemaGrown { try schema.save(transaction) }
        var batch = WriteBatch()
        for name in places.order {
            guard let plan = overlay.planned[name] else { continue }
            try put(plan, &batch)
            if plan.changesTag {
                changes.append(ChangeNotice.Change(event: plan.event, record: plan.noticed))
            }
        }
        try batch.put(row.handle, transaction)
        try writeTrees(&row)
        try transaction.updateZone(row)
        let invitees = try applyShares()
        try renewViews()
        if isSeenByOthers { viewers.formUnion(try currentViewers()) }
        return ChangeNotice(
            zone: zone, changes: changes, viewers: viewers.sorted(), invitees: invitees.sorted())
    }

    private func currentViewers() throws(ServerError) -> Set<UserName> {
        Set(try transaction.viewers(zone).map(\.viewer))
    }

    /// Returns the records of the operations in the order of the request, each followed by its
    /// further effects.
    private func writeOrder() -> [RecordName] {
        // Sort without the records themselves, so that sorting does not copy them.
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
    private func place(_ plan: inout PlannedRecord, _ row: inout ZoneRow) {
        if plan.changesPosition {
            row.position += plan.departedTo == nil ? 1 : 2
            plan.record.position = row.position
        }
        if plan.changesTag { plan.record.tag = plan.record.position }
        let wasThere = plan.before != nil
        let isThere = !plan.record.isDeleted
        row.recordCount += (isThere ? 1 : 0) - (wasThere ? 1 : 0)
        row.recordBytes += Int64(plan.record.bytes - (plan.before?.bytes ?? 0))
    }

    /// Puts a record. A tombstone has no references of its own: putting it removes those of the
    /// record.
    private mutating func put(
        _ plan: PlannedRecord, _ batch: inout WriteBatch
    ) throws(ServerError) {
        let record = plan.record
        let handle = access.zone.handle
        try transaction.put(handle, record)
        if let former = former(plan) {
            try transaction.putFormer(handle, former, keeping: settings.versionsPerRecord)
        }
        if let target = plan.departedTo {
            try transaction.putDeparture(
                handle,
                Departure(name: record.name, position: record.position - 1, target: target))
        }
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
            IndexKeys(
                record.name, type: record.type, schema.indexEntries(record, fields: fields)))
        if batch.isLarge { try batch.put(handle, transaction) }
    }

    /// Returns the state that the plan ends, when it is kept: shares have their own record of who may
    /// do what, and records of the public database belong to nobody alone.
    private func former(_ plan: PlannedRecord) -> FormerRecord? {
        guard let before = plan.before, plan.changesTag, !before.isDeleted, before.type != .share,
            !zone.database.isPublic, settings.versionsPerRecord > 0
        else { return nil }
        return FormerRecord(
            before, endedAt: plan.record.position, by: plan.record.modified,
            gesture: plan.record.gesture, isDeletion: plan.record.isDeleted)
    }

    /// Applies the changes of shares: participants who left, were added or were removed, and shares
    /// that ended. Returns the users whose invitations were made or taken back.
    private mutating func applyShares() throws(ServerError) -> Set<UserName> {
        var invitees: Set<UserName> = []
        for step in steps {
            if let share = step.share {
                let plan = step.name.flatMap { overlay.planned[$0] }
                invitationCount += ShareRules.newInvitationCount(old: share.old, new: share.new)
                invitees.formUnion(
                    try ShareRules.invitees(
                        old: share.old, new: share.new,
                        hasNewFields: plan?.record.fields != plan?.before?.fields, transaction))
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
                invitees.formUnion(try ShareRules.invitees(old: old, new: nil, transaction))
                try ShareRules.apply(old: old, new: nil, ids: &ids, transaction)
            }
        }
        return invitees
    }

    /// Returns the answer to the request, for records that have their places. Errors: those of
    /// `hold`.
    mutating func answer(_ request: ModifyRequest) throws(ServerError) -> ModifyAnswer {
        let items = steps.compactMap { step -> ModifyAnswer.Item? in
            switch step.outcome {
            case .failed(let error): .failed(step.name, error)
            case .saved(let plan): .saved(overlay.planned[plan.record.name]?.record ?? plan.record)
            case .deleted, .left, .withdrawn:
                step.name.map { name in
                    .gone(name, unshared: settings.isStrict ? [] : released[name] ?? [])
                }
            }
        }
        let answer = ModifyAnswer(
            items: items, projection: request.projection, access: access,
            context: context.withoutMemory, resources: resources)
        let more = answer.decodedBytes
        if more > 0 { try overlay.hold(more) }
        return answer
    }

    /// Returns the token of the zone as it was written.
    func currentToken() throws(ServerError) -> Text {
        let row = try transaction.zone(zone) ?? access.zone
        return ZoneToken.current(
            ZoneAccess(zone: row, view: access.view, user: access.user, roots: access.roots)
        ).sealed(resources.seal)
    }
}

/// The references, assets and index entries of the records of a batch. There is one call for each
/// kind, except for batches with more than should be in memory at once.
private struct WriteBatch {
    var references: [RecordReferences] = []
    var assets: [RecordAssets] = []
    var indexes: [IndexKeys] = [] {
        didSet { if let last = indexes.last { entries += last.entries.count } }
    }
    private var entries = 0

    var isLarge: Bool { entries > IndexKeys.entriesPerCall }

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
