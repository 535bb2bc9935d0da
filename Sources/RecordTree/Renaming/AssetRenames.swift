import Glibc
import RecordModel
import RecordStore

private struct NewContent {
    let hash: ContentHash
    let size: Int64
    let modified: Timestamp
}

/// Renames to, from and between the names of large fields.
final class AssetRenames: Sendable {
    let assetFiles: AssetNodes
    let assets: OpenAssets
    let fields: FieldFiles
    let handleMoves: HandleMoves
    let kernel: KernelNotifier
    let moves: FieldMoves
    let nodes: Nodes
    let permissions: OwnPermissions
    let readers: FieldReaders
    let scratch: ScratchFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        handleMoves: HandleMoves
    ) {
        assetFiles = assetRooms.assetFiles
        assets = assetRooms.assets
        fields = assetRooms.fields
        self.handleMoves = handleMoves
        kernel = ground.kernel
        moves = assetRooms.moves
        nodes = ground.nodes
        permissions = ground.permissions
        readers = assetRooms.readers
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Saves a scratch file that takes an asset's name.
    func saveScratch(
        _ place: ScratchPlace, as file: FieldFile, _ caller: Requester
    ) throws(RecordError) {
        try scratch.checkIsWhole(place)
        let path = try scratch.path(place)
        let replaced = file.entry.flatMap { assets.open($0.id) }
        let id = scratch.scratchNodes.id(at: place)
        let (source, status) = try regularFile(at: path)
        let entry = try save(
            try content(of: source, status), as: file, by: scratch.programs(of: place, caller),
            needsFile: handleMoves.isWritten(id))
        if let replaced { assets.lose(replaced) }
        if let entry { try handleMoves.move(on: id, become: entry, from: source, status) }
        try scratch.storage.remove(path, isDirectory: false)
        if let entry { nodes.rebind(.scratch(id), to: .asset(entry.id)) }
        scratch.scratchNodes.noteRemoved(place)
    }

    /// Opens a local file that takes the name of a large field.
    private func regularFile(at path: HostName) throws(RecordError) -> (HostFile, stat) {
        guard let status = try scratch.storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become an asset")
        }
        guard status.st_nlink == 1 else {
            throw RecordError(.crossDevice, "a file with other names does not become an asset")
        }
        return (try path.open(O_RDONLY), status)
    }

    /// Imports the bytes of a local file.
    private func content(of file: HostFile, _ status: stat) throws(RecordError) -> NewContent {
        let (hash, size) = try store.assets.importAsset(descriptor: file.descriptor)
        return NewContent(hash: hash, size: size, modified: status.st_mtim.timestamp.asStored)
    }

    /// Gives the field its new content.
    ///
    /// - Parameter needsFile: whether a program continues to write. A value without a file would
    ///   lose those writes.
    private func save(
        _ content: NewContent, as file: FieldFile, by programs: Set<Int32> = [],
        needsFile: Bool = false
    ) throws(RecordError) -> AssetEntry? {
        let entry = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> AssetEntry? in
            let record = try transaction.assets.holder(file.type, file.stem, file: file.name)
            let entry = try transaction.assets.setAsset(
                record, file.field, file.index, content.hash, size: content.size,
                fileExtension: file.fileExtension)
            if let entry { try transaction.records.setModified(entry.id, content.modified) }
            if entry == nil, needsFile {
                throw RecordError(
                    .crossDevice, "a program is writing the file that would become the value")
            }
            try readers.noteSaved(
                AssetKey(record: record, field: file.field, index: file.index), by: programs,
                with: transaction)
            return entry
        }
        if let entry {
            moves.noteFilled(entry)
        }
        return entry
    }

    /// Links a local file to the name of a large field without a file: the field gets a copy of its
    /// bytes.
    func link(_ id: ScratchID, as file: FieldFile) throws(RecordError) -> NodeEntry {
        guard file.entry == nil else {
            throw RecordError(.alreadyExists, "the asset is there already")
        }
        try permissions.checkWritable(file.stem, in: file.type)
        let source = try scratch.openFile(id, flags: O_RDONLY)
        let status = try source.status
        guard status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become an asset")
        }
        guard let saved = try save(try content(of: source, status), as: file),
            let attributes = try assetFiles.attributes(saved.id)
        else { throw RecordError(.notPermitted, "the value is too short for a separate file") }
        return nodes.entry(of: .asset(saved.id), attributes)
    }

    /// Moves an asset to a scratch name: its bytes become a local file, and the field is removed
    /// from the record after the grace time, unless another file takes the name again.
    func setAside(_ id: AssetID, as target: ScratchPlace) throws(RecordError) {
        guard let entry = try store.assets.asset(id) else { throw .noSuchFile }
        guard let open = assets.open(id) else {
            return try setAside(entry, nil, as: target)
        }
        // No program writes during this.
        try open.changing { () throws(RecordError) in try setAside(entry, open, as: target) }
    }

    private func setAside(
        _ entry: AssetEntry, _ open: OpenAsset?, as target: ScratchPlace
    ) throws(RecordError) {
        guard let content = try handleMoves.shownContent(of: entry, open) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        let path = try scratch.newPath(target)
        let file = try StagedFile(
            in: scratch.storage, copyOf: content.file, modified: content.modified)
        let number = nodes.number(of: .asset(entry.id))
        let goesWithRecord = try scratch.replace(target, at: path, with: file) {
            () throws(RecordError) in
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.assets.stopFollowing(entry)
                try transaction.assets.beginLeaving(entry)
                return try transaction.records.record(entry.record)?.state == .waitingDelete
            }
        }
        moves.noteMoved(entry)
        assets.detach(entry, isHidden: goesWithRecord)
        let id = scratch.scratchNodes.take(target, from: number)
        assets.attach(number)
        guard let open else { return }
        open.unlink()
        try handleMoves.move(on: { $0.isAsset(open) }, become: id, at: path)
    }

    /// Moves an asset to another field, or to a field of another record of the type. That record
    /// need not exist yet.
    func renameAsset(_ id: AssetID, to file: FieldFile) throws(RecordError) {
        guard let entry = try store.assets.asset(id), let hash = entry.hash else {
            throw RecordError(.crossDevice, "an asset without bytes is not renamed")
        }
        try permissions.checkWritable(entry.record, in: file.type)
        try permissions.checkWritable(file.stem, in: file.type)
        var (number, open) = assets.held(id)
        var replaced = file.entry.flatMap { assets.open($0.id) }
        // The file has already moved there with its record.
        if let there = replaced, there.formerID == id {
            (open, replaced) = (there, nil)
        }
        let (renamed, goesWithRecord) = try store.write(author: .mount) {
            transaction throws(RecordError) in
            let record = try transaction.assets.holder(file.type, file.stem, file: file.name)
            let renamed = try transaction.assets.setAsset(
                record, file.field, file.index, hash, size: entry.size,
                fileExtension: file.fileExtension)
            if let renamed { try transaction.records.setModified(renamed.id, entry.modified) }
            try transaction.assets.stopFollowing(entry)
            return (renamed, try transaction.takeAway(entry))
        }
        if let replaced { assets.lose(replaced) }
        if goesWithRecord { assets.hide(id) }
        moves.noteMoved(entry)
        if let renamed {
            moves.noteFilled(renamed)
            // The kernel's dentry of the new name has the node of the old one.
            assets.adopt(number, open, as: renamed)
        }
        kernel.notify([
            .entry(parent: NodeNumber(file.type), name: file.name),
            .content(NodeNumber(file.type)),
        ])
    }

    /// Gives the field's file another ending, on all machines. A local file with the new name is
    /// removed, as on any file system.
    func renameEnding(_ id: AssetID, to file: FieldFile) throws(RecordError) {
        guard let entry = try store.assets.asset(id), let hash = entry.hash,
            try store.record(entry.record)?.state != .waitingDelete
        else {
            throw RecordError(.crossDevice, "this file keeps its name; copy it")
        }
        try permissions.checkWritable(entry.record, in: file.type)
        let place = file.scratchPlace
        if try scratch.path(place).status()?.isDirectory == true {
            throw RecordError(.isDirectory, "the new name is a directory")
        }
        let (number, open) = assets.held(id)
        let renamed = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.assets.setAsset(
                entry.record, entry.field, entry.index, hash, size: entry.size,
                fileExtension: file.fileExtension, isInPlace: true)
        }
        if try scratch.find(place) != nil { try scratch.remove(place, isDirectory: false) }
        let former = ScratchPlace(directory: .type(file.type), name: entry.fileName)
        moves.noteEnding(of: renamed?.id ?? id, from: former)
        if let renamed { assets.adopt(number, open, as: renamed) }
        kernel.notify([.content(NodeNumber(file.type))])
    }

    /// Handles a new file under a name that a rename to another ending has just left: that rename
    /// was made to keep a backup (`NAME_original`, `NAME.1`). The backup becomes a local file, and
    /// the field keeps its name for the new file. Returns false when there was no such rename.
    @discardableResult
    func takeBackEnding(
        _ name: [UInt8], in directory: Node, for source: Node? = nil
    ) throws(RecordError) -> Bool {
        guard case .type(let type) = directory,
            case .asset = NameMeaning.plain(of: name, in: directory)
        else { return false }
        let place = ScratchPlace(directory: .type(type), name: name)
        guard let id = moves.takeEnding(place),
            source != .asset(id), let entry = try store.assets.asset(id),
            let record = try store.record(entry.record), fields.isShown(entry, of: record)
        else { return false }
        try setAside(id, as: ScratchPlace(directory: .type(type), name: entry.fileName))
        return true
    }
}

extension Transaction {
    /// Takes an asset out of its record. Returns true when the record waits for its delete: then
    /// the asset is deleted with the record, and only its name is free.
    fileprivate func takeAway(_ asset: AssetEntry) throws(RecordError) -> Bool {
        guard let record = try records.record(asset.record) else { return false }
        guard record.state == .waitingDelete else {
            try assets.removeAsset(asset.record, asset.field, asset.index)
            return false
        }
        try assets.beginLeaving(asset)
        return true
    }
}
