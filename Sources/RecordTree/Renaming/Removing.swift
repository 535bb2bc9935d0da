package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Removes a file (unlink). A record's delete waits for the grace time.
    package func remove(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError) {
        let directory = try node(parent)
        if isOwn(caller), adoptRemoval(directory, name) { return }
        try checkWritable()
        if case .control(let path) = directory { return try removeControl(name, in: path) }
        if case .record(let type, let stem) = plainMeaning(of: name, in: directory) {
            try checkLeave(type, caller)
            return try removeRecord(type, stem)
        }
        guard let target = try find(name, in: directory) else { throw .noSuchFile }
        switch target {
        case .asset(let id):
            if case .type(let type) = directory { try checkLeave(type, caller) }
            try removeAsset(id, caller)
        case .scratch:
            // The file may have other names: only this name is removed. The host refuses a
            // directory.
            guard case .scratch(let place) = try meaning(of: name, in: directory) else { return }
            guard place.isOfShare else {
                return try removeScratch(place, isDirectory: false)
            }
            try dropShareDraft(place)
            if let file = try findShare(place) { noteFailedLeave(file, caller) }
        case .share(let file): try removeShare(file, caller)
        case .errorFile(let type): try acknowledgeErrors(in: type)
        case .readme: throw RecordError(.notPermitted, "README.md is generated")
        case .root, .database, .owner, .zone, .type, .record, .control:
            throw RecordError(.isDirectory, "a directory")
        }
    }

    /// Removes a record. The transaction looks the name up, so that no query is needed before it.
    private func removeRecord(_ type: TypeID, _ stem: Stem) throws(RecordError) {
        let pending = state.withLock { $0.pending[type]?[stem] }
        if let pending, takePending(pending) { return unlinked(pending) }
        let file = try beginDelete { transaction throws(RecordError) in
            try transaction.beginDelete(stem, in: type)
        }
        guard let file else { throw .noSuchFile }
        unlinked(file)
    }

    private func unlinked(_ file: RecordFile) {
        state.withLock { $0.open[file] }?.unlink()
    }

    /// Makes the record disappear now, and for good after the grace time. From here on a row says
    /// so.
    ///
    /// - Parameter begin: returns the state of the record before, or nil when it no longer exists.
    /// - Returns: the record's file, which no longer has a name.
    @discardableResult
    func beginDelete(
        _ begin: (Transaction) throws(RecordError) -> RecordEntry?
    ) throws(RecordError) -> RecordFile? {
        try checkWritable()
        Failpoint.pass(.waitingDeleteBegin)
        let file = try store.write(author: .mount, isFreeing: true) {
            transaction throws(RecordError) -> RecordFile? in
            guard let entry = try begin(transaction) else { return nil }
            dropUnsaved(entry.type, entry.stem, with: transaction)
            return entry.file
        }
        Failpoint.pass(.waitingDeleteCommitted)
        return file
    }

    /// Removes a name that waits for its first save. Returns false for any other name.
    func takePending(_ file: RecordFile) -> Bool {
        state.withLock { state in
            guard let open = state.open[file] else { return false }
            let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
            guard state.pending[type]?[stem] == file else { return false }
            state.removePending(type, stem)
            return true
        }
    }

    private func removeAsset(_ id: AssetID, _ caller: Requester) throws(RecordError) {
        guard let entry = try store.asset(id), let record = try store.record(entry.record) else {
            throw .noSuchFile
        }
        try checkWritable(record.id, in: record.type)
        state.withLock { $0.movedFields.moved(entry) }
        guard record.state != .waitingDelete else {
            try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
                try transaction.stopFollowing(entry)
            }
            // The asset is deleted with its record, and is restored with it from the trash.
            return state.withLock { state in
                state.hiddenAssets.insert(id)
                state.detach(entry)
            }
        }
        let open = state.withLock { $0.assets[id] }
        if let heir = try heir(of: entry, removedBy: caller) {
            do throws(RecordError) {
                try inherit(heir, from: entry, caller)
                open?.unlink()
                return state.withLock { $0.detach(entry) }
            } catch {
                // A value that cannot have these bytes is removed, and the file stays a local file.
            }
        }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.stopFollowing(entry)
            try transaction.removeAsset(entry.record, entry.field, entry.index)
        }
        open?.unlink()
        state.withLock { $0.detach(entry) }
    }
}

extension Tree {
    /// Gives the field to a local file. If another file takes the field's former name in time, then
    /// the former file was removed to be written again, and that file gets the field.
    private func inherit(
        _ heir: FieldFile, from former: AssetEntry, _ caller: Requester
    ) throws(RecordError) {
        try saveScratch(heir.scratchPlace, as: heir, caller)
        guard let entry = try store.asset(former.record, former.field, former.index) else { return }
        let place = ScratchPlace(directory: .type(former.type), name: former.fileName)
        let end = options.clock.uptime + options.grace
        state.withLock { $0.movedFields.changedEnding(of: entry.id, from: place, until: end) }
    }
}

extension Tree.State {
    /// Takes the name from an asset: its handles see it to their end, nothing is saved, and the
    /// next file with the name gets another number.
    mutating func detach(_ asset: AssetEntry) {
        let number = nodes.number(of: .asset(asset.id))
        if let open = assets.removeValue(forKey: asset.id) {
            open.unlink()
            if let number { detached[number] = .asset(open) }
        }
        nodes.retire(.asset(asset.id))
    }

    mutating func forgetDetached(_ matches: (OpenHandle.Backing) -> Bool) {
        guard !detached.isEmpty else { return }
        detached = detached.filter { !matches($0.value) }
    }
}
