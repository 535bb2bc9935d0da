import Glibc
import RecordModel
import RecordStore

/// Saves working copies of large fields.
final class AssetSaving: Sendable {
    let assetContent: AssetContent
    let assets: OpenAssets
    let errors: ErrorReports
    let kernel: KernelNotifier
    let nodes: Nodes
    let options: TreeOptions
    let readers: FieldReaders
    let store: RecordStore

    init(_ ground: Ground, assetContent: AssetContent, assets: OpenAssets, readers: FieldReaders) {
        self.assetContent = assetContent
        self.assets = assets
        errors = ground.errors
        kernel = ground.kernel
        nodes = ground.nodes
        options = ground.options
        self.readers = readers
        store = ground.store
    }

    /// Moves the working copy into the store and into the record, in one transaction.
    func save(_ open: OpenAsset, isLast: Bool) throws(RecordError) {
        do throws(RecordError) {
            try open.changing { () throws(RecordError) in
                try saveWorkingCopy(of: open, isLast: isLast)
            }
        } catch {
            // Many programs ignore the result of close.
            errors.note(.unsaved, "\(open.stem)@\(open.place.field)", in: open.type, error)
            throw error
        }
        errors.forget(of: "\(open.stem)@\(open.place.field)", in: open.type)
    }

    /// Discards an incomplete working copy: the asset keeps its last saved content.
    /// - Returns: whether there was an incomplete working copy.
    func dropIncomplete(_ open: OpenAsset) -> Bool {
        guard open.isIncomplete else { return false }
        var (entry, content): (AssetEntry?, HostFile?) = (nil, nil)
        do throws(RecordError) {
            entry = try store.assets.asset(open.id)
            if let entry { content = try assetContent.storedContent(of: entry) }
        } catch {
            options.report(
                "The content of \(open.stem)@\(open.place.field) cannot be read: \(error)")
        }
        guard open.dropIncomplete(entry, content) else { return false }
        var notices: [KernelNotice] = [.content(NodeNumber(open.type))]
        if let number = nodes.number(of: .asset(open.id)) {
            notices.append(.content(number))
            if let entry, entry.hash == nil, entry.kind == .file {
                notices.append(.entry(parent: NodeNumber(open.type), name: entry.fileName))
            }
        }
        kernel.notify(notices)
        return true
    }

    private func saveWorkingCopy(of open: OpenAsset, isLast: Bool) throws(RecordError) {
        try open.checkIsWhole()
        guard let change = open.change(isLast: isLast), let hash = try handOver(open) else {
            return
        }
        let saved = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> (
                hasName: Bool, entry: AssetEntry?, version: Int64?
            ) in
            transaction.date(changes: change.changed)
            guard let (place, fileExtension) = try self.place(of: open, in: transaction) else {
                return (false, nil, nil)
            }
            let entry = try transaction.assets.setAsset(
                place.record, place.field, place.index, hash, size: change.size,
                fileExtension: fileExtension, isInPlace: true)
            // The time of the last write, or a time set since: `cp -p` and `rsync` set it before
            // they close.
            if let entry { try transaction.records.setModified(entry.id, change.modified) }
            let (programs, begun) = open.writing
            let saved = try readers.noteSaved(place, by: programs, since: begun, with: transaction)
            return (true, entry, saved)
        }
        assets.noteSaved(
            open, version: change.version, hasName: saved.hasName, entry: saved.entry,
            readVersion: saved.version)
    }

    /// Turns the working copy into a file of the store, which readers then see. Nothing is copied,
    /// because nobody writes to it any more: the next write makes another working copy.
    private func handOver(_ open: OpenAsset) throws(RecordError) -> ContentHash? {
        let (path, imported) = open.unsaved
        guard let path else { return imported }
        let (hash, _) = try store.assets.adoptAsset(file: String(decoding: path, as: UTF8.self))
        let stored = try HostFile(path: Array(store.assets.assetPath(hash).utf8), flags: O_RDONLY)
        open.noteTaken(hash, as: stored)
        return hash
    }

    /// Returns the current place of an open asset's bytes and the ending of its name. Returns nil
    /// when its file has lost its name.
    ///
    /// An element that was removed from its list is lost, even when another element has its place
    /// now. In other fields the last writer wins: a user who has replaced the file in the meantime
    /// finds their bytes in the history. When the record was removed but not the file, the file
    /// waits for the next record of the name.
    private func place(of open: OpenAsset, in transaction: Transaction) throws(RecordError)
        -> (AssetKey, fileExtension: [UInt8])?
    {
        if let row = try transaction.records.asset(open.id) {
            return (AssetKey(row), row.fileExtension)
        }
        let home = open.home
        let place = home.place
        guard place.index == nil || !home.hasBytes else { return nil }
        if try transaction.records.record(place.record) != nil {
            return (place, home.fileExtension)
        }
        let holder = AssetKey(
            record: try transaction.assets.holder(home.type, home.stem), field: place.field,
            index: place.index)
        return (holder, home.fileExtension)
    }
}
