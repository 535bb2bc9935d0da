import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Gives the working copy to the store and to the record, in one transaction.
    func save(_ open: OpenAsset, isLast: Bool) throws(RecordError) {
        do throws(RecordError) {
            try open.changing { () throws(RecordError) in
                try saveWorkingCopy(of: open, isLast: isLast)
            }
        } catch {
            // Many programs ignore what close answers.
            noteFailure(.unsaved, "\(open.stem)@\(open.place.field)", in: open.type, error)
            throw error
        }
        forgetFailure(of: "\(open.stem)@\(open.place.field)", in: open.type)
    }

    /// Gives up what the file could not take, with the rest of it: its last content stands.
    /// - Returns: whether there was anything of the kind.
    func dropIncomplete(_ open: OpenAsset) -> Bool {
        guard open.state.withLock({ $0.failure != nil }) else { return false }
        var (entry, content): (AssetEntry?, HostFile?) = (nil, nil)
        do throws(RecordError) {
            entry = try store.asset(open.id)
            if let entry { content = try storedContent(of: entry) }
        } catch {
            options.report(
                "The content of \(open.stem)@\(open.place.field) cannot be read: \(error)")
        }
        guard open.dropIncomplete(entry, content) else { return false }
        var notices: [KernelNotice] = [.content(NodeNumber(open.type))]
        if let number = state.withLock({ $0.nodes.number(of: .asset(open.id)) }) {
            notices.append(.content(number))
            if let entry, entry.hash == nil, entry.kind == .file {
                notices.append(.entry(parent: NodeNumber(open.type), name: entry.fileName))
            }
        }
        notify(notices)
        return true
    }

    private func saveWorkingCopy(of open: OpenAsset, isLast: Bool) throws(RecordError) {
        try open.checkIsWhole()
        let (version, size, modified, changed) = open.state.withLock { state in
            let isSaveable = state.isDirty && !state.isUnlinked && (isLast || state.size > 0)
            return (
                isSaveable ? state.version : nil, state.size, state.modified, state.changed
            )
        }
        guard let version, let hash = try handOver(open) else { return }
        let saved = try store.write(author: .mount) {
            (transaction) throws(RecordError) -> (
                hasName: Bool, entry: AssetEntry?, version: Int64?
            ) in
            transaction.date(changes: changed)
            guard let (place, fileExtension) = try self.place(of: open, in: transaction) else {
                return (false, nil, nil)
            }
            let entry = try transaction.setAsset(
                place.record, place.field, place.index, hash, size: size,
                fileExtension: fileExtension, isInPlace: true)
            // Of the last write, or set since: `cp -p` and `rsync` set it before they close.
            if let entry { try transaction.setModified(entry.id, modified) }
            let (programs, begun) = open.state.withLock { ($0.programs, $0.readVersion) }
            let saved = try noteSaved(place, by: programs, since: begun, with: transaction)
            return (true, entry, saved)
        }
        state.withLock { state in
            state.assetWrites += 1
            open.state.withLock { open in
                open.savedVersion = version
                open.imported = nil
                open.readVersion = saved.version
                if let entry = saved.entry { open.home = AssetHome(entry) }
                if !saved.hasName { open.isUnlinked = true }
            }
            if let entry = saved.entry { state.assets.move(open, to: entry.id) }
        }
    }

    /// The working copy becomes a file of the store, and what readers see. Nothing is copied, for
    /// nobody writes to it any more: the next write makes another working copy.
    private func handOver(_ open: OpenAsset) throws(RecordError) -> ContentHash? {
        let (path, imported) = open.state.withLock { ($0.workingCopy, $0.imported) }
        guard let path else { return imported }
        let (hash, _) = try store.adoptAsset(file: String(decoding: path, as: UTF8.self))
        let stored = try HostFile(path: Array(store.assetPath(hash).utf8), flags: O_RDONLY)
        open.state.withLock { state in
            state.file = stored
            state.workingCopy = nil
            state.imported = hash
        }
        return hash
    }

    /// Where the bytes of an open asset belong now, and the ending of its name; nil when its file has lost its name.
    ///
    /// An element that was taken out of its list is gone, whatever is at its place. Elsewhere the
    /// one who writes last wins: who replaced the file meanwhile finds his bytes in history. When the
    /// record was removed and the file was not, the file waits for the next record of the name.
    private func place(of open: OpenAsset, in transaction: Transaction) throws(RecordError)
        -> (AssetKey, fileExtension: [UInt8])?
    {
        if let row = try transaction.asset(open.id) { return (AssetKey(row), row.fileExtension) }
        let home = open.home
        let place = home.place
        guard place.index == nil || !home.hasBytes else { return nil }
        if try transaction.record(place.record) != nil { return (place, home.fileExtension) }
        let holder = AssetKey(
            record: try transaction.holder(home.type, home.stem), field: place.field,
            index: place.index)
        return (holder, home.fileExtension)
    }
}

extension [AssetID: OpenAsset] {
    /// The open file's bytes are those of another row now.
    mutating func move(_ open: OpenAsset, to id: AssetID) {
        let old = open.id
        guard old != id, self[id] == nil else { return }
        if self[old] === open { self[old] = nil }
        open.state.withLock { $0.id = id }
        self[id] = open
    }
}
