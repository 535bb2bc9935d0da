import Glibc
import RecordModel
import RecordStore
import Synchronization

/// RENAME_EXCHANGE of large fields: the names stay, and the files exchange their bytes.
extension Tree {
    func exchange(_ file: FieldFile, with other: FieldFile) throws(RecordError) {
        guard let entry = file.entry, let otherEntry = other.entry else { throw .noSuchFile }
        guard let hash = entry.hash, let otherHash = otherEntry.hash else {
            throw RecordError(.crossDevice, "a long value is not exchanged with a file")
        }
        try checkWritable(entry.record, in: file.type)
        try checkWritable(otherEntry.record, in: other.type)
        let time = options.clock.uptime
        let isDone = state.withLock {
            $0.movedFields.wereExchanged(entry, otherEntry, at: time)
        }
        let held = heldFiles(entry, otherEntry)
        let (first, second) = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> (AssetEntry?, AssetEntry?) in
            for asset in [entry, otherEntry] { try transaction.stopFollowing(asset) }
            if isDone { return (entry, otherEntry) }
            return try transaction.exchange(entry, otherEntry, hash, otherHash)
        }
        state.withLock { state in
            for asset in [entry, otherEntry] {
                state.movedFields.moved(asset)
                state.movedFields.filled(asset, until: time + options.grace)
            }
            if let second { state.adopt(held[0].number, isDone ? nil : held[0].open, as: second) }
            if let first { state.adopt(held[1].number, isDone ? nil : held[1].open, as: first) }
        }
        if isDone { deliver(held.compactMap { $0.number.map { .content($0) } }) }
        notify([.content(NodeNumber(file.type))])
    }

    private func heldFiles(_ assets: AssetEntry...) -> [(number: NodeNumber?, open: OpenAsset?)] {
        state.withLock { state in
            assets.map { (state.nodes.number(of: .asset($0.id)), state.assets[$0.id]) }
        }
    }

    /// Exchanges a local file and a field's file.
    func exchange(
        _ place: ScratchPlace, with file: FieldFile, _ caller: Requester
    ) throws(RecordError) {
        guard let entry = file.entry else { throw .noSuchFile }
        let path = try scratchPath(place)
        let held = heldFiles(entry)[0]
        guard let content = try shownContent(of: entry, held.open) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        try saveScratch(place, as: file, caller)
        try storage.place(copyOf: content.file, at: path, modified: content.modified)
        let scratch = state.withLock { state in
            let scratch = state.scratch.id(at: place)
            if let number = held.number {
                state.nodes.rebind(number, to: .scratch(scratch))
                state.detached[number] = nil
            }
            return scratch
        }
        if let open = held.open { try handles(on: { $0.isAsset(open) }, become: scratch, at: path) }
    }
}

extension Transaction {
    fileprivate func exchange(
        _ asset: AssetEntry, _ other: AssetEntry, _ hash: ContentHash, _ otherHash: ContentHash
    ) throws(RecordError) -> (AssetEntry?, AssetEntry?) {
        let first = try setAsset(
            asset.record, asset.field, asset.index, otherHash, size: other.size,
            fileExtension: asset.fileExtension)
        let second = try setAsset(
            other.record, other.field, other.index, hash, size: asset.size,
            fileExtension: other.fileExtension)
        if let first { try setModified(first.id, other.modified) }
        if let second { try setModified(second.id, asset.modified) }
        return (first, second)
    }
}
