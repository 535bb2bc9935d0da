import RecordModel
import RecordStore

/// Saves texts of open files as records, or as their drafts.
final class RecordSaving: Sendable {
    let assets: OpenAssets
    let errors: ErrorReports
    let kernel: KernelNotifier
    let nodeNotices: NodeNotices
    let nodes: Nodes
    let options: TreeOptions
    let permissions: OwnPermissions
    let places: TypeDirectories
    let records: OpenRecords
    let store: RecordStore

    init(_ ground: Ground, _ assetRooms: AssetRooms, records: OpenRecords) {
        assets = assetRooms.assets
        errors = ground.errors
        kernel = ground.kernel
        nodeNotices = ground.nodeNotices
        nodes = ground.nodes
        options = ground.options
        permissions = ground.permissions
        places = ground.places
        self.records = records
        store = ground.store
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
        try permissions.checkWritable()
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

    /// Saves the text as the record. A text that cannot be accepted is saved as a draft, and its
    /// reason is thrown.
    ///
    /// An empty text is a save in progress (`bash >` and `touch` flush before they write) and is
    /// not saved until `isLast`. Then it becomes a draft, never a delete.
    ///
    /// - Parameter isRetry: whether the save of this text has failed before. Another unsaved text
    ///   of the same name may then be newer.
    func save(_ open: OpenRecord, isLast: Bool, isRetry: Bool = false) throws(RecordError) {
        guard let first = open.snapshot(), isLast || !first.text.isEmpty else { return }
        try open.checkIsWhole()
        if open.isRevoked {
            try abandon(open, open.home)
        }
        do throws(RecordError) {
            try saveText(open, isRetry: isRetry)
        } catch  where error.isAboutContent || error.isAboutName || error.code == .accessDenied {
            try saveDraft(open, error)
            throw error
        } catch  where error.code == .notFound || error.code == .stale {
            do throws(RecordError) {
                try saveHomeless(open, error)
            } catch {
                if open.snapshot() != nil { records.noteRetryIsDue() }
                throw error
            }
        } catch {
            records.noteRetryIsDue()
            if !isLast {
                options.refused(
                    path(of: open),
                    "\(error) Only the mount has the text so far; it is saved when that can be.")
            }
            throw error
        }
    }

    private func saveText(_ open: OpenRecord, isRetry: Bool) throws(RecordError) {
        // The snapshot is taken inside the transaction. Writers are serialised there, so that of
        // two flushes the later text is saved last.
        let saved: (TextSnapshot, RecordFile, Bool)? = try store.write(author: .mount) {
            transaction throws(RecordError) in
            guard let snapshot = open.snapshot() else { return nil }
            transaction.date(changes: snapshot.changed)
            guard let (file, isMerged) = try save(snapshot, transaction) else {
                return (snapshot, snapshot.file, false)
            }
            if !isRetry {
                dropUnsaved(snapshot.type, snapshot.stem, but: open, with: transaction)
            }
            return (snapshot, file, isMerged)
        }
        guard let (snapshot, file, isMerged) = saved else { return }
        noteSaved(open, snapshot, file)
        records.noteSaved(
            snapshot.text, snapshot.name, in: isMerged ? nil : file,
            isWhole: file == snapshot.file, by: snapshot.programs)
        errors.noteSaved(file.record, snapshot.stem, in: snapshot.type)
    }

    /// Saves the text under its name. Where the name belongs to another file now, the changes of
    /// that file are kept too: then the result says so, if the record has another file by that.
    /// Returns nil when the name no longer exists.
    private func save(_ snapshot: TextSnapshot, _ transaction: Transaction)
        throws(RecordError) -> (file: RecordFile, isMerged: Bool)?
    {
        let current = try currentRecord(of: snapshot, transaction)
        let (base, goneSince) = try earlierText(of: snapshot, current, transaction)
        if let current, let goneSince {
            try transaction.merging.settleDeletions(of: current.id, since: goneSince)
        }
        if let base {
            let file = try transaction.merging.saveMerging(
                text: snapshot.text, since: base, type: snapshot.type, stem: snapshot.stem,
                modified: snapshot.modified, keptFiles: assets.keptFiles
            ).entry.file
            return (file, file != snapshot.file)
        }
        if let current, current.file != snapshot.file {
            // The file was removed while it was open: as on any file system, later writes are lost.
            if current.state == .waitingDelete, snapshot.isInStore { return nil }
            let file = try transaction.merging.saveMerging(
                text: snapshot.text, since: snapshot.base, type: snapshot.type,
                stem: snapshot.stem, modified: snapshot.modified, keptFiles: assets.keptFiles
            ).entry.file
            return (file, file != snapshot.file)
        }
        // A record that was deleted elsewhere while it was edited here is made again as a new one.
        let isNew = current == nil && snapshot.isInStore
        let file = try transaction.records.save(
            text: snapshot.text, type: snapshot.type, stem: snapshot.stem,
            id: isNew ? nil : snapshot.file.record, modified: snapshot.modified, effect: .inPlace,
            keptFiles: assets.keptFiles
        ).entry.file
        return (file, isMerged: false)
    }

    /// Returns the record that has the name of the text now.
    private func currentRecord(of snapshot: TextSnapshot, _ transaction: Transaction)
        throws(RecordError) -> RecordEntry?
    {
        let current = try transaction.records.record(snapshot.type, snapshot.stem)
        guard !snapshot.isInStore, current?.state == .waitingDelete else { return current }
        try transaction.records.freeRenamedName(snapshot.stem, in: snapshot.type)
        return try transaction.records.record(snapshot.type, snapshot.stem)
    }

    /// Returns the text that the saving program read before another machine changed the record.
    /// Also returns the time since which that file is removed, where the program restores it now.
    private func earlierText(
        of snapshot: TextSnapshot, _ current: RecordEntry?, _ transaction: Transaction
    ) throws(RecordError) -> ([UInt8]?, goneSince: Timestamp?) {
        guard let current else { return (nil, nil) }
        if current.state == .waitingDelete, current.file != snapshot.file, snapshot.isInStore {
            return (nil, nil)
        }
        var (known, goneSince) = try records.known(
            snapshot.name, by: snapshot.programs, of: current, with: transaction)
        guard !known.texts.isEmpty else {
            return (snapshot.replacesUnseen ? .beforeArrival : nil, goneSince)
        }
        if current.file != snapshot.file, let base = snapshot.base { known.texts.append(base) }
        let base = try transaction.merging.beginning(
            of: snapshot.text, among: known.texts,
            orCurrent: known.hasRead(current.file), type: snapshot.type,
            stem: snapshot.stem)
        return (base, goneSince)
    }

    private func saveDraft(_ open: OpenRecord, _ reason: RecordError) throws(RecordError) {
        Failpoint.pass(.draftBegin)
        let saved: (TextSnapshot, RecordFile)? = try store.write(author: .mount) {
            transaction throws(RecordError) in
            guard let snapshot = open.snapshot() else { return nil }
            transaction.date(changes: snapshot.changed)
            let current = try currentRecord(of: snapshot, transaction)
            let isInPlace = current?.file == snapshot.file
            // An empty text that was not written yet must not hide the file that has taken its
            // name.
            if snapshot.text.isEmpty, snapshot.isInStore, !isInPlace {
                return (snapshot, snapshot.file)
            }
            let entry = try transaction.records.saveDraft(
                text: snapshot.text, type: snapshot.type, stem: snapshot.stem,
                id: current == nil && snapshot.isInStore ? nil : snapshot.file.record,
                error: reason, effect: isInPlace ? .inPlace : .rewritten)
            return (snapshot, entry.file)
        }
        Failpoint.pass(.draftCommitted)
        if let (snapshot, file) = saved { noteSaved(open, snapshot, file) }
    }

    private func noteSaved(_ open: OpenRecord, _ snapshot: TextSnapshot, _ file: RecordFile) {
        open.noteSaved(snapshot, in: file)
        records.removePending(snapshot.type, snapshot.stem, of: snapshot.file)
        guard file != snapshot.file else { return }
        nodeNotices.nameReplaced(snapshot.type, snapshot.stem, snapshot.file)
    }

    /// Removes a handle. With the last writer an unsaved text is saved or becomes a draft.
    func close(_ open: OpenRecord, writes: Bool) {
        let isLastWriter = writes && open.removeWriter()
        if isLastWriter, open.dropIncomplete() {
            forgetIncomplete(open)
        } else if isLastWriter {
            do throws(RecordError) {
                try save(open, isLast: true)
            } catch  where error.isAboutContent {
                // The draft is in the store with its reason; no caller receives an error of
                // release.
            } catch {
                // The text stays in memory, dirty, and `retryUnsaved` tries again.
                records.noteRetryIsDue()
            }
        }
        if let bytes = records.close(open) { store.upkeep.noteText(bytes: bytes) }
    }

    /// Discards a text with missing bytes: the file shows its last saved value, and a new name that
    /// has none is removed.
    private func forgetIncomplete(_ open: OpenRecord) {
        let opened = open.identity
        let parent = NodeNumber(opened.type)
        if records.takePending(opened.file) {
            open.unlink()
            kernel.notify([
                .entry(parent: parent, name: opened.stem.fileName), .content(parent),
            ])
        } else if let number = nodes.number(of: .record(opened.file)) {
            kernel.notify([.content(number)])
        }
    }
}
