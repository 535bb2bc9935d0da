import RecordModel
import RecordWire

/// The consequences of deletions, and the reasons that prevent them.
extension ModifyPlan {
    /// The most records that one request may delete as a consequence.
    private static let maximumCascade = 10_000

    /// Deletes the sources of DELETE_SELF references to deleted records, the sources of those in
    /// turn, and the shares of deleted roots.
    mutating func cascade() throws(ServerError) {
        var queue = deletions()
        var count = 0
        while let deleted = queue.popLast() {
            try endShare(of: deleted)
            let sources = try overlay.sources(
                of: deleted.record.name, action: .deleteSelf, limit: Self.maximumCascade + 1)
            try overlay.load(sources)
            for source in sources where overlay.planned[source] == nil {
                guard let stored = try overlay.stored(source) else { continue }
                guard try mayTakeAlong(stored) else {
                    fail(deleted.operation, keptByOthers(deleted.record.name))
                    continue
                }
                layTombstone(stored, operation: deleted.operation, isOwn: false)
                if let plan = overlay.planned[source] { queue.append(plan) }
                count += 1
            }
            guard count <= Self.maximumCascade else {
                fail(
                    deleted.operation,
                    ServerError(
                        .limitExceeded,
                        "More than \(Self.maximumCascade) records would be deleted with this one."))
                return
            }
        }
    }

    private func deletions() -> [PlannedRecord] {
        overlay.planned.values.filter(\.record.isDeleted).sorted { left, right in
            (right.operation, right.record.name) < (left.operation, left.record.name)
        }
    }

    /// Ends the share when its share record or its root is deleted.
    private mutating func endShare(of deleted: PlannedRecord) throws(ServerError) {
        guard let stored = deleted.before else { return }
        if stored.type == .share { removedShares[stored.name] = deleted.operation }
        guard let share = stored.share, share != stored.name,
            try overlay.share(zone, share)?.root == stored.name
        else { return }
        removedShares[share] = deleted.operation
        if overlay.planned[share]?.record.isDeleted != true,
            let record = try overlay.stored(share)
        {
            layTombstone(record, operation: deleted.operation, isOwn: false)
        }
    }

    /// Returns whether the deletion may delete this record too. A participant deletes nothing as a
    /// consequence that the participant could not delete directly.
    private mutating func mayTakeAlong(_ stored: StoredRecord) throws(ServerError) -> Bool {
        guard isParticipant else { return true }
        guard stored.type != .share, access.shows(stored),
            access.place(in: stored.share).isAllowed
        else { return false }
        guard let share = stored.share else { return true }
        return try overlay.share(zone, share)?.root != stored.name
    }

    /// Checks that every child of a deleted record is deleted too or has moved, and that nothing
    /// refers to the record with VALIDATE.
    mutating func checkDeletions() throws(ServerError) {
        // Every child that is not in the way has a plan, so a limit above the number of plans is
        // enough.
        var limit = 256
        while limit <= overlay.planned.count { limit *= 2 }
        for deleted in deletions().reversed() {
            let name = deleted.record.name
            if let target = deleted.record.movedTo, try !isThere(target) {
                fail(
                    deleted.operation,
                    ServerError(
                        .conflict,
                        "\(name) has not moved: \(target.name) is not there. Fetch the changes."))
                continue
            }
            let children = try overlay.children(of: name, limit: limit).filter { child in
                guard let plan = overlay.planned[child] else { return true }
                return !plan.record.isDeleted && plan.record.parent == name
            }
            if !children.isEmpty, try !releases(deleted, children) {
                fail(
                    deleted.operation,
                    ServerError(
                        .validatingReferenceError,
                        "\(name) has children that this request neither deletes nor moves."))
                continue
            }
            let sources = try overlay.sources(of: name, action: .validate, limit: limit)
            if sources.contains(where: { stillRefers($0, to: name, .validate) }) {
                fail(deleted.operation, keptByOthers(name))
            }
        }
    }

    /// Returns whether a record has a copy where a client says that it has moved. Somebody who
    /// moved it back may have deleted that copy, and then both would be gone.
    private mutating func isThere(_ address: RecordAddress) throws(ServerError) -> Bool {
        if address.zone == zone.zone { return try overlay.current(address.name) != nil }
        let key = ZoneKey(database: zone.database, zone: address.zone)
        guard let other = try transaction.zone(key) else { return false }
        let found = try transaction.records(other.handle, [address.name])
        return found[address.name].map { !$0.isDeleted } ?? false
    }

    /// Returns whether the children of a deleted record stay, because the record is the root of a
    /// share that ends with it. The descendants still belong to the owner and are in no share. The
    /// children still name the record as their parent, and belong to it again when it comes back.
    private mutating func releases(
        _ deleted: PlannedRecord, _ children: [RecordName]
    ) throws(ServerError) -> Bool {
        let name = deleted.record.name
        guard !isParticipant, let share = deleted.before?.share, removedShares[share] != nil,
            try overlay.share(zone, share)?.root == name
        else { return false }
        released[name] = children
        return true
    }

    private func keptByOthers(_ name: RecordName) -> ServerError {
        ServerError(
            .validatingReferenceError, "Other records refer to \(name) and keep it.")
    }
}
