import Glibc
import RecordModel
import RecordStore

/// Changes of names below `.recordfs`. The trash is the only place from which something can be moved.
/// Besides `errors` and `conflicts` it is the only place where something can be removed.
final class ControlRemoval: Sendable {
    let conflicts: Conflicts
    let control: ControlDirectory
    let nodes: Nodes
    let permissions: OwnPermissions
    let places: TypeDirectories
    let records: OpenRecords
    let store: RecordStore
    let trash: TrashEntries

    init(
        _ ground: Ground, _ recordRooms: RecordRooms, conflicts: Conflicts,
        control: ControlDirectory, trash: TrashEntries
    ) {
        self.conflicts = conflicts
        self.control = control
        nodes = ground.nodes
        permissions = ground.permissions
        places = ground.places
        records = recordRooms.records
        store = ground.store
        self.trash = trash
    }

    func makeDirectory(_ name: [UInt8], in path: ControlPath) throws(RecordError) -> Node {
        throw RecordError(
            .notPermitted, "directories below .recordfs are there when they are named")
    }

    /// Removes a file below `.recordfs`. `rm` in the trash deletes for good,
    /// `rm .recordfs/errors/FILE` discards the draft, `rm` of a file of a conflict settles it: the
    /// record stays as it is. Nothing else can be removed.
    func remove(_ name: [UInt8], in path: ControlPath) throws(RecordError) {
        guard case .control(let target)? = try control.find(name, in: path) else {
            throw .noSuchFile
        }
        switch target {
        case .error(let record):
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                if try transaction.records.record(record)?.hasDraft == true {
                    _ = try transaction.records.discardDraft(record)
                } else {
                    try transaction.records.discardRefusal(record)
                }
            }
        case .trashed(let id): try trash.remove(id)
        case .conflictFile(let id, let file): try conflicts.removeFile(file, of: id)
        default:
            if case .directory = target.shape { throw RecordError(.isDirectory, "a directory") }
            throw RecordError(.notPermitted, "this cannot be removed")
        }
    }

    /// Removes an empty directory of the trash or of conflicts, as `rm -r` expects it. The
    /// directory is not listed until something is added to it.
    func removeDirectory(_ name: [UInt8], in path: ControlPath) throws(RecordError) {
        guard case .control(let target)? = try control.find(name, in: path) else {
            throw RecordError(.notFound, "no such directory")
        }
        try trash.finishRemovals()
        let isEmpty: Bool
        switch target {
        case .keptType(.trash, let zone, let type):
            isEmpty = try !store.past.hasTrash(in: zone, type: type)
        case .keptType(.conflicts, let zone, let type):
            isEmpty = try store.syncState.conflicts(in: zone, type: type).isEmpty
        case .conflict(let id): isEmpty = try store.syncState.conflict(id)?.isSettled ?? true
        case .zone(.trash, let zone): isEmpty = try !store.past.hasTrash(in: zone)
        case .zone(.conflicts, let zone): isEmpty = try store.syncState.conflicts(in: zone).isEmpty
        case .owner(let section, let owner) where section.canBeEmptied:
            isEmpty = try !control.zones(section, .shared).contains { $0.owner == owner }
        case .database(let section, let database) where section.canBeEmptied:
            isEmpty = try control.zones(section, database).isEmpty
        default:
            guard case .directory = target.shape else {
                throw RecordError(.notDirectory, "not a directory")
            }
            throw RecordError(.notPermitted, "this directory belongs to the mount")
        }
        guard isEmpty else { throw RecordError(.notEmpty, "the directory is not empty") }
        // The kernel takes the number for that of a removed directory.
        nodes.retire(.control(target))
    }

    /// Restores a deleted record with `mv .recordfs/trash/.../NAME.json DIRECTORY/`: in its own
    /// type and zone, under any name. To another place the moving program copies it and then
    /// removes it.
    func restore(
        _ name: [UInt8], in path: ControlPath, to target: NameMeaning, replacing: Bool
    ) throws(RecordError) {
        guard case .control(let source)? = try control.find(name, in: path) else {
            throw .noSuchFile
        }
        switch (source, target) {
        case (_, .control): throw RecordError.noMoveWithin
        case (.trashed(let id), .record(let type, let stem)):
            guard let entry = try store.past.trashEntry(id) else {
                throw .noSuchFile
            }
            let place = try places.place(of: type)
            guard entry.type == place.type, entry.zone == place.zone.id else {
                throw RecordError.otherDirectory
            }
            try permissions.checkWritable(type)
            try restore(id, as: stem, in: type, replacing: replacing)
        case (.trashed, _), (.keptType(.trash, _, _), _), (.zone(.trash, _), _):
            throw RecordError(.crossDevice, "a deleted record comes back as a record of its type")
        default:
            throw RecordError(
                .notPermitted, "only deleted records are moved out of .recordfs; copy this")
        }
    }

    private func restore(_ id: Int64, as stem: Stem, in type: TypeID, replacing: Bool)
        throws(RecordError)
    {
        if records.pending(type, stem) != nil {
            throw RecordError(.alreadyExists, "\(stem).json is being written")
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.records.restore(id, as: stem, replacing: replacing)
        }
    }
}
