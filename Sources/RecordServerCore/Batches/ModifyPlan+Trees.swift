import RecordModel
import RecordWire

/// The descendants of records that move into another tree or share.
///
/// A few records move one by one and appear in the feeds of everybody who sees them arrive or
/// leave. A record with more descendants than that must be the top of a tree. Then only one row of
/// the tree changes, and everybody who saw its records, or now sees them, fetches them again.
extension ModifyPlan {
    /// Returns whether the record is the top of the tree with this number.
    mutating func isTop(_ name: RecordName, _ tree: TreeNumber?) throws(ServerError) -> Bool {
        guard let tree else { return false }
        return try overlay.tree(tree)?.top == name
    }

    /// Returns whether the descendants of the record move with it: it has another parent, it
    /// becomes a root, or it was one. The place of other records follows from the records above
    /// them.
    mutating func isMover(_ name: RecordName) throws(ServerError) -> Bool {
        guard let plan = overlay.planned[name] else { return false }
        guard let before = plan.before else { return try hasStoredChildren(name) }
        if before.parent != plan.record.parent || madeShares[name] != nil { return true }
        guard let share = before.share, removedShares[share] != nil else { return false }
        return try overlay.share(zone, share)?.root == name
    }

    /// Returns whether records have this name as their parent, even when there is no such record
    /// any more.
    mutating func hasStoredChildren(_ name: RecordName) throws(ServerError) -> Bool {
        try !overlay.children(of: name, limit: 1).isEmpty
    }

    /// Moves the descendants of a deleted root out of its share and its tree. A tree that is too
    /// large for one batch stays, in no share: its row changes, and its records keep its number.
    mutating func release(below root: StoredRecord, _ operation: Int) throws(ServerError) {
        guard try hasStoredChildren(root.name) else { return }
        if let walk = try walk(below: root.name, Membership(), operation) {
            return take(walk, from: root.share, to: nil, isSeen: false)
        }
        guard let number = root.tree else { return }
        trees.kept.insert(number)
        trees.touched.append((number, operation))
    }

    /// Returns whether the tree of this top ends with its share. A tree without descendants has no
    /// use, and users who share many single records one after the other leave none behind.
    mutating func endsTree(
        _ name: RecordName, _ stored: StoredRecord?
    ) throws(ServerError) -> Bool {
        guard let stored, let number = stored.tree, let share = stored.share,
            removedShares[share] != nil, try overlay.share(zone, share)?.root == name,
            try overlay.members(below: name, limit: 1).isEmpty
        else { return false }
        trees.ended.insert(number)
        return true
    }

    /// Makes the tree of the root of a new share.
    mutating func makeTree(
        of root: RecordName, _ place: Membership, _ operation: Int
    ) throws(ServerError) {
        guard let number = place.tree, try overlay.tree(number) == nil else { return }
        trees.rows[number] = TreeRow(number: number, top: root, outer: nil, share: nil)
        trees.touched.append((number, operation))
    }

    /// Moves the descendants of a stored record to the place of the record itself.
    mutating func takeAlong(
        below before: StoredRecord, _ place: Membership, _ operation: Int
    ) throws(ServerError) {
        if let number = before.tree, trees.ended.contains(number) { return }
        let isTop = try isTop(before.name, before.tree)
        if isTop, let number = before.tree { trees.touched.append((number, operation)) }
        let old = Membership(share: before.share, tree: before.tree)
        let isReady = isTop ? try overlay.isComplete(before.tree) : false
        // Records below an unfinished top still have numbers of the tree that it is taken from.
        guard old != place || isTop && !isReady else { return }
        let isSeen = isSeen(leaving: old.share, entering: place.share)
        if isReady, !isSeen { return }
        if let walk = try walk(below: before.name, place, operation) {
            take(walk, from: old.share, to: place.share, isSeen: isSeen)
        } else if isReady {
            trees.renewed.formUnion([old.share, place.share].compactMap { $0 })
        } else if isTop {
            trees.unready.append(before.name)
        } else if try enter(before.share, operation) {
            trees.unready.append(before.name)
        }
    }

    /// Returns whether somebody sees the move, because somebody may already have one of the shares.
    /// A share that begins or ends with this batch is fetched, or lost, as a whole.
    private func isSeen(leaving old: RecordName?, entering new: RecordName?) -> Bool {
        guard old != new else { return false }
        return old.map { removedShares[$0] == nil } ?? false || new.map { !isMade($0) } ?? false
    }

    /// The descendants of a record, each with its tree after the batch.
    private struct Walk {
        var members: [(member: TreeMember, tree: TreeNumber?)] = []
        var touched: [(number: TreeNumber, operation: Int)] = []
        var count = 0
    }

    private mutating func take(
        _ walk: Walk, from old: RecordName?, to new: RecordName?, isSeen: Bool
    ) {
        trees.room -= walk.count
        trees.touched += walk.touched
        let leaving = isSeen ? old.flatMap { removedShares[$0] == nil ? $0 : nil } : nil
        for (member, tree) in walk.members where isSeen || member.tree != tree {
            trees.moves.append(
                PlannedTrees.Move(
                    name: member.name, tree: tree, leaving: leaving,
                    entering: isSeen ? new : nil, isSeen: isSeen))
        }
    }

    /// Collects the descendants of a record. Returns nil when there are more than there is room
    /// for. Records that the batch moves or deletes are handled separately.
    private mutating func walk(
        below top: RecordName, _ place: Membership, _ operation: Int
    ) throws(ServerError) -> Walk? {
        var walk = Walk()
        var queue = [(parent: top, tree: place.tree)]
        while let (parent, tree) = queue.popLast() {
            let left = min(trees.room - walk.count, trees.effort)
            let children = try overlay.members(below: parent, limit: left + 1)
            trees.effort -= min(children.count, left)
            guard children.count <= left else { return nil }
            walk.count += children.count
            for child in children {
                let isTop = try isTop(child.name, child.tree)
                if isTop, let number = child.tree { walk.touched.append((number, operation)) }
                // A root whose share ends is handled separately as well.
                let isRoot = isTop ? try isRoot(child.tree) : false
                let inner = isTop ? child.tree : tree
                if let plan = overlay.planned[child.name] {
                    let isGone = plan.record.isDeleted || plan.record.parent != parent
                    guard !isGone, !isRoot, madeShares[child.name] == nil else { continue }
                } else {
                    guard !isRoot else { continue }
                    walk.members.append((child, inner))
                }
                if child.hasChildren { queue.append((child.name, inner)) }
            }
        }
        return walk
    }

    /// Returns whether the top of this tree is the root of a share.
    private mutating func isRoot(_ number: TreeNumber?) throws(ServerError) -> Bool {
        guard let number, let tree = try overlay.tree(number), let share = tree.share else {
            return false
        }
        return try overlay.share(zone, share)?.root == tree.top
    }

    /// Computes the rows of all trees that are now in another tree or share, with the trees inside
    /// them.
    mutating func completeTrees() throws(ServerError) {
        var queue = trees.touched
        var seen: Set<TreeNumber> = []
        while let (number, operation) = queue.popLast() {
            guard seen.insert(number).inserted else { continue }
            let stored = try overlay.tree(number)
            guard var row = trees.rows[number] ?? stored else { continue }
            if trees.kept.contains(number) {
                (row.outer, row.share) = (nil, nil)
            } else if let top = try overlay.current(row.top) {
                let place = try membership(of: top.name)
                row.outer = try top.parent.map { (parent) throws(ServerError) in
                    try membership(of: parent)
                }?.tree
                row.share = place.share
                try checkOneShare(top, place.share, operation)
            } else {
                continue
            }
            guard row != stored else { continue }
            trees.rows[number] = row
            guard row.share != stored?.share else { continue }
            guard try enter(row.share, operation) else { return }
            for inner in try overlay.trees(inside: number) {
                queue.append((inner.number, operation))
            }
        }
    }

    /// Counts one more tree into a share. Returns false when the share has as many trees as may
    /// change at once. Ending a share is never refused.
    private mutating func enter(
        _ share: RecordName?, _ operation: Int
    ) throws(ServerError) -> Bool {
        guard let share else { return true }
        let most = settings.treesPerShare
        let count: Int
        if let known = trees.counts[share] {
            count = known
        } else {
            count = try overlay.treeCount(share, limit: most)
        }
        trees.counts[share] = count + 1
        guard count >= most else { return true }
        fail(
            operation,
            ServerError(
                .limitExceeded,
                "operations[\(operation)].record: more than \(most) parts of a shared hierarchy "
                    + "were shared alone before, or moved, with records below them."))
        note(Grounds(presence: Set(trees.touched.map(\.operation))), of: operation)
        return false
    }

    /// Writes the trees, and the records that move with others.
    mutating func writeTrees(_ row: inout ZoneRow) throws(ServerError) {
        let handle = access.zone.handle
        for plan in overlay.planned.values where plan.record.isDeleted {
            guard let before = plan.before, let number = before.tree,
                try overlay.tree(number)?.top == before.name, !trees.kept.contains(number)
            else { continue }
            trees.ended.insert(number)
        }
        for number in trees.ended {
            try transaction.deleteTree(handle, number)
            trees.rows[number] = nil
        }
        for tree in trees.rows.values { try transaction.putTree(handle, tree) }
        for move in trees.moves {
            if move.isSeen { row.position += 1 }
            try transaction.move(
                handle, move.name, to: move.tree, position: move.isSeen ? row.position : nil,
                entering: move.entering)
            if let share = move.leaving {
                try transaction.putExit(handle, share: share, move.name, position: row.position)
            }
        }
    }

    /// Gives everybody with one of the shares that a tree has left or entered a new view, so that
    /// their present tokens expire.
    mutating func renewViews() throws(ServerError) {
        guard !trees.renewed.isEmpty else { return }
        for var view in try transaction.viewers(zone)
        where view.shares.contains(where: trees.renewed.contains) {
            view.incarnation = ids.incarnation()
            try transaction.putSharedZone(view)
        }
    }
}

extension ModifyPlan {
    /// The work that has to be done before this plan can be made. It is nil when the plan is good
    /// as it is.
    var builder: TreeBuilder? {
        guard !trees.unready.isEmpty else { return nil }
        return TreeBuilder(
            zone: access.zone, tops: trees.unready, slice: settings.membersPerTransaction)
    }
}
