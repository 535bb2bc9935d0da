import RecordModel
import RecordStore

/// Removes files (unlink).
final class Removing: Sendable {
    let assetRenames: AssetRenames
    let assets: OpenAssets
    let controlRemoval: ControlRemoval
    let errors: ErrorReports
    let fields: FieldFiles
    let moves: FieldMoves
    let naming: Naming
    let nodes: Nodes
    let permissions: OwnPermissions
    let records: OpenRecords
    let saving: RecordSaving
    let scratch: ScratchFiles
    let shareDrafts: ShareDrafts
    let shareEnding: ShareEnding
    let shares: ShareFiles
    let store: RecordStore
    let touches: Touches

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ namingRooms: NamingRooms, _ changeRooms: ChangeRooms, assetRenames: AssetRenames
    ) {
        self.assetRenames = assetRenames
        assets = assetRooms.assets
        controlRemoval = controlRooms.controlRemoval
        errors = ground.errors
        fields = assetRooms.fields
        moves = assetRooms.moves
        naming = namingRooms.naming
        nodes = ground.nodes
        permissions = ground.permissions
        records = recordRooms.records
        saving = recordRooms.saving
        scratch = scratchRooms.scratch
        shareDrafts = shareRooms.shareDrafts
        shareEnding = shareRooms.shareEnding
        shares = shareRooms.shares
        store = ground.store
        touches = changeRooms.touches
    }

    /// Removes a file (unlink). A record's delete waits for the grace time.
    func remove(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError) {
        let directory = try nodes.node(parent)
        if touches.isOwn(caller), touches.adoptRemoval(directory, name) { return }
        try permissions.checkWritable()
        if case .control(let path) = directory { return try controlRemoval.remove(name, in: path) }
        if case .record(let type, let stem) = NameMeaning.plain(of: name, in: directory) {
            try shareEnding.checkLeave(type, caller)
            return try removeRecord(type, stem)
        }
        guard let target = try naming.find(name, in: directory) else { throw .noSuchFile }
        switch target {
        case .asset(let id):
            if case .type(let type) = directory { try shareEnding.checkLeave(type, caller) }
            try removeAsset(id, caller)
        case .scratch:
            // The file may have other names: only this name is removed. The host refuses a
            // directory.
            guard case .scratch(let place) = try naming.meaning(of: name, in: directory) else {
                return
            }
            guard place.isOfShare else {
                return try scratch.remove(place, isDirectory: false)
            }
            try shareDrafts.drop(place)
            if let file = try shares.find(place) { shareEnding.noteFailedLeave(file, caller) }
        case .share(let file): try shareEnding.remove(file, caller)
        case .errorFile(let type): try errors.acknowledge(in: type)
        case .readme: throw RecordError(.notPermitted, "README.md is generated")
        case .root, .database, .owner, .zone, .type, .record, .control:
            throw RecordError(.isDirectory, "a directory")
        }
    }

    /// Removes a record. The transaction looks the name up, so that no query is needed before it.
    private func removeRecord(_ type: TypeID, _ stem: Stem) throws(RecordError) {
        let pending = records.pending(type, stem)
        if let pending, records.takePending(pending) { return records.unlink(pending) }
        let file = try saving.beginDelete { transaction throws(RecordError) in
            try transaction.records.beginDelete(stem, in: type)
        }
        guard let file else { throw .noSuchFile }
        records.unlink(file)
    }

    private func removeAsset(_ id: AssetID, _ caller: Requester) throws(RecordError) {
        guard let entry = try store.assets.asset(id), let record = try store.record(entry.record)
        else {
            throw .noSuchFile
        }
        try permissions.checkWritable(record.id, in: record.type)
        moves.noteMoved(entry)
        guard record.state != .waitingDelete else {
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.assets.stopFollowing(entry)
            }
            // The asset is deleted with its record, and is restored with it from the trash.
            return assets.detach(entry, isHidden: true)
        }
        let open = assets.open(id)
        if let heir = try fields.heir(of: entry, removedBy: caller) {
            do throws(RecordError) {
                try inherit(heir, from: entry, caller)
                open?.unlink()
                return assets.detach(entry)
            } catch {
                // A value that cannot have these bytes is removed, and the file stays a local file.
            }
        }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.assets.stopFollowing(entry)
            try transaction.assets.removeAsset(entry.record, entry.field, entry.index)
        }
        open?.unlink()
        assets.detach(entry)
    }

    /// Gives the field to a local file. If another file takes the field's former name in time, then
    /// the former file was removed to be written again, and that file gets the field.
    private func inherit(
        _ heir: FieldFile, from former: AssetEntry, _ caller: Requester
    ) throws(RecordError) {
        try assetRenames.saveScratch(heir.scratchPlace, as: heir, caller)
        guard let entry = try store.assets.asset(former.record, former.field, former.index) else {
            return
        }
        let place = ScratchPlace(directory: .type(former.type), name: former.fileName)
        moves.noteEnding(of: entry.id, from: place)
    }
}
