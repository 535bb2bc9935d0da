import RecordModel
import RecordStore
import Synchronization

/// The trash: the only place below `.recordfs` from which something can be moved. Besides `errors`
/// and `conflicts` it is the only place where something can be removed.
///
/// When several records were deleted under one name, the last one has the plain name.
extension Tree {
    func trashNames(in zone: ZoneID, _ type: RecordTypeName) throws(RecordError)
        -> [ControlName]
    {
        var taken: Set<Stem> = []
        let removed = state.withLock { $0.trashRemovals.ids }
        // The newest entry is first.
        return try store.trash(in: zone, type: type).filter { !removed.contains($0.id) }.map {
            entry in
            let isLast = taken.insert(entry.stem).inserted
            let name = isLast ? entry.stem.fileName : NumberedName.make(entry.stem, entry.id)
            return ControlName(name, .trashed(entry.id))
        }
    }

    func findTrashed(_ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName)
        throws(RecordError) -> ControlPath?
    {
        switch NumberedName(name) {
        case .plain(let stem):
            var last = try store.lastTrashed(in: zone, type: type, stem)
            if let entry = last, isRemovedFromTrash(entry.id) {
                // The entry before the removed one has the plain name now.
                try finishTrashRemovals()
                last = try store.lastTrashed(in: zone, type: type, stem)
            }
            return last.map { .trashed($0.id) }
        case .numbered(let id):
            guard !isRemovedFromTrash(id), let entry = try store.trashEntry(id), entry.zone == zone,
                entry.type == type,
                NumberedName.make(entry.stem, id) == name
            else { return nil }
            return .trashed(id)
        case nil: return nil
        }
    }

    /// Removes a file below `.recordfs`. `rm` in the trash deletes for good,
    /// `rm .recordfs/errors/FILE` discards the draft, `rm` of a file of a conflict settles it: the
    /// record stays as it is. Nothing else can be removed.
    func removeControl(_ name: [UInt8], in path: ControlPath) throws(RecordError) {
        guard case .control(let target)? = try findControl(name, in: path) else {
            throw .noSuchFile
        }
        switch target {
        case .error(let record):
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                if try transaction.record(record)?.hasDraft == true {
                    _ = try transaction.discardDraft(record)
                } else {
                    try transaction.discardRefusal(record)
                }
            }
        case .trashed(let id): try removeTrashed(id)
        case .conflictFile(let id, let file): try removeConflictFile(file, of: id)
        default:
            if case .directory = target.shape { throw RecordError(.isDirectory, "a directory") }
            throw RecordError(.notPermitted, "this cannot be removed")
        }
    }

    /// Removes an empty directory of the trash or of conflicts, as `rm -r` expects it. The
    /// directory is not listed until something is added to it.
    func removeControlDirectory(_ name: [UInt8], in path: ControlPath) throws(RecordError) {
        guard case .control(let target)? = try findControl(name, in: path) else {
            throw RecordError(.notFound, "no such directory")
        }
        try finishTrashRemovals()
        let isEmpty: Bool
        switch target {
        case .keptType(.trash, let zone, let type):
            isEmpty = try !store.hasTrash(in: zone, type: type)
        case .keptType(.conflicts, let zone, let type):
            isEmpty = try store.conflicts(in: zone, type: type).isEmpty
        case .conflict(let id): isEmpty = try store.conflict(id)?.isSettled ?? true
        case .zone(.trash, let zone): isEmpty = try !store.hasTrash(in: zone)
        case .zone(.conflicts, let zone): isEmpty = try store.conflicts(in: zone).isEmpty
        case .owner(let section, let owner) where section.canBeEmptied:
            isEmpty = try !zones(section, .shared).contains { $0.owner == owner }
        case .database(let section, let database) where section.canBeEmptied:
            isEmpty = try zones(section, database).isEmpty
        default:
            guard case .directory = target.shape else {
                throw RecordError(.notDirectory, "not a directory")
            }
            throw RecordError(.notPermitted, "this directory belongs to the mount")
        }
        guard isEmpty else { throw RecordError(.notEmpty, "the directory is not empty") }
        // The kernel takes the number for that of a removed directory.
        state.withLock { $0.nodes.retire(.control(target)) }
    }

    /// Restores a deleted record with `mv .recordfs/trash/.../NAME.json DIRECTORY/`: in its own
    /// type and zone, under any name. To another place the moving program copies it and then
    /// removes it.
    func restore(
        _ name: [UInt8], in path: ControlPath, to target: NameMeaning, replacing: Bool
    ) throws(RecordError) {
        guard case .control(let source)? = try findControl(name, in: path) else {
            throw .noSuchFile
        }
        switch (source, target) {
        case (_, .control): throw Self.noMoveWithin
        case (.trashed(let id), .record(let type, let stem)):
            guard let entry = try store.trashEntry(id) else {
                throw .noSuchFile
            }
            let place = try place(of: type)
            guard entry.type == place.type, entry.zone == place.zone.id else {
                throw Self.otherDirectory
            }
            try checkWritable(type)
            try restore(id, as: stem, in: type, replacing: replacing)
        case (.trashed, _), (.keptType(.trash, _, _), _), (.zone(.trash, _), _):
            throw RecordError(.crossDevice, "a deleted record comes back as a record of its type")
        default:
            throw RecordError(
                .notPermitted, "only deleted records are moved out of .recordfs; copy this")
        }
    }

    static let noMoveWithin = RecordError(.notPermitted, "nothing is moved into .recordfs")

    private func restore(_ id: Int64, as stem: Stem, in type: TypeID, replacing: Bool)
        throws(RecordError)
    {
        if state.withLock({ $0.pending[type]?[stem] }) != nil {
            throw RecordError(.alreadyExists, "\(stem).json is being written")
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.restore(id, as: stem, replacing: replacing)
        }
    }
}
