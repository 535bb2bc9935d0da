import Glibc
import RecordModel
import RecordStore

/// RENAME_EXCHANGE of large fields: the names stay, and the files exchange their bytes.
extension AssetRenames {
    func swap(_ file: FieldFile, with other: FieldFile) throws(RecordError) {
        guard let entry = file.entry, let otherEntry = other.entry else { throw .noSuchFile }
        guard let hash = entry.hash, let otherHash = otherEntry.hash else {
            throw RecordError(.crossDevice, "a long value is not exchanged with a file")
        }
        try permissions.checkWritable(entry.record, in: file.type)
        try permissions.checkWritable(otherEntry.record, in: other.type)
        let isDone = moves.wereExchanged(entry, otherEntry)
        let held = [assets.held(entry.id), assets.held(otherEntry.id)]
        let (first, second) = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> (AssetEntry?, AssetEntry?) in
            for asset in [entry, otherEntry] { try transaction.assets.stopFollowing(asset) }
            if isDone { return (entry, otherEntry) }
            return try transaction.swap(entry, otherEntry, hash, otherHash)
        }
        for asset in [entry, otherEntry] {
            moves.noteMoved(asset)
            moves.noteFilled(asset)
        }
        let moved = held.map { (number: $0.number, open: isDone ? nil : $0.open) }
        assets.exchange(moved[0], as: second, moved[1], as: first)
        if isDone { kernel.deliver(held.compactMap { $0.number.map { .content($0) } }) }
        kernel.notify([.content(NodeNumber(file.type))])
    }

    /// Exchanges a local file and a field's file.
    func swap(
        _ place: ScratchPlace, with file: FieldFile, _ caller: Requester
    ) throws(RecordError) {
        guard let entry = file.entry else { throw .noSuchFile }
        let path = try scratch.path(place)
        let held = assets.held(entry.id)
        guard let content = try handleMoves.shownContent(of: entry, held.open) else {
            throw RecordError(.unavailable, "the asset is not on this machine yet: read it first")
        }
        try saveScratch(place, as: file, caller)
        try scratch.storage.place(copyOf: content.file, at: path, modified: content.modified)
        let id = scratch.scratchNodes.bind(place, to: held.number)
        assets.attach(held.number)
        if let open = held.open {
            try handleMoves.move(on: { $0.isAsset(open) }, become: id, at: path)
        }
    }
}

extension Transaction {
    fileprivate func swap(
        _ asset: AssetEntry, _ other: AssetEntry, _ hash: ContentHash, _ otherHash: ContentHash
    ) throws(RecordError) -> (AssetEntry?, AssetEntry?) {
        let first = try assets.setAsset(
            asset.record, asset.field, asset.index, otherHash, size: other.size,
            fileExtension: asset.fileExtension)
        let second = try assets.setAsset(
            other.record, other.field, other.index, hash, size: asset.size,
            fileExtension: other.fileExtension)
        if let first { try records.setModified(first.id, other.modified) }
        if let second { try records.setModified(second.id, asset.modified) }
        return (first, second)
    }
}
