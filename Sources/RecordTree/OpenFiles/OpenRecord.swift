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
    struct State {
        var file: RecordFile
        var type: TypeID
        var stem: Stem
        /// Indicates whether the store has a row for it: a record, or a draft of one.
        var isInStore: Bool
        /// The text that the file shows. Nil before the first read or write.
        var text: [UInt8]?
        /// The text in the store when another file took the name.
        var base: [UInt8]?
        var version = 0
        var savedVersion = 0
        /// The time of the last write, or the time that utimens has set since.
        var modified: Timestamp
        /// The time of the last local change of content, name or times: ctime.
        var changed: Timestamp
        var created: Timestamp
        var handles = 0
        var writers = 0
        /// The programs that have opened the file for writing (`ProgramTable`).
        var programs: Set<Int32> = []
        /// The reason why the last text is only a draft, until a close has reported it: fsync may
        /// not.
        var untold: RecordError?
        /// The bytes that the text could not take. Then the text is not saved.
        var failure: WriteFailure?
        /// Indicates that the name was removed: later writes are lost, as on any file system.
        var isUnlinked = false
        /// Indicates that the record is no longer shared with this user: nothing of it can be read
        /// any more.
        var isRevoked = false
        /// The place of the file when a program opened it for writing.
        var home: TypePlace?

        var isDirty: Bool { version != savedVersion }
    }

    let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }

    var file: RecordFile { state.withLock { $0.file } }
}

extension OpenRecord {
    /// Returns the text to save. Returns nil when nothing has changed since the last save, or the
    /// name was removed.
    func snapshot() -> TextSnapshot? {
        state.withLock { state in
            guard state.isDirty, !state.isUnlinked, let text = state.text else { return nil }
            return TextSnapshot(
                file: state.file, isInStore: state.isInStore, type: state.type, stem: state.stem,
                text: text, base: state.base, version: state.version, modified: state.modified,
                changed: state.changed, programs: state.programs)
        }
    }

    /// Notes that the snapshot is in the store, as the record or as its draft: under this file, or
    /// merged into another one.
    func noteSaved(_ snapshot: TextSnapshot, in file: RecordFile) {
        state.withLock { state in
            state.savedVersion = max(state.savedVersion, snapshot.version)
            state.isInStore = true
            state.base = file == state.file ? nil : snapshot.text
        }
    }

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

extension OpenRecord.State {
    mutating func noteChange(_ moment: Timestamp) {
        changed = max(moment, changed + .nanoseconds(1))
    }
}

extension OpenRecord {
    fileprivate func counted(writes: Bool) -> OpenRecord {
        state.withLock { state in
            state.handles += 1
            if writes { state.writers += 1 }
        }
        return self
    }
}
