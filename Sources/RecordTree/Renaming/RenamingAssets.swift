import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Saves a scratch file that takes an asset's name.
    func saveScratch(
        _ place: ScratchPlace, as file: FieldFile, _ caller: Requester
    ) throws(RecordError) {
        try checkIsWhole(place)
        let path = try scratchPath(place)
        let (replaced, scratch) = state.withLock { state in
            (file.entry.flatMap { state.assets[$0.id] }, state.scratch.id(at: place))
        }
        let (source, status) = try regularFile(at: path)
        let entry = try save(
            try content(of: source, status), as: file, by: programs(of: place, caller),
            needsFile: isWritten(scratch))
        if let replaced { lose(replaced) }
        if let entry { try handles(on: scratch, become: entry, from: source, status) }
        try storage.remove(path, isDirectory: false)
        state.withLock { state in
            if let entry, let number = state.nodes.number(of: .scratch(scratch)) {
                state.nodes.rebind(number, to: .asset(entry.id))
            }
            state.scratch.remove(place)
        }
    }

    /// Opens a local file that takes the name of a large field.
    private func regularFile(at path: HostName) throws(RecordError) -> (HostFile, stat) {
        guard let status = try storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become an asset")
        }
        guard status.st_nlink == 1 else {
            throw RecordError(.crossDevice, "a file with other names does not become an asset")
        }
        return (try path.open(O_RDONLY), status)
    }

    private func content(of file: HostFile, _ status: stat) throws(RecordError) -> NewContent {
        let (hash, size) = try store.importAsset(descriptor: file.descriptor)
        return NewContent(hash: hash, size: size, modified: status.st_mtim.timestamp.asStored)
    }

    /// - Parameter needsFile: whether a program continues to write. A value without a file would
    ///   lose those writes.
    private func save(
        _ content: NewContent, as file: FieldFile, by programs: Set<Int32> = [],
        needsFile: Bool = false
    ) throws(RecordError) -> AssetEntry? {
        let entry = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> AssetEntry? in
            let record = try transaction.holder(file.type, file.stem, file: file.name)
            let entry = try transaction.setAsset(
                record, file.field, file.index, content.hash, size: content.size,
                fileExtension: file.fileExtension)
            if let entry { try transaction.setModified(entry.id, content.modified) }
            if entry == nil, needsFile {
                throw RecordError(
                    .crossDevice, "a program is writing the file that would become the value")
            }
            try noteSaved(
                AssetKey(record: record, field: file.field, index: file.index), by: programs,
                with: transaction)
            return entry
        }
        if let entry {
            let end = options.clock.uptime + options.grace
            state.withLock { $0.movedFields.filled(entry, until: end) }
        }
        return entry
    }

    /// Links a local file to the name of a large field without a file: the field gets a copy of its
    /// bytes.
    func link(_ id: ScratchID, as file: FieldFile) throws(RecordError) -> NodeEntry {
        guard file.entry == nil else {
            throw RecordError(.alreadyExists, "the asset is there already")
        }
        try checkWritable(file.stem, in: file.type)
        let source = try openScratchFile(id, flags: O_RDONLY)
        let status = try source.status
        guard status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become an asset")
        }
        guard let saved = try save(try content(of: source, status), as: file),
            let entry = try entry(of: .asset(saved.id))
        else { throw RecordError(.notPermitted, "the value is too short for a separate file") }
        return entry
    }

    /// Takes the name from an open file after another file replaced it. Even with the same bytes,
    /// and therefore the same row, the other file is not this one: writes to this one are not
    /// saved.
    private func lose(_ open: OpenAsset) {
        open.unlink()
        state.withLock { state in
            if state.assets[open.id] === open { state.assets[open.id] = nil }
        }
    }

    /// Moves an asset to a scratch name: its bytes become a local file, and the field is removed
    /// from the record after the grace time, unless another file takes the name again.
    func setAside(_ id: AssetID, as target: ScratchPlace) throws(RecordError) {
        guard let entry = try store.asset(id) else { throw .noSuchFile }
        guard let open = state.withLock({ $0.assets[id] }) else {
            return try setAside(entry, nil, as: target)
        }
        // No program writes during this.
        try open.changing { () throws(RecordError) in try setAside(entry, open, as: target) }
    }

    private func setAside(
        _ entry: AssetEntry, _ open: OpenAsset?, as target: ScratchPlace
    ) throws(RecordError) {
        guard let content = try shownContent(of: entry, open) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        let path = try newScratchPath(target)
        try holdScratch(target)
        try storage.place(copyOf: content.file, at: path, modified: content.modified)
        let number = state.withLock { $0.nodes.number(of: .asset(entry.id)) }
        let goesWithRecord = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.stopFollowing(entry)
            try transaction.beginLeaving(entry)
            return try transaction.record(entry.record)?.state == .waitingDelete
        }
        let scratch = state.withLock { state in
            if goesWithRecord { state.hiddenAssets.insert(entry.id) }
            state.movedFields.moved(entry)
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            state.detach(entry)
            if let number {
                state.nodes.rebind(number, to: .scratch(scratch))
                state.detached[number] = nil
            }
            return scratch
        }
        guard let open else { return }
        open.unlink()
        try handles(on: { $0.isAsset(open) }, become: scratch, at: path)
    }

    /// Moves an asset to another field, or to a field of another record of the type. That record
    /// need not exist yet.
    func renameAsset(_ id: AssetID, to file: FieldFile) throws(RecordError) {
        guard let entry = try store.asset(id), let hash = entry.hash else {
            throw RecordError(.crossDevice, "an asset without bytes is not renamed")
        }
        try checkWritable(entry.record, in: file.type)
        try checkWritable(file.stem, in: file.type)
        var (number, open, replaced) = state.withLock { state in
            (
                state.nodes.number(of: .asset(id)), state.assets[id],
                file.entry.flatMap { state.assets[$0.id] }
            )
        }
        // The file has already moved there with its record.
        if let there = replaced, there.state.withLock({ $0.formerID == id }) {
            (open, replaced) = (there, nil)
        }
        let (renamed, goesWithRecord) = try store.write(author: .mount) {
            transaction throws(RecordError) in
            let record = try transaction.holder(file.type, file.stem, file: file.name)
            let renamed = try transaction.setAsset(
                record, file.field, file.index, hash, size: entry.size,
                fileExtension: file.fileExtension)
            if let renamed { try transaction.setModified(renamed.id, entry.modified) }
            try transaction.stopFollowing(entry)
            return (renamed, try transaction.takeAway(entry))
        }
        if let replaced { lose(replaced) }
        let end = options.clock.uptime + options.grace
        state.withLock { state in
            if goesWithRecord { state.hiddenAssets.insert(id) }
            state.movedFields.moved(entry)
            // The kernel's dentry of the new name has the node of the old one.
            guard let renamed else { return }
            state.movedFields.filled(renamed, until: end)
            state.adopt(number, open, as: renamed)
        }
        notify([
            .entry(parent: NodeNumber(file.type), name: file.name),
            .content(NodeNumber(file.type)),
        ])
    }

    /// Gives the field's file another ending, on all machines. A local file with the new name is
    /// removed, as on any file system.
    func renameEnding(_ id: AssetID, to file: FieldFile) throws(RecordError) {
        guard let entry = try store.asset(id), let hash = entry.hash,
            try store.record(entry.record)?.state != .waitingDelete
        else {
            throw RecordError(.crossDevice, "this file keeps its name; copy it")
        }
        try checkWritable(entry.record, in: file.type)
        let place = file.scratchPlace
        if try scratchPath(place).status()?.isDirectory == true {
            throw RecordError(.isDirectory, "the new name is a directory")
        }
        let (number, open) = state.withLock { state in
            (state.nodes.number(of: .asset(id)), state.assets[id])
        }
        let renamed = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.setAsset(
                entry.record, entry.field, entry.index, hash, size: entry.size,
                fileExtension: file.fileExtension, isInPlace: true)
        }
        if try findScratch(place) != nil { try removeScratch(place, isDirectory: false) }
        let former = ScratchPlace(directory: .type(file.type), name: entry.fileName)
        let end = options.clock.uptime + options.grace
        state.withLock { state in
            state.movedFields.changedEnding(of: renamed?.id ?? id, from: former, until: end)
            if let renamed { state.adopt(number, open, as: renamed) }
        }
        notify([.content(NodeNumber(file.type))])
    }

    /// Handles a new file under a name that a rename to another ending has just left: that rename
    /// was made to keep a backup (`NAME_original`, `NAME.1`). The backup becomes a local file, and
    /// the field keeps its name for the new file. Returns false when there was no such rename.
    @discardableResult
    func takeBackEnding(
        _ name: [UInt8], in directory: Node, for source: Node? = nil
    ) throws(RecordError) -> Bool {
        guard case .type(let type) = directory, case .asset = plainMeaning(of: name, in: directory)
        else { return false }
        let place = ScratchPlace(directory: .type(type), name: name)
        let time = options.clock.uptime
        guard let id = state.withLock({ $0.movedFields.takeEnding(place, at: time) }),
            source != .asset(id), let entry = try store.asset(id),
            let record = try store.record(entry.record), isShown(entry, of: record)
        else { return false }
        try setAside(id, as: ScratchPlace(directory: .type(type), name: entry.fileName))
        return true
    }
}

private struct NewContent {
    let hash: ContentHash
    let size: Int64
    let modified: Timestamp
}

extension Tree.State {
    /// Notes that the kernel has moved a file to the name of this one, with its number and its open
    /// file.
    mutating func adopt(_ number: NodeNumber?, _ open: OpenAsset?, as asset: AssetEntry) {
        if let open { assets.move(open, to: asset.id) }
        guard let number else { return }
        nodes.rebind(number, to: .asset(asset.id))
        detached[number] = nil
    }
}

extension Transaction {
    /// Takes an asset out of its record. Returns true when the record waits for its delete: then
    /// the asset is deleted with the record, and only its name is free.
    fileprivate func takeAway(_ asset: AssetEntry) throws(RecordError) -> Bool {
        guard let record = try record(asset.record) else { return false }
        guard record.state == .waitingDelete else {
            try removeAsset(asset.record, asset.field, asset.index)
            return false
        }
        try beginLeaving(asset)
        return true
    }
}
