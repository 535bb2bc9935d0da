import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Saves a scratch file that takes a record's name. This is the save of sed, perl, rsync and
    /// every careful editor.
    func saveScratch(
        _ place: ScratchPlace, as stem: Stem, in type: TypeID, _ caller: Requester
    ) throws(RecordError) {
        let files = try movedFiles(of: place, to: stem, in: type)
        let new = WholeText(
            stem: stem, try content(of: place), programs: programs(of: place, caller),
            files: files)
        let saved = try save(new, in: type)
        Failpoint.pass(.renameSaved)
        try adopt(place, as: saved, type: type, stem: stem)
        try storage.remove(try scratchPath(place), isDirectory: false)
        Failpoint.pass(.renameScratchRemoved)
        state.withLock { $0.scratch.remove(place) }
    }

    /// Returns the bytes and the time of a local file that takes the name of a record or a share.
    func content(of place: ScratchPlace) throws(RecordError) -> ([UInt8], Timestamp) {
        try checkIsWhole(place)
        let path = try scratchPath(place)
        guard let status = try storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become a record or a share")
        }
        // The kernel has one node for all names of a file: the other names would become the record
        // too.
        guard status.st_nlink == 1 else {
            throw RecordError(
                .crossDevice, "a file with other names becomes neither a record nor a share")
        }
        guard status.st_size <= options.limits.textBytes else {
            throw .textTooLarge(limit: options.limits.textBytes)
        }
        let bytes = try HostFile(path: path, flags: O_RDONLY).readAll()
        return (bytes, status.st_mtim.timestamp.asStored)
    }

    /// Saves a whole text under a name. A text that cannot be accepted becomes the draft of the
    /// name, and the rename fails with a reason that `mv` prints correctly.
    private func save(_ new: WholeText, in type: TypeID) throws(RecordError) -> SavedText {
        let (stem, text) = (new.stem, new.text)
        let existing = try store.record(type, stem)
        if existing == nil { try checkNewName(stem, in: type) }
        do throws(RecordError) {
            return try store.write(author: .mount) { transaction throws(RecordError) in
                dropUnsaved(type, stem, with: transaction)
                return try save(new, in: type, with: transaction)
            }
        } catch  where error.isAboutContent {
            let pending = state.withLock { $0.pending[type]?[stem] }
            _ = try store.write(author: .mount) { transaction throws(RecordError) in
                dropUnsaved(type, stem, with: transaction)
                return try transaction.saveDraft(
                    text: text, type: type, stem: stem, error: error, effect: .rewritten)
            }
            if let pending {
                state.withLock { $0.removePending(type, stem) }
                nameReplaced(type, stem, pending)
            }
            deliver([.content(NodeNumber(type))])
            // The kernel may remember that the name does not exist. It forgets that after this
            // call, which holds the lock on the directory that the kernel needs for it.
            if existing == nil, pending == nil {
                notify([.entry(parent: NodeNumber(type), name: stem.fileName)])
            }
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// Throws an error that `mv` prints correctly when no record can have that file.
    func checkNewName(_ stem: Stem, in type: TypeID) throws(RecordError) {
        guard stem.decoded != nil else { throw .invalidStem(stem) }
        do throws(RecordError) {
            try checkNameable(stem, in: type)
        } catch  where error.isAboutName {
            throw RecordError(.refusedRename, error.message)
        }
    }

    /// Notes that the kernel's dentry of the record holds the scratch file's node now. Handles of
    /// the scratch file become handles of the record.
    private func adopt(
        _ place: ScratchPlace, as saved: SavedText, type: TypeID, stem: Stem
    ) throws(RecordError) {
        let file = saved.file
        let scratch = state.withLock { state in state.scratch.id(at: place) }
        let handles = handles(on: { $0.isScratch(scratch) })
        state.withLock { state in
            state.removePending(type, stem)
            if let number = state.nodes.number(of: .scratch(scratch)) {
                state.nodes.rebind(number, to: .record(file))
            }
        }
        for handle in handles {
            let open = try openRecord(file, writes: handle.canWrite)
            open.load(saved.text)
            handle.backing.withLock { $0 = .record(open) }
        }
        tellOfMerge(saved)
    }

    /// Moves a record's file to a scratch name (the backup of vim and emacs): its bytes stay there,
    /// and the record waits for its name to return.
    func setAside(_ file: RecordFile, as target: ScratchPlace) throws(RecordError) {
        let assets = try leavingFilesGone(of: file)
        let (text, modified) = try shownText(of: file)
        let path = try newScratchPath(target)
        if try storage.status(path)?.isDirectory == true {
            throw RecordError(.isDirectory, "the new name is a directory")
        }
        try holdScratch(target)
        try storage.place(text, at: path, modified: modified)
        Failpoint.pass(.backupWritten)
        if !takePending(file) {
            try beginDelete { transaction throws(RecordError) in
                guard let entry = try transaction.record(file.record) else { return nil }
                try transaction.beginDelete(entry.id)
                return entry
            }
        }
        let end = options.clock.uptime + options.grace
        let scratch = state.withLock { state in
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            state.movedFields.setAside(file.record, assets, as: scratch, until: end)
            if let number = state.nodes.number(of: .record(file)) {
                state.nodes.rebind(number, to: .scratch(scratch))
            }
            return scratch
        }
        try becomeScratch(file, scratch, path)
    }

    /// Turns handles of the record's file into handles of the scratch file, which has the same
    /// bytes.
    private func becomeScratch(_ file: RecordFile, _ scratch: ScratchID, _ path: HostName)
        throws(RecordError)
    {
        guard let open = state.withLock({ $0.open.removeValue(forKey: file) }) else { return }
        open.unlink()
        try handles(on: { $0.isRecord(open) }, become: scratch, at: path)
    }

    /// Returns the text that the record's file shows, with its time.
    private func shownText(of file: RecordFile) throws(RecordError) -> ([UInt8], Timestamp) {
        if let open = state.withLock({ $0.open[file] }) {
            try load(open)
            return open.state.withLock { ($0.text ?? [], $0.modified) }
        }
        guard let entry = try store.record(file.record),
            let shown = try store.shownText(of: file.record)
        else { throw RecordError(.stale, "the record is gone") }
        return (shown.text, entry.modified)
    }

    /// Renames a record to another record's name, or to a new one. On the wire this is a new record
    /// name: the old record waits for its delete, and its fields and assets continue under the new
    /// name.
    func renameRecord(_ file: RecordFile, _ type: TypeID, _ stem: Stem, to newStem: Stem)
        throws(RecordError)
    {
        try checkWritable(file.record, in: type)
        try checkWritable(newStem, in: type)
        try saveBeforeRename(file)
        let target = try store.record(type, newStem)
        if target == nil { try checkNewName(newStem, in: type) }
        // The name in the store: a first save may have just made the row.
        guard let source = try findRecord(type, stem) else {
            throw .noSuchFile
        }
        let coming = try store.files(try shownFiles(of: source.record), of: source.record)
        // A record that is renamed back has no other files than those that moved with it.
        let former = try target.flatMap { (target) throws(RecordError) in
            try store.renamed(target.id)
        }
        var files =
            try former == source.record
            ? MovedFiles(following: [])
            : movedFiles(coming, of: source.record, to: newStem, in: type)
        // The store's rename moves these files itself.
        files.carried = []
        let (entry, isSame) = try store.write(author: .mount) { transaction throws(RecordError) in
            dropUnsaved(type, newStem, with: transaction)
            let before = try transaction.text(of: source.record)
            let entry = try transaction.rename(
                source.record, toType: type, stem: newStem, files: files)
            return (entry, try transaction.text(of: entry.id) == before)
        }
        state.withLock { state in
            state.removePending(type, newStem)
            state.move(source, to: entry.file, type, newStem, isSame: isSame)
        }
        // The assets have other names now. Therefore the text differs from the one that the kernel
        // moves.
        if !isSame { nameReplaced(type, newStem, source) }
        if entry.hasAssets { notify([.content(NodeNumber(type))]) }
    }

    private func saveBeforeRename(_ file: RecordFile) throws(RecordError) {
        guard let open = state.withLock({ $0.open[file] }), open.snapshot() != nil else { return }
        do throws(RecordError) {
            try save(open, isLast: true)
        } catch  where error.isAboutContent {
            // A draft is renamed as a draft.
        }
    }

    /// Moves a record to a name in another type or zone of its database, in one transaction. For
    /// any other move the moving program copies the record and deletes the original.
    func moveRecord(
        _ file: RecordFile, _ type: TypeID, _ stem: Stem, to newType: TypeID, _ newStem: Stem
    ) throws(RecordError) {
        // Checked first: a program that moves by copying would have the copy, and could not delete
        // this record.
        try checkWritable(file.record, in: type)
        let (from, target) = (try place(of: type).zone, try place(of: newType))
        guard from.database == target.zone.database, from.owner == target.zone.owner else {
            throw Self.otherDirectory
        }
        try checkWritable(newStem, in: newType)
        try saveBeforeRename(file)
        if try store.record(newType, newStem) == nil { try checkNewName(newStem, in: newType) }
        guard let source = try findRecord(type, stem), try store.record(source.record) != nil else {
            throw Self.otherDirectory
        }
        let (entry, isSame) = try store.write(author: .mount) { transaction throws(RecordError) in
            dropUnsaved(newType, newStem, with: transaction)
            let before = try transaction.text(of: source.record)
            let entry = try transaction.moveRecord(source.record, to: newType, stem: newStem)
            return (entry, try transaction.text(of: entry.id) == before)
        }
        state.withLock { state in
            state.removePending(newType, newStem)
            state.move(source, to: entry.file, newType, newStem, isSame: isSame)
            state.open[isSame ? entry.file : source]?.state.withLock { $0.home = target }
        }
        if !isSame { nameReplaced(newType, newStem, source) }
        if entry.hasAssets {
            notify([.content(NodeNumber(type)), .content(NodeNumber(newType))])
        }
    }

    /// Exchanges a scratch file and a record: the record gets the file's text, and the file gets
    /// the record's text.
    func exchange(
        _ place: ScratchPlace, with stem: Stem, in type: TypeID, _ caller: Requester
    ) throws(RecordError) {
        guard let file = try findRecord(type, stem) else {
            throw .noSuchFile
        }
        let (old, oldModified) = try shownText(of: file)
        let text = WholeText(
            stem: stem, try content(of: place), programs: programs(of: place, caller))
        guard let saved = try saveExchanged([text], in: type).first else { return }
        let new = saved.file
        let path = try scratchPath(place)
        try storage.place(old, at: path, modified: oldModified)
        let scratch = state.withLock { state in
            state.removePending(type, stem)
            state.scratch.replaceHostFile(at: place)
            let scratch = state.scratch.id(at: place)
            state.nodes.exchange(.record(file), .scratch(scratch), as: .record(new))
            return scratch
        }
        try becomeScratch(file, scratch, path)
        tellOfMerge(saved)
    }

    /// Saves the records of an exchange, all or none. A refused text stays in its place, so that no
    /// draft is needed.
    private func saveExchanged(
        _ records: [WholeText], in type: TypeID
    ) throws(RecordError) -> [SavedText] {
        do throws(RecordError) {
            return try store.write(author: .mount) { transaction throws(RecordError) in
                var saved: [SavedText] = []
                for record in records {
                    dropUnsaved(type, record.stem, with: transaction)
                    saved.append(try save(record, in: type, with: transaction))
                }
                return saved
            }
        } catch  where error.isAboutContent {
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// Exchanges the contents of two records of a type.
    func exchange(_ stem: Stem, with other: Stem, in type: TypeID) throws(RecordError) {
        guard let file = try findRecord(type, stem), let otherFile = try findRecord(type, other)
        else { throw .noSuchFile }
        let assets = (try leavingFilesGone(of: file), try leavingFilesGone(of: otherFile))
        let shown = (try shownText(of: file), try shownText(of: otherFile))
        let files = try saveExchanged(
            [
                WholeText(
                    stem: stem, shown.1, files: MovedFiles(carried: assets.1, following: [])),
                WholeText(
                    stem: other, shown.0, files: MovedFiles(carried: assets.0, following: [])),
            ], in: type
        ).map(\.file)
        guard files.count == 2 else { return }
        let end = options.clock.uptime + options.grace
        state.withLock { state in
            state.movedFields.exchanged(file.record, otherFile.record, until: end)
            state.removePending(type, stem)
            state.removePending(type, other)
            state.move(file, to: files[1], type, other, isSame: true)
            state.move(otherFile, to: files[0], type, stem, isSame: true)
        }
    }
}

extension Tree.State {
    /// Notes that the kernel has moved a file to another name, which the record `new` shows from
    /// now on. Open handles of the file become handles of that record.
    ///
    /// - Parameter isSame: whether the record shows the bytes of the file. Otherwise open handles
    ///   keep the bytes, and a writer's save is merged.
    mutating func move(
        _ file: RecordFile, to new: RecordFile, _ type: TypeID, _ stem: Stem, isSame: Bool
    ) {
        if let open = self.open[file] {
            open.moved(to: isSame ? new : file, type, stem)
            if isSame {
                self.open[file] = nil
                self.open[new] = open
            }
        }
        if isSame, let number = nodes.number(of: .record(file)) {
            nodes.rebind(number, to: .record(new))
        }
    }
}

extension OpenRecord {
    /// Notes that the file has another name, and that its text is saved under it.
    fileprivate func moved(to new: RecordFile, _ type: TypeID, _ stem: Stem) {
        state.withLock { state in
            state.type = type
            state.stem = stem
            state.isInStore = true
            if state.file != new { state.base = nil }
            state.file = new
        }
    }
}
