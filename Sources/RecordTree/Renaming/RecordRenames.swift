import Glibc
import RecordModel
import RecordStore

/// Renames to, from and between the names of records.
final class RecordRenames: Sendable {
    let assets: OpenAssets
    let fields: FieldFiles
    let followingFiles: FollowingFiles
    let handleMoves: HandleMoves
    let handles: OpenHandles
    let kernel: KernelNotifier
    let moves: FieldMoves
    let nodeNotices: NodeNotices
    let nodes: Nodes
    let permissions: OwnPermissions
    let places: TypeDirectories
    let recordFiles: RecordFiles
    let records: OpenRecords
    let saving: RecordSaving
    let scratch: ScratchFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, followingFiles: FollowingFiles, handleMoves: HandleMoves
    ) {
        assets = assetRooms.assets
        fields = assetRooms.fields
        self.followingFiles = followingFiles
        self.handleMoves = handleMoves
        handles = ground.handles
        kernel = ground.kernel
        moves = assetRooms.moves
        nodeNotices = ground.nodeNotices
        nodes = ground.nodes
        permissions = ground.permissions
        places = ground.places
        recordFiles = recordRooms.recordFiles
        records = recordRooms.records
        saving = recordRooms.saving
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Saves a scratch file that takes a record's name. This is the save of sed, perl, rsync and
    /// every careful editor.
    func saveScratch(
        _ place: ScratchPlace, as stem: Stem, in type: TypeID, _ caller: Requester
    ) throws(RecordError) {
        let files = try followingFiles.movedFiles(of: place, to: stem, in: type)
        let new = WholeText(
            stem: stem, try scratch.content(of: place),
            programs: scratch.programs(of: place, caller), by: caller,
            files: files)
        let saved = try save(new, in: type)
        Failpoint.pass(.renameSaved)
        saving.errors.noteSaved(saved.file.record, stem, in: type)
        try adopt(place, as: saved, type: type, stem: stem)
        try scratch.storage.remove(try scratch.path(place), isDirectory: false)
        Failpoint.pass(.renameScratchRemoved)
        scratch.scratchNodes.noteRemoved(place)
    }

    /// Saves a whole text under a name. A text that cannot be accepted becomes the draft of the
    /// name, and the rename fails with a reason that `mv` prints correctly.
    private func save(_ new: WholeText, in type: TypeID) throws(RecordError) -> SavedText {
        let (stem, text) = (new.stem, new.text)
        let existing = try store.record(type, stem)
        if existing == nil { try checkNewName(stem, in: type) }
        do throws(RecordError) {
            return try store.write(author: .mount) { transaction throws(RecordError) in
                saving.dropUnsaved(type, stem, with: transaction)
                return try save(new, in: type, with: transaction)
            }
        } catch  where error.isAboutContent {
            let pending = records.pending(type, stem)
            _ = try store.write(author: .mount) { transaction throws(RecordError) in
                saving.dropUnsaved(type, stem, with: transaction)
                return try transaction.records.saveDraft(
                    text: text, type: type, stem: stem, error: error, effect: .rewritten)
            }
            if let pending {
                records.removePending(type, stem)
                nodeNotices.nameReplaced(type, stem, pending)
            }
            kernel.deliver([.content(NodeNumber(type))])
            // The kernel may remember that the name does not exist. It forgets that after this
            // call, which holds the lock on the directory that the kernel needs for it.
            if existing?.isHidden != false, pending == nil {
                kernel.notify([.entry(parent: NodeNumber(type), name: stem.fileName)])
            }
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// Throws an error that `mv` prints correctly when no record can have that file.
    func checkNewName(_ stem: Stem, in type: TypeID) throws(RecordError) {
        guard stem.decoded != nil else { throw .invalidStem(stem) }
        do throws(RecordError) {
            try recordFiles.checkNameable(stem, in: type)
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
        let id = scratch.scratchNodes.id(at: place)
        let moved = handles.all(on: { $0.isScratch(id) })
        records.removePending(type, stem)
        nodes.rebind(.scratch(id), to: .record(file))
        try becomeRecord(saved, moved)
        tellOfMerge(saved)
    }

    /// Turns handles of a local file into handles of the record that has its text now.
    private func becomeRecord(
        _ saved: SavedText, _ moved: [OpenHandle]
    ) throws(RecordError) {
        for handle in moved {
            let open = try recordFiles.open(saved.file, writes: handle.canWrite)
            open.load(saved.text)
            if !handle.become(.record(open)) { saving.close(open, writes: handle.canWrite) }
        }
    }

    /// Moves a record's file to a scratch name (the backup of vim and emacs): its bytes stay there,
    /// and the record waits for its name to return.
    func setAside(_ file: RecordFile, as target: ScratchPlace) throws(RecordError) {
        let assets = try followingFiles.leavingFilesGone(of: file)
        let (text, modified) = try recordFiles.shownText(of: file)
        let path = try scratch.newPath(target)
        let backup = try StagedFile(in: scratch.storage, text, modified: modified)
        try scratch.replace(target, at: path, with: backup) { () throws(RecordError) in
            Failpoint.pass(.backupWritten)
            if records.takePending(file) { return }
            try saving.beginDelete { transaction throws(RecordError) in
                guard let entry = try transaction.records.record(file.record) else { return nil }
                try transaction.records.beginDelete(entry.id)
                return entry
            }
        }
        let id = scratch.scratchNodes.take(target, from: nodes.number(of: .record(file)))
        moves.noteAside(file.record, assets, as: id)
        try becomeScratch(file, id, path)
    }

    /// Turns handles of the record's file into handles of the scratch file, which has the same
    /// bytes.
    private func becomeScratch(_ file: RecordFile, _ scratch: ScratchID, _ path: HostName)
        throws(RecordError)
    {
        guard let open = records.take(file) else { return }
        open.unlink()
        try handleMoves.move(on: { $0.isRecord(open) }, become: scratch, at: path)
    }

    /// Renames a record to another record's name, or to a new one. On the wire this is a new record
    /// name: the old record waits for its delete, and its fields and assets continue under the new
    /// name.
    func renameRecord(_ file: RecordFile, _ type: TypeID, _ stem: Stem, to newStem: Stem)
        throws(RecordError)
    {
        try permissions.checkWritable(file.record, in: type)
        try permissions.checkWritable(newStem, in: type)
        try saveBeforeRename(file)
        let target = try store.record(type, newStem)
        if target == nil { try checkNewName(newStem, in: type) }
        // The name in the store: a first save may have just made the row.
        guard let source = try records.find(type, stem) else {
            throw .noSuchFile
        }
        let coming = try store.assets.files(
            try self.fields.shownFiles(of: source.record), of: source.record)
        // A record that is renamed back has no other files than those that moved with it.
        let former = try target.flatMap { (target) throws(RecordError) in
            try store.past.renamed(target.id)
        }
        var files =
            try former == source.record
            ? MovedFiles(following: [])
            : followingFiles.movedFiles(coming, of: source.record, to: newStem, in: type)
        // The store's rename moves these files itself.
        files.carried = []
        let (entry, isSame) = try store.write(author: .mount) { transaction throws(RecordError) in
            saving.dropUnsaved(type, newStem, with: transaction)
            let before = try transaction.records.text(of: source.record)
            let entry = try transaction.records.rename(
                source.record, toType: type, stem: newStem, files: files)
            return (entry, try transaction.records.text(of: entry.id) == before)
        }
        records.rename(source, to: entry.file, type, newStem, isSame: isSame)
        // The assets have other names now. Therefore the text differs from the one that the kernel
        // moves.
        saving.errors.forget(newStem, in: type)
        if !isSame { nodeNotices.nameReplaced(type, newStem, source) }
        if entry.hasAssets { kernel.notify([.content(NodeNumber(type))]) }
    }

    private func saveBeforeRename(_ file: RecordFile) throws(RecordError) {
        guard let open = records.open(file), open.snapshot() != nil else { return }
        do throws(RecordError) {
            try saving.save(open, isLast: true)
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
        try permissions.checkWritable(file.record, in: type)
        let (from, target) = (try places.place(of: type).zone, try places.place(of: newType))
        guard from.database == target.zone.database, from.owner == target.zone.owner else {
            throw RecordError.otherDirectory
        }
        try permissions.checkWritable(newStem, in: newType)
        try saveBeforeRename(file)
        if try store.record(newType, newStem) == nil { try checkNewName(newStem, in: newType) }
        guard let source = try records.find(type, stem), try store.record(source.record) != nil
        else {
            throw RecordError.otherDirectory
        }
        let (entry, isSame) = try store.write(author: .mount) { transaction throws(RecordError) in
            saving.dropUnsaved(newType, newStem, with: transaction)
            let before = try transaction.records.text(of: source.record)
            let entry = try transaction.moves.moveRecord(source.record, to: newType, stem: newStem)
            return (entry, try transaction.records.text(of: entry.id) == before)
        }
        records.rename(source, to: entry.file, newType, newStem, isSame: isSame, home: target)
        saving.errors.forget(newStem, in: newType)
        if !isSame { nodeNotices.nameReplaced(newType, newStem, source) }
        if entry.hasAssets {
            kernel.notify([.content(NodeNumber(type)), .content(NodeNumber(newType))])
        }
    }

    /// Exchanges a scratch file and a record: the record gets the file's text, and the file gets
    /// the record's text.
    func swap(
        _ place: ScratchPlace, with stem: Stem, in type: TypeID, _ caller: Requester
    ) throws(RecordError) {
        guard let file = try records.find(type, stem) else {
            throw .noSuchFile
        }
        let (old, oldModified) = try recordFiles.shownText(of: file)
        let text = WholeText(
            stem: stem, try scratch.content(of: place),
            programs: scratch.programs(of: place, caller), by: caller)
        guard let saved = try saveExchanged([text], in: type).first else { return }
        let new = saved.file
        let path = try scratch.path(place)
        try scratch.storage.place(old, at: path, modified: oldModified)
        records.removePending(type, stem)
        let former = scratch.scratchNodes.id(at: place)
        let moved = handles.all(on: { $0.isScratch(former) })
        let id = scratch.scratchNodes.swap(place, with: .record(file), becoming: .record(new))
        try becomeScratch(file, id, path)
        try becomeRecord(saved, moved)
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
                    saving.dropUnsaved(type, record.stem, with: transaction)
                    saved.append(try save(record, in: type, with: transaction))
                }
                return saved
            }
        } catch  where error.isAboutContent {
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
    }

    /// Exchanges the contents of two records of a type.
    func swap(_ stem: Stem, with other: Stem, in type: TypeID) throws(RecordError) {
        guard let file = try records.find(type, stem), let otherFile = try records.find(type, other)
        else { throw .noSuchFile }
        let assets = (
            try followingFiles.leavingFilesGone(of: file),
            try followingFiles.leavingFilesGone(of: otherFile)
        )
        let open = (
            followingFiles.openFiles(of: file.record),
            followingFiles.openFiles(of: otherFile.record)
        )
        let shown = (try recordFiles.shownText(of: file), try recordFiles.shownText(of: otherFile))
        let files = try saveExchanged(
            [
                WholeText(
                    stem: stem, shown.1,
                    ofRecordWith: MovedFiles(carried: assets.1, following: [])),
                WholeText(
                    stem: other, shown.0,
                    ofRecordWith: MovedFiles(carried: assets.0, following: [])),
            ], in: type
        ).map(\.file)
        guard files.count == 2 else { return }
        moves.noteExchange(file.record, otherFile.record)
        records.swap(
            file, stem, otherFile, other, becoming: (files[0], files[1]), in: type)
        followingFiles.follow(open.0, to: files[1].record)
        followingFiles.follow(open.1, to: files[0].record)
    }
}
