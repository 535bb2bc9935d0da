import Glibc
import RecordModel
import RecordStore
import Synchronization

/// A record's file while a program has it open, or while a new name waits for its first save.
///
/// All handles of a file share one object, and so see one text. It is dirty while `version` is
/// ahead of `savedVersion`. When another file takes the name, this one keeps its text: its readers
/// continue to read it, and a save of its writers is merged with the new file.
final class OpenRecord: Sendable {
    private let state: Mutex<OpenRecordState>

    init(_ state: OpenRecordState) { self.state = Mutex(state) }

    var file: RecordFile { state.withLock { $0.file } }
}

/// The names of an open record.
extension OpenRecord {
    struct Identity {
        let file: RecordFile
        let type: TypeID
        let stem: Stem
        /// The place of the file when a program opened it for writing.
        let home: TypeDirectory?
    }

    var identity: Identity { state.withLock(\.identity) }
    var home: TypeDirectory? { state.withLock(\.home) }

    func setHome(_ place: TypeDirectory) { state.withLock { $0.home = place } }

    /// Notes that a save has restored the directory of the file as another one.
    func setType(_ type: TypeID) { state.withLock { $0.type = type } }

    /// Notes that the file has another name, and that its text is saved under it.
    func move(to new: RecordFile, _ type: TypeID, _ stem: Stem) {
        state.withLock { state in
            state.type = type
            state.stem = stem
            state.isInStore = true
            if state.file != new { state.base = nil }
            state.file = new
        }
    }

    /// Moves the file to the name that its record shows under now.
    func follow(_ changes: [StemChange]) {
        state.withLock { state in
            let change = changes.last {
                $0.record == state.file.record && $0.type == state.type
                    && $0.former == state.stem
            }
            if let change { state.stem = change.stem }
        }
    }

    /// Notes the place to which the record has moved. Returns whether the file shows its text there.
    func follow(to place: TypeDirectory, showing text: [UInt8]) -> Bool {
        state.withLock { state in
            state.home = place
            return !state.isDirty && (state.text.map { $0 == text } ?? true)
        }
    }
}

/// The handles and the programs of an open record.
extension OpenRecord {
    var isOnlyWriter: Bool { state.withLock { $0.writers == 1 } }

    /// Indicates whether it is not open and has no unsaved text.
    var isClosed: Bool { state.withLock { $0.handles == 0 && !$0.isDirty } }

    /// Indicates whether it has a text that is not saved and that no writer holds any more.
    var isUnsaved: Bool {
        state.withLock { $0.isDirty && !$0.isUnlinked && $0.writers == 0 }
    }

    func addHandle(writes: Bool) {
        state.withLock { state in
            state.handles += 1
            if writes { state.writers += 1 }
        }
    }

    /// Removes a writer. Returns whether it was the last one.
    func removeWriter() -> Bool {
        state.withLock { state in
            state.writers -= 1
            return state.writers == 0
        }
    }

    /// Removes a handle. Returns the bytes of the text when the file can be forgotten: it has no
    /// handle, and no text that a save could keep.
    func removeHandle() -> Int? {
        state.withLock { state in
            state.handles -= 1
            guard state.handles == 0 && (!state.isDirty || state.isUnlinked) else { return nil }
            return state.text?.count ?? 0
        }
    }

    /// Notes that a program has opened the file. Returns the names of the file at that time.
    func noteProgram(_ program: Int32, writes: Bool) -> Identity {
        state.withLock { state in
            if writes { state.programs.insert(program) }
            return state.identity
        }
    }
}

/// The attributes of an open record.
extension OpenRecord {
    struct Shown {
        let type: TypeID
        let size: Int64
        let modified: Timestamp
        let changed: Timestamp
    }

    var shown: Shown { state.withLock(\.shown) }

    /// The attributes that getattr shows while the text is newer than the store. Nil when the store
    /// is up to date.
    var shownUnsaved: Shown? {
        state.withLock { state in
            state.text != nil && (state.isDirty || !state.isInStore) ? state.shown : nil
        }
    }

    var isUnlinked: Bool { state.withLock(\.isUnlinked) }

    /// Sets the time of a text that the store does not have yet. Returns false for any other file:
    /// the store keeps its time.
    func setTimeInMemory(_ modified: Timestamp, changed: Timestamp) -> Bool {
        state.withLock { state in
            guard state.isDirty || !state.isInStore else { return false }
            state.modified = modified
            state.noteChange(changed)
            return true
        }
    }
}

extension OpenRecord {
    /// Returns the text to save. Returns nil when nothing has changed since the last save, or the
    /// name was removed.
    func snapshot() -> TextSnapshot? {
        state.withLock { state in
            guard state.isDirty, !state.isUnlinked, let text = state.text else { return nil }
            return TextSnapshot(
                file: state.file, isInStore: state.isInStore, type: state.type, stem: state.stem,
                text: text, base: state.base, replacesUnseen: state.replacesUnseen,
                version: state.version, modified: state.modified,
                changed: state.changed, programs: state.programs)
        }
    }

    /// Notes that the snapshot is in the store, as the record or as its draft: under this file, or
    /// merged into another one.
    func noteSaved(_ snapshot: TextSnapshot, in file: RecordFile) {
        state.withLock { state in
            state.savedVersion = max(state.savedVersion, snapshot.version)
            state.isInStore = true
            state.replacesUnseen = false
            state.base = file == state.file ? nil : snapshot.text
        }
    }

    func noteReplacesUnseen() { state.withLock { $0.replacesUnseen = true } }

    /// Keeps the text when another file takes the name: this file shows the text to its end.
    func keep(_ text: [UInt8]) {
        state.withLock { state in
            if state.text == nil { state.text = text }
            if state.base == nil { state.base = text }
        }
    }

    /// Notes that the file was not replaced after all: a save changes this file as before.
    func keepName() { state.withLock { $0.base = nil } }

    /// Discards a text that could not be saved, unless a writer has the file open again. Returns
    /// whether it was discarded.
    func dropUnsaved() -> Bool {
        state.withLock { state in
            if state.writers == 0 { state.savedVersion = state.version }
            return state.writers == 0
        }
    }

    var isRevoked: Bool { state.withLock(\.isRevoked) }

    /// Revokes a record that is no longer shared with this user. Unsaved writes stay for the next
    /// save, which reports them.
    func revoke() {
        state.withLock { state in
            state.isRevoked = true
            if !state.isDirty { state.text = nil }
        }
    }

    /// Ends the text of a record that is no longer shared with this user.
    func abandon() {
        state.withLock { state in
            state.isUnlinked = true
            state.isRevoked = true
            state.text = nil
        }
    }

    /// Throws for a record that is no longer shared with this user.
    func checkIsShared() throws(RecordError) {
        if state.withLock(\.isRevoked) { throw .sharedNoLonger(kept: false) }
    }

    func unlink() { state.withLock { $0.isUnlinked = true } }

    /// Throws the failure of an incomplete text.
    func checkIsWhole() throws(RecordError) {
        if let failure = state.withLock(\.failure) { throw failure.error }
    }

    /// Notes that a write failed before it changed anything.
    func noteFailure(offset: Int64?, count: Int, _ error: RecordError) {
        state.withLock { state in
            let start = offset ?? Int64(state.text?.count ?? 0)
            state.failure.note(offset: start, count: count, error)
        }
    }

    /// Discards an incomplete text, after which the file shows the text in the store. Does nothing
    /// while a program writes.
    /// - Returns: whether there was such a text.
    func dropIncomplete() -> Bool {
        state.withLock { state in
            guard state.failure != nil, state.writers == 0 else { return false }
            state.failure = nil
            state.savedVersion = state.version
            state.text = state.base
            return true
        }
    }

    /// Forgets the failed writes of a file that an open has emptied.
    func beginAnew() { state.withLock { $0.failure = nil } }

    /// Keeps a refusal that fsync does not report.
    func keepUntold(_ error: RecordError) { state.withLock { $0.untold = error } }

    /// Returns the refusal that fsync did not report, for the close that follows. It is returned
    /// once.
    func takeUntold() -> RecordError? {
        state.withLock { state in
            defer { state.untold = nil }
            return state.untold
        }
    }

    func read(offset: Int64, count: Int) -> [UInt8]? {
        state.withLock { state in
            guard let text = state.text else { return nil }
            return text.bytes(at: offset, count: count)
        }
    }

    /// The file whose text must be read from the store first. Nil when the text is loaded.
    var fileToLoad: RecordFile? { state.withLock { $0.text == nil ? $0.file : nil } }

    /// The text that the file shows, with its time.
    var content: ([UInt8], Timestamp) { state.withLock { ($0.text ?? [], $0.modified) } }

    /// Sets the text that was read from the store, unless a writer has set it already.
    func load(_ text: [UInt8]) {
        state.withLock { if $0.text == nil { $0.text = text } }
    }

    /// - Precondition: the text is loaded.
    ///
    /// - Parameter changed: the moment of the change (`RecordStore.nextChange`).
    func write(
        _ data: UnsafeRawBufferPointer, offset: Int64?, limit: Int, now: Timestamp,
        changed: Timestamp
    ) throws(RecordError) {
        let fits = try state.withLock { (state) throws(RecordError) in
            let start = offset ?? Int64(state.text?.count ?? 0)
            guard try TextLimit.fits(data.count, at: start, limit: limit) else { return false }
            var text = state.text ?? []
            state.text = nil
            defer { state.text = text }
            text.write(data, at: Int(start))
            state.failure.noteWrite(offset: start, count: data.count)
            state.version += 1
            state.modified = now
            state.noteChange(changed)
            state.untold = nil
            return true
        }
        guard fits else { throw .textTooLarge(limit: limit) }
    }

    /// - Precondition: the text is loaded, or the size is 0.
    func truncate(
        to size: Int64, limit: Int, now: Timestamp, changed: Timestamp
    ) throws(RecordError) {
        guard try TextLimit.fits(0, at: size, limit: limit) else {
            throw .textTooLarge(limit: limit)
        }
        state.withLock { state in
            var text = state.text ?? []
            text.resize(to: Int(size))
            state.text = text
            state.failure.noteSize(size)
            state.version += 1
            state.modified = now
            state.noteChange(changed)
        }
    }
}
