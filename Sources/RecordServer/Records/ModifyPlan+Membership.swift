import RecordModel
import RecordWire

/// Which share each record is a member of after the batch (reference §9.4, appendix B.7).
extension ModifyPlan {
    /// Gives every record of the batch its share, and takes those below along.
    mutating func settleMemberships() throws(ServerError) {
        noteMoves()
        for (index, step) in steps.enumerated() {
            for name in [step.name, step.share?.root?.name] {
                guard let name, let plan = overlay.planned[name],
                    plan.isOwn || name == step.share?.root?.name, !plan.record.isDeleted
                else { continue }
                try catching(index) { this throws(ServerError) in
                    try this.settleMembership(of: plan, index)
                }
            }
        }
        for (share, operation) in removedShares.sorted(by: { $0.key < $1.key }) {
            try unmark(share, operation)
        }
    }

    private mutating func settleMembership(
        of own: PlannedRecord, _ index: Int
    ) throws(ServerError) {
        var plan = own
        let name = plan.record.name
        let share = try membership(of: name)
        let made = madeShares[name]
        try checkOneShare(plan.record, share, made?.operation ?? index)
        if isParticipant, plan.record.type != .share { try access.requireWrite(for: share) }
        let old = plan.before?.share
        plan.record.share = share
        if let made { plan.record.shortGUID = made.share.shortGUID }
        overlay.planned[name] = plan
        if plan.before != nil, old != share {
            try takeAlong(below: name, share, made?.operation ?? index)
        }
    }

    /// A record is in one share only: a root cannot come below another, nor the other way round.
    private mutating func checkOneShare(
        _ record: StoredRecord, _ share: RecordName?, _ operation: Int
    ) throws(ServerError) {
        guard let share, record.type != .share, let parent = record.parent,
            let above = try membership(of: parent), above != share
        else { return }
        fail(operation, Self.alreadyShared(operation))
    }

    private static func alreadyShared(_ operation: Int) -> ServerError {
        ServerError(
            .alreadyShared,
            "operations[\(operation)].record: a record of this hierarchy is in another share.")
    }

    /// What a pass asks of the operations again and again.
    mutating func noteMoves() {
        madeShares = [:]
        hasMoves = !removedShares.isEmpty
        for (index, step) in steps.enumerated() {
            if let share = step.share, share.old == nil {
                hasMoves = true
                if let root = share.new.root {
                    madeShares[root] = MadeShare(share: share.new, operation: index)
                }
            }
            if case .saved(let plan) = step.outcome, let before = plan.before,
                before.parent != plan.record.parent
            {
                hasMoves = true
            }
        }
    }

    private func isMade(_ share: RecordName) -> Bool {
        madeShares.values.contains { $0.share.name == share }
    }

    /// The share of which the record is the root, else that of its parent.
    mutating func membership(of name: RecordName) throws(ServerError) -> RecordName? {
        if let known = memberships[name] { return known }
        let chain = try unknownChain(from: name)
        var share: RecordName?
        if let last = chain.last?.parent, !chain.isEmpty { share = memberships[last] ?? nil }
        for record in chain.reversed() {
            if let own = try ownShare(record) { share = own.share }
            memberships[record.name] = .some(share)
        }
        return share
    }

    /// The record and those above it, up to where the answer is known.
    private mutating func unknownChain(
        from name: RecordName
    ) throws(ServerError) -> [StoredRecord] {
        var chain: [StoredRecord] = []
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let at = next, memberships[at] == nil, seen.insert(at).inserted,
            let record = try overlay.current(at)
        {
            if !hasMoves, overlay.planned[at] == nil {
                memberships[at] = .some(record.share)
                break
            }
            chain.append(record)
            next = record.parent
        }
        return chain
    }

    /// The share that a record has whatever is above it; nil when that decides.
    private mutating func ownShare(
        _ record: StoredRecord
    ) throws(ServerError) -> (share: RecordName?, Void)? {
        if record.type == .share {
            return (record.name == .zoneShare ? nil : record.name, ())
        }
        if let made = madeShares[record.name] { return (made.share.name, ()) }
        guard let share = try overlay.stored(record.name)?.share, removedShares[share] == nil,
            try overlay.share(zone, share)?.root == record.name
        else { return nil }
        return (share, ())
    }

    /// Stored records below one whose share has changed.
    private mutating func takeAlong(
        below top: RecordName, _ share: RecordName?, _ operation: Int
    ) throws(ServerError) {
        var queue = [top]
        while let parent = queue.popLast() {
            let children = try overlay.children(of: parent, limit: .max)
            try overlay.load(children)
            for name in children where overlay.planned[name] == nil {
                guard let stored = try overlay.stored(name), stored.share != share else {
                    continue
                }
                if let own = try ownShare(stored) {
                    if share != nil, own.share != share {
                        fail(operation, Self.alreadyShared(operation))
                    }
                    continue
                }
                var plan = PlannedRecord(
                    operation: operation, isOwn: false, before: stored, record: stored)
                plan.record.share = share
                plan.changesTag = false
                plan.changesPosition = isSeen(leaving: stored.share, entering: share)
                overlay.planned[name] = plan
                queue.append(name)
            }
        }
    }

    /// Somebody may have one of the shares already; a share that comes or goes with this batch is
    /// fetched, or lost, as a whole.
    private func isSeen(leaving old: RecordName?, entering new: RecordName?) -> Bool {
        old.map { removedShares[$0] == nil } ?? false || new.map { !isMade($0) } ?? false
    }

    /// The root of a share that has ended says so, with a new change tag.
    private mutating func unmark(_ share: RecordName, _ operation: Int) throws(ServerError) {
        guard let root = try overlay.share(zone, share)?.root, overlay.planned[root] == nil,
            let stored = try overlay.stored(root)
        else { return }
        var plan = PlannedRecord(
            operation: operation, isOwn: false, before: stored, record: stored)
        plan.record.share = try membership(of: root)
        plan.record.modified = stamp
        overlay.planned[root] = plan
        try takeAlong(below: root, plan.record.share, operation)
    }
}
