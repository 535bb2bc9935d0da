import RecordModel
import RecordStore
import Synchronization

/// A record's file while someone has it open, or while a new name waits for its first save.
///
/// All handles of a file share one, and so see one text. It is dirty while `version` is ahead of
/// `savedVersion`. When another file takes the name, this one keeps its text: its readers read on
/// in it, and what its writers save is merged with what came.
final class OpenRecord: Sendable {
    struct State {
        var file: RecordFile
        var type: TypeID
        var stem: Stem
        /// Whether the store has a row for it: a record, or a draft of one.
        var isInStore: Bool
        /// What the file shows; nil until somebody reads or writes.
        var text: [UInt8]?
        /// What the store had of the file when another one took its name.
        var base: [UInt8]?
        var version = 0
        var savedVersion = 0
        /// The time of the last write, or what utimens has set since.
        var modified: Timestamp
        /// When content, name or times last changed here: ctime.
        var changed: Timestamp
        var created: Timestamp
        var handles = 0
        var writers = 0
        /// Who has opened it for writing (`ProgramTable`).
        var programs: Set<Int32> = []
        /// Why the last text is only a draft, while no close has said so: fsync may not.
        var untold: RecordError?
        /// What the text could not take: it is not saved then.
        var failure: WriteFailure?
        /// The name is gone; what is written now goes nowhere, as on any file system.
        var isUnlinked = false
        /// Others share it no longer: nothing of it is read any more.
        var isRevoked = false
        /// Where it was when somebody opened it for writing.
        var home: TypePlace?

        var isDirty: Bool { version != savedVersion }
    }

    let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }

    var file: RecordFile { state.withLock { $0.file } }
}

/// A text as a save takes it.
struct TextSnapshot {
    let file: RecordFile
    let isInStore: Bool
    let type: TypeID
    let stem: Stem
    let text: [UInt8]
    let base: [UInt8]?
    let version: Int
    let modified: Timestamp
    let changed: Timestamp
    let programs: Set<Int32>

    var name: Readings.Name { Readings.Name(type: type, stem: stem) }
}

extension OpenRecord {
    /// The text to save; nil when nothing has changed since the last save or the name is gone.
    func snapshot() -> TextSnapshot? {
        state.withLock { state in
            guard state.isDirty, !state.isUnlinked, let text = state.text else { return nil }
            return TextSnapshot(
                file: state.file, isInStore: state.isInStore, type: state.type, stem: state.stem,
                text: text, base: state.base, version: state.version, modified: state.modified,
                changed: state.changed, programs: state.programs)
        }
    }

    /// The snapshot is in the store, as the record or as its draft: under this file, or merged
    /// into another one.
    func noteSaved(_ snapshot: TextSnapshot, in file: RecordFile) {
        state.withLock { state in
            state.savedVersion = max(state.savedVersion, snapshot.version)
            state.isInStore = true
            state.base = file == state.file ? nil : snapshot.text
        }
    }

    /// Another file takes the name: this one shows the text to its end.
    func keep(_ text: [UInt8]) {
        state.withLock { state in
            if state.text == nil { state.text = text }
            if state.base == nil { state.base = text }
        }
    }

    /// The file was to be replaced, and was not: a save goes into it as before.
    func keepName() { state.withLock { $0.base = nil } }

    /// Gives up a text that could not be saved, unless a writer holds it again.
    func dropUnsaved() -> Bool {
        state.withLock { state in
            if state.writers == 0 { state.savedVersion = state.version }
            return state.writers == 0
        }
    }

    /// Throws for a record that others share no longer.
    func checkIsShared() throws(RecordError) {
        if state.withLock(\.isRevoked) { throw .sharedNoLonger(kept: false) }
    }

    func unlink() { state.withLock { $0.isUnlinked = true } }

    /// Throws why the text is not whole.
    func checkIsWhole() throws(RecordError) {
        if let failure = state.withLock(\.failure) { throw failure.error }
    }

    /// A write has failed before it changed anything.
    func noteFailure(offset: Int64?, count: Int, _ error: RecordError) {
        state.withLock { state in
            let start = offset ?? Int64(state.text?.count ?? 0)
            state.failure.note(offset: start, count: count, error)
        }
    }

    /// Gives up a text that is not whole; the file shows what the store has. Nil while somebody writes.
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

    /// The refusal that fsync has kept to itself, for the close that follows it.
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

    /// Fills in the text that a reader of the store has found, unless a writer was faster.
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

extension RecordError {
    static func textTooLarge(limit: Int) -> RecordError {
        RecordError(
            .tooLarge,
            "the text of a record is at most \(limit) bytes; put large values into asset files")
    }
}
