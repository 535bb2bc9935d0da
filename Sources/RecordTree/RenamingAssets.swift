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
        if let replaced = try findAsset(type, stem, field, index) {
            state.withLock { $0.detach(replaced) }
        }
        let (entry, opened) = try createAsset(
            type, stem, field, index, fileExtension: fileExtension, flags: O_WRONLY | O_TRUNC)
        defer { release(opened.handle) }
        guard case .asset(let open) = try handle(opened.handle).current else { return }
        let source = try HostFile(path: path, flags: O_RDONLY)
        try open.changing { () throws(RecordError) in
            try workingCopy(of: open).copy(from: source, count: Int64(status.st_size))
        }
        open.state.withLock { state in
            state.version += 1
            state.size = Int64(status.st_size)
            state.modified = status.st_mtim.timestamp
        }
        try save(open, isLast: true)
        try storage.remove(path, isDirectory: false)
        state.withLock { state in
            let scratch = state.scratch.id(at: place)
            if let number = state.nodes.number(of: .scratch(scratch)),
                let node = state.nodes.node(entry.node)
            {
                state.nodes.rebind(number, to: node)
            }
            state.scratch.remove(place)
        }
    }

    /// An asset takes a scratch name: the bytes go there, the field leaves the record.
    func setAside(_ id: AssetID, in type: TypeID, as target: ScratchPlace) throws(RecordError) {
        guard let entry = try store.asset(id) else { throw RecordError(.notFound, "no such file") }
        guard let content = try storedContent(of: entry) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        let path = try newScratchPath(target)
        try holdScratch(target)
        try storage.place(try content.readAll(), at: path, modified: entry.modified)
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.removeAsset(entry.record, entry.field, entry.index)
        }
        state.withLock { state in
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            if let number = state.nodes.number(of: .asset(id)) {
                state.nodes.rebind(number, to: .scratch(scratch))
            }
            state.assets[AssetKey(entry)]?.unlink()
            state.assets[AssetKey(entry)] = nil
        }
    }

    /// An asset becomes another field, or a field of another record of the type.
    func renameAsset(
        _ id: AssetID, _ type: TypeID, to stem: Stem, _ field: FieldName, _ index: Int?,
        _ fileExtension: [UInt8]
    ) throws(RecordError) {
        try checkWritable(type)
        guard let entry = try store.asset(id), let hash = entry.hash else {
            throw RecordError(.crossDevice, "an asset without bytes is not renamed")
        }
        guard let target = try store.record(type, stem), target.state != .waitingDelete else {
            throw RecordError(.crossDevice, "the record \(stem) is not there; copy the asset")
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.setAsset(
                target.id, field, index, hash, size: entry.size,
                fileExtension: fileExtension)
            try transaction.removeAsset(entry.record, entry.field, entry.index)
        }
        state.withLock { $0.nodes.retire(.asset(id)) }
        let name = stem.bytes + Array("@".utf8) + field.bytes
        notify([.entry(parent: NodeNumber(type), name: name), .content(NodeNumber(type))])
    }
}
