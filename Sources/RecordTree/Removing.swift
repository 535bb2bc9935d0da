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
        guard let target = try find(name, in: directory) else {
            throw RecordError(.notFound, "no such file")
        }
        switch target {
        case .record(let id): try removeRecord(id)
        case .asset(let id): try removeAsset(id)
        case .scratch:
            // The file may have other names: the one that was given goes. The host refuses a
            // directory.
            guard case .scratch(let place) = meaning(of: name, in: directory) else { return }
            try removeScratch(place, isDirectory: false)
        case .errorFile:
            throw RecordError(.notPermitted, ".error goes away with a valid save or a discard")
        case .readme: throw RecordError(.notPermitted, "README.md is generated")
        case .root, .database, .owner, .zone, .type, .control:
            throw RecordError(.isDirectory, "a directory")
        }
    }

    private func removeRecord(_ id: RecordID) throws(RecordError) {
        try keepTextForReaders(of: id)
        if try takePending(id) == nil {
            try beginDelete(id)
        }
        state.withLock { $0.detach(id) }
    }

    /// The record vanishes now and for good after the grace time; a row says so from here on.
    func beginDelete(_ id: RecordID) throws(RecordError) {
        guard let entry = try store.record(id) else { return }
        try checkWritable(entry.type)
        Failpoint.pass(.waitingDeleteBegin)
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.beginDelete(id)
        }
        Failpoint.pass(.waitingDeleteCommitted)
    }

    /// Those who have the file open go on reading it after its name is gone.
    func keepTextForReaders(of id: RecordID) throws(RecordError) {
        if let open = state.withLock({ $0.open[id] }) { try load(open) }
    }

    /// Drops a name that has no row yet. Returns the open record, nil when it has a row.
    func takePending(_ id: RecordID) throws(RecordError) -> OpenRecord? {
        state.withLock { state in
            guard let open = state.open[id] else { return nil }
            let (type, stem) = open.state.withLock { ($0.type, $0.stem) }
            guard state.pending[type]?[stem] == id else { return nil }
            state.removePending(type, stem)
            return open
        }
    }

    private func removeAsset(_ id: AssetID) throws(RecordError) {
        guard let entry = try store.asset(id), let record = try store.record(entry.record) else {
            throw RecordError(.notFound, "no such file")
        }
        try checkWritable(record.type)
        guard record.state != .waitingDelete else {
            // It goes with its record, and comes back with it from the trash.
            return state.withLock { state in
                state.hiddenAssets.insert(id)
                state.detach(entry)
            }
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.removeAsset(entry.record, entry.field, entry.index)
        }
        state.withLock { $0.detach(entry) }
        recordTextChanged(entry.record)
    }

    /// The text of a record was changed by a change of its assets.
    func recordTextChanged(_ id: RecordID) {
        notify(recordPages(id))
    }

    /// The kernel's pages of a record whose text is another now.
    func recordPages(_ id: RecordID) -> [KernelNotice] {
        state.withLock { state in
            state.open[id]?.noteChangedElsewhere()
            return state.nodes.numbersWithPages(of: .record(id)).map(KernelNotice.content)
        }
    }
}

extension Tree.State {
    /// The record has lost its name: its handles see it to their end, nothing is saved, and what
    /// comes under the name gets another number.
    mutating func detach(_ id: RecordID) {
        let number = nodes.number(of: .record(id))
        if let open = forgetOpen(id), let number { detached[number] = .record(open) }
        nodes.retire(.record(id))
    }

    /// Nothing is saved any more of an open record. Gives it when it is open.
    mutating func forgetOpen(_ id: RecordID) -> OpenRecord? {
        guard let open = self.open.removeValue(forKey: id) else { return nil }
        let isOpen = open.state.withLock { state in
            state.isUnlinked = true
            return state.handles > 0
        }
        return isOpen ? open : nil
    }

    /// As of a record. The new content of the name is another file.
    mutating func detach(_ asset: AssetEntry) {
        let number = nodes.number(of: .asset(asset.id))
        if let open = assets.removeValue(forKey: AssetKey(asset)) {
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
