import RecordModel
import RecordWire

/// What deletions take with them, and what keeps them from being.
extension ModifyPlan {
    /// How many records may follow others into deletion in one request.
    private static let maximumCascade = 10_000

    /// Deletes the sources of DELETE_SELF references to deleted records, and theirs, and the
    /// shares of deleted roots.
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
                        "More than \(Self.maximumCascade) records would go with this one."))
                return
            }
        }
    }

    private func deletions() -> [PlannedRecord] {
        overlay.planned.values.filter(\.record.isDeleted).sorted { left, right in
            (right.operation, right.record.name) < (left.operation, left.record.name)
        }
    }

    /// A share record that is deleted ends its share; so does the deletion of its root.
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

    /// A participant takes nothing along that it could not delete itself.
    private mutating func mayTakeAlong(_ stored: StoredRecord) throws(ServerError) -> Bool {
        guard isParticipant else { return true }
        guard stored.type != .share, access.shows(stored),
            access.permission(for: stored.share) == .readWrite
        else { return false }
        guard let share = stored.share else { return true }
        return try overlay.share(zone, share)?.root != stored.name
    }

    /// Every child of a deleted record goes too, or has moved; nothing refers to it with VALIDATE.
    mutating func checkDeletions() throws(ServerError) {
        // All children that are not in the way are planned for, so that one more is enough.
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

    /// Says whether a record has a copy where a client says that it has moved: somebody who has moved it back may
    /// have deleted that, and then both would be gone.
    private mutating func isThere(_ address: RecordAddress) throws(ServerError) -> Bool {
        if address.zone == zone.zone { return try overlay.current(address.name) != nil }
        let key = ZoneKey(database: zone.database, zone: address.zone)
        guard let other = try transaction.zone(key) else { return false }
        let found = try transaction.records(other.handle, [address.name])
        return found[address.name].map { !$0.isDeleted } ?? false
    }

    /// Whether what hangs on a deleted record stays: it is the root of a share, which ends with it. What
    /// hung on it is its owner's as before and in no share; it goes on naming the record that it hung on,
    /// and hangs on it again when that comes back.
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
