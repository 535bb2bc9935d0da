import RecordModel
import RecordWire

/// Makes records the tops of trees, in transactions of a few records each, before a batch moves or
/// shares them with all their descendants.
///
/// Nobody sees the work. A tree that is being made is in the share of the tree that it is taken
/// from, and moves with it, so that each record is in the same share before and after it gets the
/// new number. The remaining work is in the storage. Every request that needs the tree continues
/// the work, also in another process or after a kill. When no request needs the tree again, the
/// work may stay unfinished for ever.
///
/// A tree is complete when no work is left, because of two rules. All records below a record with
/// an older number have older numbers. A record gets the new number only together with the note
/// that its children follow. Meanwhile all writers keep these rules: a new record has the number of
/// its parent, and a record that moves to a parent with another number is renumbered with all its
/// descendants, or is the top of a tree itself.
struct TreeBuilder: Sendable {
    let zone: ZoneRow
    let tops: [RecordName]
    /// The number of records that each transaction looks at.
    let slice: Int

    /// Returns when all trees are complete, or their tops are deleted.
    ///
    /// Errors: TRY_AGAIN_LATER after the first transaction that ends later than `end`.
    func run(
        _ storage: any Storage, until end: ContinuousClock.Instant
    ) async throws(ServerError) {
        // Draw other numbers than the batch, which draws the same ones again when it is planned
        // again.
        var ids = RandomIDs()
        for top in tops {
            let number = ids.treeNumber()
            while try await storage.write({ transaction throws(ServerError) in
                try runSlice(top, number, transaction)
            }) {
                guard ContinuousClock.now < end, !Task.isCancelled else { throw Self.notReady }
            }
        }
    }

    private static let notReady = ServerError(
        .tryAgainLater,
        "A record of this request has so many children that the server prepares the change in "
            + "parts; nothing was changed yet. Send the request again to continue.",
        retryAfter: 1)

    /// Runs one transaction. Returns false when no work is left.
    func runSlice(
        _ top: RecordName, _ number: TreeNumber, _ transaction: any StorageTransaction
    ) throws(ServerError) -> Bool {
        guard let row = try transaction.lockZone(zone.key), row.handle == zone.handle,
            let member = try transaction.treeMember(row.handle, top)
        else { return false }
        var work = TreeSlice(zone: row.handle, transaction: transaction)
        let tree = try work.begin(member, number)
        return try work.run(inside: tree, count: slice)
    }
}

/// The steps of making a tree that share one transaction.
private struct TreeSlice {
    let zone: ZoneHandle
    let transaction: any StorageTransaction
    private var trees: [TreeNumber: TreeRow] = [:]

    init(zone: ZoneHandle, transaction: any StorageTransaction) {
        self.zone = zone
        self.transaction = transaction
    }

    private mutating func tree(_ number: TreeNumber?) throws(ServerError) -> TreeRow? {
        guard let number else { return nil }
        if let known = trees[number] { return known }
        let found = try transaction.tree(zone, number)
        trees[number] = found
        return found
    }

    /// Returns the tree of this top, and makes it with `number` when there is none.
    mutating func begin(
        _ top: TreeMember, _ number: TreeNumber
    ) throws(ServerError) -> TreeNumber {
        let outer = try tree(top.tree)
        if let outer, outer.top == top.name { return outer.number }
        try transaction.putTree(
            zone,
            TreeRow(number: number, top: top.name, outer: top.tree, share: outer?.share))
        try take(top, number)
        return number
    }

    /// Looks at about `count` records. Returns false when the tree is complete.
    ///
    /// Records under an unfinished inner tree may have numbers of trees around this one, so the
    /// inner tree has to be finished as well. Only one tree is finished at a time, because finding
    /// the next one takes a walk.
    mutating func run(inside number: TreeNumber, count: Int) throws(ServerError) -> Bool {
        guard let unfinished = try transaction.unfinishedTree(zone, in: number) else {
            return false
        }
        try advance(unfinished, count)
        return try transaction.unfinishedTree(zone, in: number) != nil
    }

    private mutating func advance(_ number: TreeNumber, _ count: Int) throws(ServerError) {
        var left = count
        while left > 0, var work = try transaction.treeWork(zone, number) {
            left -= 1
            guard let parent = try transaction.treeMember(zone, work.parent),
                parent.tree == number
            else {
                // The record has moved to another tree, with its children.
                try transaction.removeTreeWork(zone, number, work.parent)
                continue
            }
            let limit = max(left, 1)
            let children = try transaction.treeMembers(
                zone, below: work.parent, after: work.after, limit: limit)
            for child in children { try visit(child, number) }
            left -= children.count
            if children.count < limit {
                try transaction.removeTreeWork(zone, number, work.parent)
            } else {
                work.after = children.last?.age
                try transaction.putTreeWork(zone, number, work)
            }
        }
    }

    private mutating func visit(
        _ child: TreeMember, _ number: TreeNumber
    ) throws(ServerError) {
        guard child.tree != number else { return }
        if var inner = try tree(child.tree), inner.top == child.name {
            guard inner.outer != number else { return }
            inner.outer = number
            trees[inner.number] = inner
            try transaction.putTree(zone, inner)
        } else {
            try take(child, number)
        }
    }

    private func take(_ member: TreeMember, _ number: TreeNumber) throws(ServerError) {
        try transaction.move(zone, member.name, to: number, position: nil, entering: nil)
        if member.hasChildren {
            try transaction.putTreeWork(zone, number, TreeWork(parent: member.name))
        }
    }
}
