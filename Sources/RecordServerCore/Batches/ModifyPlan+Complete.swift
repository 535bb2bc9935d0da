import RecordModel
import RecordWire

/// The batch as a whole, over all operations that have not failed.
extension ModifyPlan {
    /// Runs passes until no operation fails in one. After a pass in which an operation fails, the
    /// next one leaves it out and tries again those that failed because of it alone. There are at
    /// most twice as many passes as operations.
    mutating func complete() throws(ServerError) {
        var before = refused
        repeat {
            reconsider(since: before)
            before = refused
            while try !pass() {
                reconsider(since: before)
                before = refused
            }
        } while refuseTakenNames()
    }

    /// Refuses, after everything else, new records with the name of a record that the caller may
    /// not see. Returns false when nothing was refused.
    ///
    /// An atomic request that fails for another reason does not reveal such names, and one that
    /// fails because of them does not say which. Nobody can try names outside of a share without
    /// making records.
    private mutating func refuseTakenNames() -> Bool {
        func isNew(_ step: Step) -> Bool {
            if case .saved(let plan) = step.outcome { plan.before == nil } else { false }
        }
        func isTaken(_ step: Step) -> Bool {
            isNew(step) && step.name.map(overlay.concealed.contains) ?? false
        }
        guard steps.contains(where: isTaken), !(isAtomic && failureCount > 0) else { return false }
        for (index, step) in steps.enumerated() where isAtomic ? isNew(step) : isTaken(step) {
            fail(index, nameTaken(index))
        }
        return true
    }

    /// Runs one pass. Returns false when an operation failed in it.
    private mutating func pass() throws(ServerError) -> Bool {
        let failures = failureCount
        overlay.planned = [:]
        removedShares = [:]
        released = [:]
        memberships = [:]
        takenAlong = []
        trees = PlannedTrees(room: settings.membersPerTransaction)
        layDown()
        try layLeaves()
        try cascade()
        try checkSaves()
        try checkRootsOfNewShares()
        try checkDeletions()
        guard failureCount == failures else { return false }
        try completeMemberships()
        guard failureCount == failures else { return false }
        try checkQuota()
        return failureCount == failures
    }

    private var failureCount: Int {
        steps.reduce(0) { $0 + ($1.error == nil ? 0 : 1) }
    }

    /// Plans the effects of the operations themselves. When a participant leaves a share in the
    /// batch, deletions of its members in the same batch take nothing away from the owner.
    private mutating func layDown() {
        let left = Set(
            steps.compactMap { step in
                if case .left(let share) = step.outcome { share } else { nil }
            })
        for (index, step) in steps.enumerated() {
            guard let name = step.name else { continue }
            switch step.outcome {
            case .saved(var plan):
                if plan.before != nil { plan.departedTo = step.request?.record.movedTo }
                overlay.planned[name] = plan
            case .deleted(let stored):
                let isWithdrawn =
                    isParticipant
                    && (left.contains(.zoneShare) || stored.share.map(left.contains) ?? false)
                if !isWithdrawn {
                    layTombstone(stored, operation: index, isOwn: true)
                    overlay.planned[name]?.record.movedTo = step.request?.record.movedTo
                }
            case .failed, .left, .withdrawn: break
            }
        }
        for (index, step) in steps.enumerated() {
            guard let root = step.share?.root else { continue }
            var plan = PlannedRecord(operation: index, isOwn: false, before: root, record: root)
            plan.record.modified = stamp
            overlay.planned[root.name] = plan
        }
    }

    /// Plans the change of the share record for the participants who stay.
    private mutating func layLeaves() throws(ServerError) {
        for (index, step) in steps.enumerated() {
            guard case .left(let share) = step.outcome, let stored = try overlay.stored(share),
                overlay.planned[share] == nil
            else { continue }
            var plan = PlannedRecord(
                operation: index, isOwn: false, before: stored, record: stored)
            plan.record.modified = stamp
            overlay.planned[share] = plan
        }
    }

    mutating func layTombstone(_ stored: StoredRecord, operation: Int, isOwn: Bool) {
        var tombstone = StoredRecord(
            name: stored.name, type: stored.type, tag: 0, position: 0, fields: [],
            created: stored.created, modified: stamp)
        tombstone.isDeleted = true
        tombstone.gesture = steps[operation].request?.record.gesture
        // The next share of this zone has the same URL.
        if stored.name == .zoneShare { tombstone.shortGUID = stored.shortGUID }
        overlay.planned[stored.name] = PlannedRecord(
            operation: operation, isOwn: isOwn, before: stored, record: tombstone)
    }

    /// Checks the quota. The storage of a user includes the assets. Everything that others write
    /// into a shared zone counts for the owner of the zone.
    private mutating func checkQuota() throws(ServerError) {
        var growth: [(operation: Int, bytes: Int64)] = []
        var total: Int64 = 0
        for plan in overlay.planned.values {
            let bytes = try grownBytes(plan)
            total += bytes
            growth.append((plan.operation, bytes))
        }
        guard total > 0 else { return }
        let holder = QuotaHolder(zone.database)
        let limit = try transaction.quotaBytes(holder, settings)
        let used = try transaction.usedBytes(holder)
        guard used + total > limit else { return }
        var sum = used + growth.reduce(0) { $0 + min($1.bytes, 0) }
        var counted: Set<Int> = []
        for (operation, bytes) in growth.sorted(by: { $0.operation < $1.operation })
        where bytes > 0 {
            guard sum + bytes > limit else {
                sum += bytes
                counted.insert(operation)
                continue
            }
            fail(operation, noRoom(for: bytes, used: used, limit: limit))
            note(Grounds(presence: counted), of: operation)
        }
    }

    /// Returns the error for a full quota. Only the owner sees numbers.
    private func noRoom(for bytes: Int64, used: Int64, limit: Int64) -> ServerError {
        let reason =
            switch access.view {
            case .owner: "\(used) of \(limit) bytes are used; this record needs \(bytes) more."
            case .participant: "The owner of the zone has no room for \(bytes) bytes more."
            case .publicDatabase: "The public database has no room for \(bytes) bytes more."
            }
        return ServerError(.quotaExceeded, reason)
    }

    private func grownBytes(_ plan: PlannedRecord) throws(ServerError) -> Int64 {
        var bytes = Int64(plan.record.bytes - (plan.before?.bytes ?? 0))
        guard plan.content != nil || plan.record.isDeleted else { return bytes }
        let before: [WireAsset] =
            if let stored = plan.before, stored.hasAssets {
                try RecordContent(stored: stored, zone: zone).assets
            } else { [] }
        let known = Set(before.map(\.fileChecksum))
        let after = plan.content?.assets ?? []
        let kept = Set(after.map(\.fileChecksum))
        for asset in after where !known.contains(asset.fileChecksum) { bytes += asset.size }
        for asset in before where !kept.contains(asset.fileChecksum) { bytes -= asset.size }
        return bytes
    }
}
