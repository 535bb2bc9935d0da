import RecordModel
import RecordStore

extension ControlExecutor {
    func pin(_ path: RecordPath, _ isPinned: Bool) throws(RecordError) -> ControlReply {
        let zone = try store.zone(at: path)
        let target = try store.pinTarget(at: path)
        guard !isPinned || zone.database != .local else {
            throw RecordError(.invalidArgument, "records in local/ never leave this machine.")
        }
        let isNew = try store.write(author: .commandLine, by: author, isFreeing: !isPinned) {
            (transaction) throws(RecordError) in
            isPinned
                ? try transaction.assets.pin(target, in: zone.id)
                : try transaction.assets.unpin(target)
        }
        guard isPinned || isNew else {
            throw RecordError(
                .notFound, "is not pinned by itself. recordfs pin --list shows what is.")
        }
        return ControlReply(.members(["changed": .bool(isNew)]))
    }
}

extension RecordStore {
    /// Returns the object of a path that can be pinned.
    ///
    /// Errors: those of the lookup; invalidArgument for a large field, which is pinned with its
    /// record.
    fileprivate func pinTarget(at path: RecordPath) throws(RecordError) -> PinTarget {
        switch path.item {
        case .asset?:
            throw RecordError(
                .invalidArgument, "a large field is pinned with its record. Name the record.")
        case .record?: .record(try record(at: path).id)
        case nil:
            if path.type == nil {
                .zone(try zone(at: path).id)
            } else {
                .type(try type(at: path).id)
            }
        }
    }
}
