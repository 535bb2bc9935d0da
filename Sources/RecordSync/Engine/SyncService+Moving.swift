package import RecordModel
package import RecordStore
import RecordWire

/// The new place of a record and its children that are now shared in another zone.
package struct SharedElsewhere: Sendable {
    package let zone: ZoneInfo
    /// The share as the server last reported it: `ShareAnswer.json`.
    package let share: JSONValue
}

/// Shares records by moving them to another zone. All calls block, as in `SyncService+Sharing`.
extension SyncService {
    /// Moves records and all that hangs on them to their own new zone, and shares that zone.
    ///
    /// The share is made while the zone is empty: when the server refuses the share, nothing has
    /// moved. A process that ends in between leaves the records at their old place, and the next one
    /// removes the zone.
    /// Errors also: those of `Transaction.move`; alreadyExists for a zone that exists.
    package func shareInOwnZone(
        _ move: TreeMove, _ edit: ShareEdit
    ) throws(RecordError) -> SharedElsewhere {
        var move = move
        move.isShared = true
        try checkOnline()
        _ = try store.past.plan(ofOwnZone: move)
        let wasThere = try store.zone(move.database, move.owner, move.zone) != nil
        let zone = try store.write(author: .commandLine) {
            [move] (transaction) throws(RecordError) in
            let zone = try transaction.makeZone(move.database, move.owner, move.zone)
            if !wasThere { try transaction.sharing.noteUnfinished(zone.id) }
            return zone
        }
        let share: ShareAnswer
        do throws(RecordError) {
            share = try self.edit(edit, at: SharedPlace(zone: zone, root: nil), isNew: true)
            Failpoint.pass(.zoneShared)
            try self.move(move)
        } catch {
            if !wasThere { try removeUnfinished(zone.id) }
            throw error
        }
        return SharedElsewhere(zone: zone, share: share.json)
    }

    /// Throws when the exchange is paused: the caller would wait for an answer that does not
    /// arrive.
    private func checkOnline() throws(RecordError) {
        guard !status.isPaused else {
            throw RecordError(.unavailable, "the exchange is paused: recordfs resume.")
        }
    }

    private func removeUnfinished(_ zone: ZoneID) throws(RecordError) {
        try store.write(author: .commandLine, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.sharing.removeUnfinished(zone)
        }
    }

    /// Moves records and all that hangs on them to a place where something is already shared. The
    /// records move at once on this machine, and on the server when it can be reached, like every
    /// save.
    ///
    /// - Parameter place: its root is the new parent of the records. Nil stands for the only record
    ///   that is shared there, or for no parent where the whole zone is shared.
    /// Errors also: those of `Transaction.move`; invalidArgument where nothing is shared, and for
    /// objects where only a part of the zone is.
    package func add(
        _ roots: [RecordID], to place: SharedPlace
    ) throws(RecordError) -> SharedElsewhere {
        let zone = place.zone
        let shares = try store.sharing.shares(in: zone.id)
        guard !shares.isEmpty else {
            throw RecordError(
                .invalidArgument,
                "nothing is shared there. recordfs share create does that first; --own-zone makes a "
                    + "zone that is shared.")
        }
        let isWhole = shares.contains { $0.root == nil }
        let parent = place.root ?? (isWhole ? nil : shares.count == 1 ? shares[0].root : nil)
        guard isWhole || parent != nil else {
            throw RecordError(
                .invalidArgument,
                "several records are shared there. Name the record that becomes its parent.")
        }
        let shared = isWhole ? nil : try shared(parent, in: zone, shares)
        let isHere = try roots.map { (root) throws(RecordError) -> Bool in
            guard let meta = try store.meta(of: root) else {
                throw RecordError(.notFound, "the record is gone.")
            }
            if !isWhole, try store.model.isObject(root) {
                throw RecordError(
                    .invalidArgument,
                    "\(zone.name) is shared only in part. Objects are shared with a zone: leave out "
                        + "--into, or name a zone that is shared as a whole.")
            }
            return meta.zone == zone.id
        }
        if let parent, isHere.allSatisfy({ $0 }) {
            try store.write(author: .commandLine) { (transaction) throws(RecordError) in
                for root in roots { try transaction.moves.hang(root, under: parent) }
            }
            _ = finishDueWork()
        } else {
            try move(
                TreeMove(of: roots, to: zone.database, zone.owner, zone.name, under: parent))
        }
        let known = shares.first { $0.root == shared } ?? shares[0]
        return SharedElsewhere(zone: zone, share: try JSONParser.parse(known.text))
    }

    /// Returns the shared record that this record is, or is a child of.
    private func shared(
        _ name: RecordName?, in zone: ZoneInfo, _ shares: [Share]
    ) throws(RecordError) -> RecordName? {
        let line = try name.map { (name) throws(RecordError) in
            try store.past.line(from: name, in: zone)
        }
        let shared = line?.first { name in shares.contains { $0.root == name } }
        if let shared { return shared }
        throw RecordError(
            .invalidArgument, "the record that would become its parent is not shared.")
    }

    private func move(_ move: TreeMove) throws(RecordError) {
        _ = try store.write(author: .commandLine) { (transaction) throws(RecordError) in
            try transaction.moves.move(move)
        }
        _ = finishDueWork()
        // The copies were sent to another database than the originals, so the deletions need
        // another round.
        if try store.past.hasMoves() { _ = finishDueWork() }
    }
}
