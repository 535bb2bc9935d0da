import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// A scratch file takes a record's name: the save of sed, perl, rsync and every careful editor.
    func saveScratch(_ place: ScratchPlace, as stem: Stem, in type: TypeID) throws(RecordError) {
        let (text, modified) = try content(of: place)
        let id = try save(text, as: stem, in: type, modified: modified)
        Failpoint.pass(.renameSaved)
        try adopt(place, as: id, type: type, stem: stem, text: text, modified: modified)
        try storage.remove(try scratchPath(place), isDirectory: false)
        Failpoint.pass(.renameScratchRemoved)
        state.withLock { $0.scratch.remove(place) }
    }

    private func content(of place: ScratchPlace) throws(RecordError) -> ([UInt8], Timestamp) {
        let path = try scratchPath(place)
        guard let status = try storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become a record")
        }
        // The kernel has one node for all names of a file: the others would become the record too.
        guard status.st_nlink == 1 else {
            throw RecordError(.crossDevice, "a file with other names does not become a record")
        }
        guard status.st_size <= options.limits.textBytes else {
            throw .textTooLarge(limit: options.limits.textBytes)
        }
        let bytes = try HostFile(path: path, flags: O_RDONLY).readAll()
        return (bytes, status.st_mtim.timestamp)
    }

    /// One save of a whole text under a name. What cannot be accepted becomes the name's draft, and
    /// the rename fails with a reason that `mv` prints right.
    private func save(_ text: [UInt8], as stem: Stem, in type: TypeID, modified: Timestamp)
        throws(RecordError) -> RecordID
    {
        let existing = try store.record(type, stem)
        if existing == nil, stem.decoded == nil { throw .invalidStem(stem) }
        let id = try findRecord(type, stem)
        do throws(RecordError) {
            return try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.save(
                    text: text, type: type, stem: stem, id: id, modified: modified
                ).id
            }
        } catch  where error.isAboutContent {
            let entry = try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.saveDraft(text: text, type: type, stem: stem, id: id, error: error)
            }
            deliver(recordPages(entry.id) + [.content(NodeNumber(type))])
            // The kernel may remember that there is no such name. It takes that back when this call
            // is over, whose lock on the directory it needs for it.
            if id == nil { notify([.entry(parent: NodeNumber(type), name: stem.fileName)]) }
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// The kernel's dentry of the record now holds the scratch file's node, and whoever has the
    /// scratch file open has the record open.
    private func adopt(
        _ place: ScratchPlace, as id: RecordID, type: TypeID, stem: Stem, text: [UInt8],
        modified: Timestamp
    ) throws(RecordError) {
        let scratch = state.withLock { state in state.scratch.id(at: place) }
        let handles = handles(on: { if case .scratch(_, scratch) = $0 { true } else { false } })
        let stale = state.withLock { state in
            state.removePending(type, stem)
            if let open = state.open[id] { open.replace(text, modified: modified) }
            let number = state.nodes.number(of: .scratch(scratch))
            if let number { state.nodes.rebind(number, to: .record(id)) }
            return state.nodes.numbersWithPages(of: .record(id)).filter { $0 != number }
        }
        for handle in handles where handle.canWrite {
            let open = try openRecord(id, writes: true)
            open.load(text)
            handle.backing.withLock { $0 = .record(open) }
        }
        notify(stale.map(KernelNotice.content))
    }

    /// A record's file takes a scratch name (the backup of vim and emacs): its bytes stay there,
    /// and the record waits for its name to come back.
    func setAside(_ id: RecordID, as target: ScratchPlace) throws(RecordError) {
        let open = state.withLock { $0.open[id] }
        let (text, modified) = try shownText(of: id)
        let path = try newScratchPath(target)
        if try storage.status(path)?.isDirectory == true {
            throw RecordError(.isDirectory, "the new name is a directory")
        }
        try holdScratch(target)
        try storage.place(text, at: path, modified: modified)
        Failpoint.pass(.backupWritten)
        if try takePending(id) == nil { try beginDelete(id) }
        let scratch = state.withLock { state in
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            if let number = state.nodes.number(of: .record(id)) {
                state.nodes.rebind(number, to: .scratch(scratch))
            }
            _ = state.forgetOpen(id)
            return scratch
        }
        guard let open else { return }
        let file = try HostFile(path: path, flags: O_RDWR)
        for handle in handles(on: { if case .record(let it) = $0 { it === open } else { false } }) {
            handle.backing.withLock { $0 = .scratch(file, scratch) }
        }
    }

    /// What the record's file shows, with its time.
    private func shownText(of id: RecordID) throws(RecordError) -> ([UInt8], Timestamp) {
        if let open = state.withLock({ $0.open[id] }) {
            try load(open)
            return open.state.withLock { ($0.text ?? [], $0.modified) }
        }
        guard let entry = try store.record(id), let text = try store.text(of: id) else {
            throw RecordError(.stale, "the record is gone")
        }
        return (text, entry.modified)
    }

    /// A record takes another record's name, or a new one: a new record name on the wire, so the
    /// old record waits for its delete and its fields and assets live on under the new name.
    func renameRecord(_ id: RecordID, _ type: TypeID, _ stem: Stem, to newStem: Stem)
        throws(RecordError)
    {
        try checkWritable(type)
        if let open = state.withLock({ $0.open[id] }), open.snapshot() != nil {
            do throws(RecordError) {
                try save(open, isLast: true)
            } catch  where error.isAboutContent {
                // A draft is renamed as what it is.
            }
        }
        if try store.record(type, newStem) == nil, newStem.decoded == nil {
            throw .invalidStem(newStem)
        }
        if let replaced = try findRecord(type, newStem) {
            try keepTextForReaders(of: replaced)
            state.withLock { $0.detach(replaced) }
        }
        let entry = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.rename(id, toType: type, stem: newStem)
        }
        let stale = state.withLock { state in
            if let open = state.open.removeValue(forKey: id) {
                open.state.withLock { open in
                    open.id = entry.id
                    open.stem = newStem
                    if !open.isDirty { open.text = nil }
                }
                state.open[entry.id] = open
            }
            let number = state.nodes.number(of: .record(id))
            if let number { state.nodes.rebind(number, to: .record(entry.id)) }
            return state.nodes.numbersWithPages(of: .record(entry.id))
        }
        notify(stale.map(KernelNotice.content))
        if entry.hasAssets { notify([.content(NodeNumber(type))]) }
    }

    /// A scratch file and a record change places: the record gets the file's text, the file gets
    /// the record's.
    func exchange(_ place: ScratchPlace, with stem: Stem, in type: TypeID) throws(RecordError) {
        guard let id = try findRecord(type, stem) else {
            throw RecordError(.notFound, "no such file")
        }
        let (old, oldModified) = try shownText(of: id)
        let (text, modified) = try content(of: place)
        try saveExchanged([(stem, id, text, modified)], in: type)
        try storage.place(old, at: try scratchPath(place), modified: oldModified)
        state.withLock { state in
            state.scratch.replaceHostFile(at: place)
            state.open[id]?.replace(text, modified: modified)
            state.nodes.exchange(.record(id), .scratch(state.scratch.id(at: place)))
        }
    }

    /// Saves the records of an exchange, all or none. What is refused stays where it is, so that no
    /// draft is needed.
    private func saveExchanged(
        _ records: [(stem: Stem, id: RecordID, text: [UInt8], modified: Timestamp)],
        in type: TypeID
    ) throws(RecordError) {
        do throws(RecordError) {
            try store.write(author: .mount) { transaction throws(RecordError) in
                for record in records {
                    _ = try transaction.save(
                        text: record.text, type: type, stem: record.stem, id: record.id,
                        modified: record.modified)
                }
            }
        } catch  where error.isAboutContent {
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// Two records of a type change their contents.
    func exchange(_ stem: Stem, with other: Stem, in type: TypeID) throws(RecordError) {
        guard let id = try findRecord(type, stem), let otherID = try findRecord(type, other) else {
            throw RecordError(.notFound, "no such file")
        }
        let (text, modified) = try shownText(of: id)
        let (otherText, otherModified) = try shownText(of: otherID)
        try saveExchanged(
            [(stem, id, otherText, otherModified), (other, otherID, text, modified)], in: type)
        state.withLock { state in
            state.removePending(type, stem)
            state.removePending(type, other)
            state.open[id]?.replace(otherText, modified: otherModified)
            state.open[otherID]?.replace(text, modified: modified)
            state.nodes.exchange(.record(id), .record(otherID))
        }
    }
}

extension OpenRecord {
    /// Another file has taken the record's name: its text is what the record's handles see now.
    func replace(_ text: [UInt8], modified: Timestamp) {
        state.withLock { state in
            state.text = text
            state.modified = modified
            state.version += 1
            state.savedVersion = state.version
            state.isInStore = true
        }
    }
}
