import RecordModel
import RecordWire

/// The share and the tree that each record belongs to after the batch (ServerArchitecture,
/// "Trees").
extension ModifyPlan {
    /// Gives every record of the batch its place, and moves the records below it along.
    mutating func completeMemberships() throws(ServerError) {
        noteMoves()
        for (index, step) in steps.enumerated() {
            for name in [step.name, step.share?.root?.name] {
                guard let name, let plan = overlay.planned[name],
                    plan.isOwn || name == step.share?.root?.name, !plan.record.isDeleted
                else { continue }
                try catching(index) { this throws(ServerError) in
                    try this.completeMembership(of: plan, index)
                }
                if steps[index].error != nil { note(try groundsOfPlace(of: name), of: index) }
            }
        }
        for (share, operation) in removedShares.sorted(by: { $0.key < $1.key }) {
            try unmark(share, operation)
        }
        try completeTrees()
    }

    private mutating func completeMembership(
        of own: PlannedRecord, _ index: Int
    ) throws(ServerError) {
        var plan = own
        let name = plan.record.name
        let place = try membership(of: name)
        let made = madeShares[name]
        try checkOneShare(plan.record, place.share, made?.operation ?? index)
        if isParticipant, plan.record.type != .share { try access.requireWrite(for: place.share) }
        plan.record.share = place.share
        plan.record.tree = place.tree
        if let made { plan.record.shortGUID = made.share.shortGUID }
        overlay.planned[name] = plan
        if made != nil { try makeTree(of: name, place, made?.operation ?? index) }
        if plan.before == nil, place == Membership() { return }
        guard try isMover(name) else { return }
        // A new record gets the children of a deleted record of its name.
        let before =
            plan.before
            ?? StoredRecord(
                name: name, type: plan.record.type, tag: 0, position: 0, fields: [],
                created: stamp, modified: stamp)
        try takeAlong(below: before, place, made?.operation ?? index)
    }

    /// Checks that a record is in one share only: a root cannot move below another one, nor the
    /// other way round.
    mutating func checkOneShare(
        _ record: StoredRecord, _ share: RecordName?, _ operation: Int
    ) throws(ServerError) {
        guard let share, record.type != .share, let parent = record.parent,
            let above = try membership(of: parent).share, above != share
        else { return }
        fail(
            operation,
            ServerError(
                .alreadyShared,
                "operations[\(operation)].record: a record of this hierarchy is in another share."
            ))
        note(try groundsOfPlace(of: record.name), of: operation)
    }

    /// Collects the facts that a pass asks of the operations again and again.
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

    func isMade(_ share: RecordName) -> Bool {
        madeShares.values.contains { $0.share.name == share }
    }

    /// Returns the place of the record after the batch: the share of which it is the root and the
    /// tree of which it is the top, otherwise those of its parent.
    mutating func membership(of name: RecordName) throws(ServerError) -> Membership {
        if let known = memberships[name] { return known }
        let chain = try unknownChain(from: name)
        var above = Membership()
        var isAboveTaken = false
        if let parent = chain.last?.parent {
            above = memberships[parent] ?? Membership()
            isAboveTaken =
                takenAlong.contains(parent) || overlay.planned[parent]?.record.isDeleted == true
        }
        for record in chain.reversed() {
            let stored = try overlay.stored(record.name)
            let isTaken = isAboveTaken || stored?.parent != record.parent
            let place = try place(of: record, stored: stored, below: above, isTaken: isTaken)
            memberships[record.name] = place
            let isMoved = try isMoved(stored, record, to: place)
            if isAboveTaken || isMoved { takenAlong.insert(record.name) }
            above = place
            isAboveTaken = takenAlong.contains(record.name)
        }
        return memberships[name] ?? Membership()
    }

    /// Returns whether all descendants of the record move to the place of the record.
    private mutating func isMoved(
        _ stored: StoredRecord?, _ record: StoredRecord, to place: Membership
    ) throws(ServerError) -> Bool {
        guard let stored else { return place != Membership() }
        if Membership(share: stored.share, tree: stored.tree) != place { return true }
        guard stored.parent != record.parent else { return false }
        return try isTop(stored.name, stored.tree)
    }

    /// Returns the place of a record. `isTaken`: it moves into the tree of its parent. While trees
    /// are being made, a record may have the number of an outer tree. That is right as long as
    /// nothing above the record moves.
    private mutating func place(
        of record: StoredRecord, stored: StoredRecord?, below above: Membership, isTaken: Bool
    ) throws(ServerError) -> Membership {
        if record.type == .share { return try place(ofShare: record, stored) }
        let isTop = try isTop(record.name, stored?.tree)
        if let made = madeShares[record.name] {
            let tree = isTop ? stored?.tree : trees.number(of: record.name, &ids)
            return Membership(share: made.share.name, tree: tree)
        }
        if let share = stored?.share, removedShares[share] == nil,
            try overlay.share(zone, share)?.root == record.name
        {
            return Membership(share: share, tree: stored?.tree)
        }
        if isTop, try !endsTree(record.name, stored) {
            return Membership(share: above.share, tree: stored?.tree)
        }
        let isNew = stored == nil || isTop
        return Membership(
            share: above.share, tree: isNew || isTaken ? above.tree : stored?.tree)
    }

    /// Returns the place of a share record: a share is a member of itself, in the tree of its root.
    private mutating func place(
        ofShare record: StoredRecord, _ stored: StoredRecord?
    ) throws(ServerError) -> Membership {
        guard record.name != .zoneShare else { return Membership() }
        if let made = madeShares.first(where: { $0.value.share.name == record.name }) {
            let tree = try membership(of: made.key).tree
            return Membership(share: record.name, tree: tree)
        }
        return Membership(share: record.name, tree: stored?.tree)
    }

    /// Returns the record and its ancestors, up to the one whose place is known.
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
                memberships[at] = Membership(share: record.share, tree: record.tree)
                break
            }
            chain.append(record)
            next = record.parent
        }
        return chain
    }

    /// Updates the root of a share that has ended, so that it gets a new change tag and no longer
    /// names the share.
    private mutating func unmark(_ share: RecordName, _ operation: Int) throws(ServerError) {
        guard let root = try overlay.share(zone, share)?.root else { return }
        if let plan = overlay.planned[root], plan.record.isDeleted, let before = plan.before {
            return try release(below: before, operation)
        }
        guard overlay.planned[root] == nil, let stored = try overlay.stored(root) else { return }
        let place = try membership(of: root)
        var plan = PlannedRecord(
            operation: operation, isOwn: false, before: stored, record: stored)
        plan.record.share = place.share
        plan.record.tree = place.tree
        plan.record.modified = stamp
        overlay.planned[root] = plan
        try takeAlong(below: stored, place, operation)
    }
}
