import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// A scratch file takes an asset's name.
    func saveScratch(
        _ place: ScratchPlace, asAsset field: FieldName, _ index: Int?, _ fileExtension: [UInt8],
        of stem: Stem, in type: TypeID
    ) throws(RecordError) {
        let path = try scratchPath(place)
        guard let status = try storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become an asset")
        }
        guard status.st_nlink == 1 else {
            throw RecordError(.crossDevice, "a file with other names does not become an asset")
        }
        let replaced = try findAsset(type, stem, field, index).flatMap { asset in
            state.withLock { $0.assets[asset.id] }
        }
        let source = try path.open(O_RDONLY)
        let (hash, size) = try store.importAsset(descriptor: source.descriptor)
        let modified = status.st_mtim.timestamp.asStored
        let entry = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> AssetEntry? in
            let record = try transaction.holder(type, stem)
            let entry = try transaction.setAsset(
                record, field, index, hash, size: size, fileExtension: fileExtension)
            if let entry { try transaction.setModified(entry.id, modified) }
            return entry
        }
        if let replaced { lose(replaced) }
        try storage.remove(path, isDirectory: false)
        state.withLock { state in
            let scratch = state.scratch.id(at: place)
            if let entry, let number = state.nodes.number(of: .scratch(scratch)) {
                state.nodes.rebind(number, to: .asset(entry.id))
            }
            state.scratch.remove(place)
        }
    }

    /// The file has lost its name to another one. With the same bytes that one has the same row,
    /// and is not this one all the same: what is written here would not be saved.
    private func lose(_ open: OpenAsset) {
        open.unlink()
        state.withLock { state in
            if state.assets[open.id] === open { state.assets[open.id] = nil }
        }
    }

    /// An asset takes a scratch name: the bytes go there, the field leaves the record.
    func setAside(_ id: AssetID, in type: TypeID, as target: ScratchPlace) throws(RecordError) {
        guard let entry = try store.asset(id) else { throw .noSuchFile }
        guard let content = try storedContent(of: entry) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        let path = try newScratchPath(target)
        try holdScratch(target)
        try storage.place(copyOf: content, at: path, modified: entry.modified)
        let (number, open) = state.withLock { state in
            (state.nodes.number(of: .asset(id)), state.assets[id])
        }
        let goesWithRecord = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.takeAway(entry)
        }
        open?.unlink()
        state.withLock { state in
            if goesWithRecord { state.hiddenAssets.insert(id) }
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            state.detach(entry)
            if let number { state.nodes.rebind(number, to: .scratch(scratch)) }
        }
    }

    /// An asset becomes another field, or a field of another record of the type.
    func renameAsset(
        _ id: AssetID, _ type: TypeID, to stem: Stem, _ field: FieldName, _ index: Int?,
        _ fileExtension: [UInt8]
    ) throws(RecordError) {
        guard let entry = try store.asset(id), let hash = entry.hash else {
            throw RecordError(.crossDevice, "an asset without bytes is not renamed")
        }
        try checkWritable(entry.record, in: type)
        try checkWritable(stem, in: type)
        guard let target = try store.record(type, stem), target.state != .waitingDelete else {
            throw RecordError(.crossDevice, "the record \(stem) is not there; copy the asset")
        }
        let (number, open) = state.withLock { state in
            (state.nodes.number(of: .asset(id)), state.assets[id])
        }
        let (renamed, goesWithRecord) = try store.write(author: .mount) {
            transaction throws(RecordError) in
            let renamed = try transaction.setAsset(
                target.id, field, index, hash, size: entry.size,
                fileExtension: fileExtension)
            return (renamed, try transaction.takeAway(entry))
        }
        state.withLock { state in
            if goesWithRecord { state.hiddenAssets.insert(id) }
            // The kernel's dentry of the new name has the node of the old one.
            guard let renamed, let number else { return }
            state.nodes.rebind(number, to: .asset(renamed.id))
            if let open { state.assets.move(open, to: renamed.id) }
            state.detached[number] = nil
        }
        let name = stem.bytes + Array("@".utf8) + field.bytes
        notify([.entry(parent: NodeNumber(type), name: name), .content(NodeNumber(type))])
    }
}

extension Transaction {
    /// Takes an asset out of its record. True when the record waits for its deletion: then the asset
    /// goes with it, and only its name is free.
    fileprivate func takeAway(_ asset: AssetEntry) throws(RecordError) -> Bool {
        let isWaiting = try record(asset.record)?.state == .waitingDelete
        try removeAsset(asset.record, asset.field, asset.index)
        return isWaiting
    }
}
