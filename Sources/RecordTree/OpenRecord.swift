import RecordModel
import Synchronization

/// A record while someone has it open, or while a new name waits for its first save.
///
/// All handles of a record share one, and so see one text. It is dirty while `version` is ahead of
/// `savedVersion`; a dirty text is the writer's, whatever arrives from elsewhere.
final class OpenRecord: Sendable {
    struct State {
        var id: RecordID
        var type: TypeID
        var stem: Stem
        /// Whether the store has a row for it: a record, or a draft of one.
        var isInStore: Bool
        /// What the file shows; nil until somebody reads or writes.
        var text: [UInt8]?
        var version = 0
        var savedVersion = 0
        /// The time of the last write, or what utimens has set since.
        var modified: Timestamp
        var created: Timestamp
        var handles = 0
        var writers = 0
        /// Why the last text is only a draft, while no close has said so: fsync may not.
        var untold: RecordError?
        /// The name is gone; what is written now goes nowhere, as on any file system.
        var isUnlinked = false

        var isDirty: Bool { version != savedVersion }
    }

    let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }

    var id: RecordID { state.withLock { $0.id } }
}

/// A text as a save takes it.
struct TextSnapshot {
    let id: RecordID
    let type: TypeID
    let stem: Stem
    let text: [UInt8]
    let version: Int
    let modified: Timestamp
}

extension OpenRecord {
    /// The text to save; nil when nothing has changed since the last save or the name is gone.
    func snapshot() -> TextSnapshot? {
        state.withLock { state in
            guard state.isDirty, !state.isUnlinked, let text = state.text else { return nil }
            return TextSnapshot(
                id: state.id, type: state.type, stem: state.stem, text: text,
                version: state.version, modified: state.modified)
        }
    }

    /// The snapshot is in the store, as the record or as its draft.
    func noteSaved(_ snapshot: TextSnapshot, id: RecordID) {
        state.withLock { state in
            state.savedVersion = max(state.savedVersion, snapshot.version)
            state.isInStore = true
            state.id = id
        }
    }

    /// The refusal that fsync has kept to itself, for the close that follows it.
    func takeUntold() -> RecordError? {
        state.withLock { state in
            defer { state.untold = nil }
            return state.untold
        }
    }

    /// The store has another text now; a dirty one stays the writer's.
    func noteChangedElsewhere() {
        state.withLock { state in
            if !state.isDirty && !state.isUnlinked { state.text = nil }
        }
    }

    func read(offset: Int64, count: Int) -> [UInt8]? {
        state.withLock { state in
            guard let text = state.text else { return nil }
            guard offset >= 0, offset < text.count else { return [] }
            return Array(text[Int(offset)..<min(text.count, Int(offset) + count)])
        }
    }

    /// Fills in the text that a reader of the store has found, unless a writer was faster.
    func load(_ text: [UInt8]) {
        state.withLock { if $0.text == nil { $0.text = text } }
    }

    /// - Precondition: the text is loaded.
    func write(_ data: UnsafeRawBufferPointer, offset: Int64?, limit: Int, now: Timestamp)
        throws(RecordError)
    {
        let fits = state.withLock { state in
            var text = state.text ?? []
            state.text = nil
            defer { state.text = text }
            let start = offset.map(Int.init) ?? text.count
            guard start + data.count <= limit else { return false }
            if start > text.count {
                text.append(contentsOf: repeatElement(0, count: start - text.count))
            }
            let overlap = min(text.count - start, data.count)
            if overlap > 0 {
                text.replaceSubrange(start..<start + overlap, with: data.prefix(overlap))
            }
            text.append(contentsOf: data.dropFirst(overlap))
            state.version += 1
            state.modified = now
            state.untold = nil
            return true
        }
        guard fits else { throw .textTooLarge(limit: limit) }
    }

    /// - Precondition: the text is loaded, or the size is 0.
    func truncate(to size: Int, limit: Int, now: Timestamp) throws(RecordError) {
        guard size <= limit else { throw .textTooLarge(limit: limit) }
        state.withLock { state in
            var text = state.text ?? []
            if size < text.count {
                text.removeLast(text.count - size)
            } else {
                text.append(contentsOf: repeatElement(0, count: size - text.count))
            }
            state.text = text
            state.version += 1
            state.modified = now
        }
    }
}

extension RecordError {
    static func textTooLarge(limit: Int) -> RecordError {
        RecordError(
            .tooLarge,
            "the text of a record is at most \(limit) bytes; put large values into asset files")
    }
}
