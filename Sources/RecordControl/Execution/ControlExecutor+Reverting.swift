import RecordModel
import RecordStore
import RecordStoreSync

extension ControlExecutor {
    /// The number of changes in one transaction, so that saves in between need not wait for all of
    /// them.
    private static let batchChanges = 200

    func revert(_ path: RecordPath) throws(RecordError) -> ControlReply {
        let all = try refusedChanges(path)
        var changes = all.filter { !$0.isUnmergeable }[...]
        if changes.isEmpty, let change = all.first {
            throw RecordError(
                .unsupported,
                "the server has a state of it that cannot be shown here. \(change.error ?? "")")
        }
        guard !changes.isEmpty else {
            throw RecordError(
                .notFound,
                "the server refused no change of it. recordfs sync lists the refused changes; a "
                    + "change that waits to be sent, or a draft, is not refused.")
        }
        var reverted = 0
        while !changes.isEmpty {
            let some = changes.prefix(Self.batchChanges)
            changes = changes.dropFirst(Self.batchChanges)
            // Written like changes of the server: none of them is sent.
            reverted += try store.write(author: .sync) {
                (transaction) throws(RecordError) in
                var count = 0
                for change in some where try transaction.merging.revert(change) { count += 1 }
                return count
            }
        }
        return ControlReply(.members(["reverted": .integer(reverted)]))
    }

    /// Returns the refused changes at or below a path.
    private func refusedChanges(_ path: RecordPath) throws(RecordError) -> [OutboxRow] {
        if case .asset = path.item {
            throw RecordError(
                .invalidArgument, "a large field is sent with its record. Name the record.")
        }
        let zone = try store.keptZone(at: path)
        var changes = try store.syncState.refusedChanges(limit: Int.max).filter {
            $0.zone == zone.id && (path.type == nil || $0.type == path.type)
        }
        if let type = path.type, let stem = path.stem {
            let names = try store.possibleNames(of: stem, type, in: zone.id)
            let name = names.first { name in changes.contains { $0.name == name } }
            changes = changes.filter { $0.name == name }
        }
        return changes
    }
}
