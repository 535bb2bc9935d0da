package import RecordModel
package import RecordStore
import RecordWire

/// Where a record with what hangs on it is shared now.
package struct SharedElsewhere: Sendable {
    package let zone: ZoneInfo
    /// As the server last told of the share: `ShareAnswer.json`.
    package let share: JSONValue
}

/// Sharing a record by taking it to another zone. As `SyncService+Sharing`, all of it blocks.
extension SyncService {
    /// Moves a record with what hangs on it to a new zone of its own, and shares that.
    ///
    /// The share is made while the zone is empty: when the server refuses it, nothing has moved. A
    /// process that ends between leaves an empty zone that is shared, and the record where it was.
    /// Errors also: those of `Transaction.move`; alreadyExists for a zone that is there.
    package func shareInOwnZone(
        _ move: TreeMove, _ edit: ShareEdit
    ) throws(RecordError) -> SharedElsewhere {
        try checkOnline()
        _ = try store.plan(ofOwnZone: move)
        let wasThere = try store.zone(move.database, move.owner, move.zone) != nil
        let zone = try store.write(author: .commandLine) { (transaction) throws(RecordError) in
            try transaction.makeZone(move.database, move.owner, move.zone)
        }
        let share: ShareAnswer
        do throws(RecordError) {
            share = try self.edit(edit, at: SharedPlace(zone: zone, root: nil), isNew: true)
            try self.move(move)
        } catch {
            if !wasThere { try removeIfEmpty(zone) }
            throw error
        }
        return SharedElsewhere(zone: zone, share: share.json)
    }

    /// Who has paused the exchange waits for an answer that does not come.
    private func checkOnline() throws(RecordError) {
        guard !status.isPaused else {
            throw RecordError(.unavailable, "the exchange is paused: recordfs resume.")
        }
    }

    /// With what somebody has put into it meanwhile it stays.
    private func removeIfEmpty(_ zone: ZoneInfo) throws(RecordError) {
        guard try store.types(in: zone.id).isEmpty else { return }
        try store.write(author: .commandLine, isFreeing: true) {
            (transaction) throws(RecordError) in
            try transaction.removeZone(zone.id)
        }
    }

    /// Moves a record with what hangs on it to where something is shared already. It is moved here at
    /// once, and on the server when that can be reached, as every save.
    ///
    /// - Parameter parent: the record on which it is to hang; nil for that which is shared there, or for
    ///   none where the whole zone is.
    /// Errors also: those of `Transaction.move`; invalidArgument where nothing is shared.
    package func add(
        _ root: RecordID, to place: SharedPlace
    ) throws(RecordError) -> SharedElsewhere {
        let zone = place.zone
        let shares = try store.shares(in: zone.id)
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
                "several records are shared there. Name the one on which it is to hang.")
        }
        guard let meta = try store.meta(of: root) else {
            throw RecordError(.notFound, "the record is gone.")
        }
        let shared = isWhole ? nil : try shared(parent, in: zone, shares)
        if meta.zone == zone.id, let parent {
            try store.write(author: .commandLine) { (transaction) throws(RecordError) in
                try transaction.hang(root, under: parent)
            }
            _ = settle()
        } else {
            try move(
                TreeMove(of: root, to: zone.database, zone.owner, zone.name, under: parent))
        }
        let known = shares.first { $0.root == shared } ?? shares[0]
        return SharedElsewhere(zone: zone, share: try JSONParser.parse(known.text))
    }

    /// The record that is shared, on which another one hangs.
    private func shared(
        _ name: RecordName?, in zone: ZoneInfo, _ shares: [Share]
    ) throws(RecordError) -> RecordName? {
        let line = try name.map { (name) throws(RecordError) in
            try store.line(from: name, in: zone)
        }
        let shared = line?.first { name in shares.contains { $0.root == name } }
        if let shared { return shared }
        throw RecordError(
            .invalidArgument, "the record on which it is to hang is not shared.")
    }

    private func move(_ move: TreeMove) throws(RecordError) {
        _ = try store.write(author: .commandLine) { (transaction) throws(RecordError) in
            try transaction.move(move)
        }
        _ = settle()
        // The copies have gone to another database than that which they leave.
        if try store.hasMoves() { _ = settle() }
    }
}
