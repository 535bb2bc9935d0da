import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Where an asset is: one large field of one record.
struct AssetKey: Hashable, Sendable {
    let record: RecordID
    let field: FieldName
    let index: Int?
    init(record: RecordID, field: FieldName, index: Int?) {
        self.record = record
        self.field = field
        self.index = index
    }
    init(_ entry: AssetEntry) {
        self.init(record: entry.record, field: entry.field, index: entry.index)
    }
}

/// An asset while someone has it open.
///
/// Stored content is never written to: the first write makes a working copy in `assets/tmp`, and a
/// save gives that copy to the store. Readers see the working copy from then on.
final class OpenAsset: Sendable {
    struct State {
        /// The row of its bytes. It stays while they move in their list.
        var id: AssetID
        /// What reads and writes go to; nil when the bytes are not on this machine.
        var file: HostFile?
        /// The path of the working copy; nil while `file` is the stored content.
        var workingCopy: [UInt8]?
        /// What the store has taken of a working copy while no record refers to it yet.
        var imported: ContentHash?
        var version = 0
        var savedVersion = 0
        var modified: Timestamp
        /// When content, name or times last changed here: ctime.
        var changed: Timestamp
        var size: Int64
        var handles = 0
        var writers = 0
        var isUnlinked = false
        /// Others share it no longer: nothing of it is read any more.
        var isRevoked = false
        var isDirty: Bool { version != savedVersion }
    }
    /// Where it was when it was opened.
    let place: AssetKey
    /// Whether there were bytes at that place then.
    let hadBytes: Bool
    let type: TypeID
    let stem: Stem
    let fileExtension: [UInt8]
    let state: Mutex<State>
    /// Serialises changes of the working copy with its hand-over to the store, as the kernel's
    /// inode lock does for a file: a byte written after the hand-over would change stored content.
    /// The one lock that is held over file I/O.
    let handover = Mutex(())

    init(_ entry: AssetEntry, content: HostFile?) {
        self.place = AssetKey(entry)
        self.hadBytes = entry.kind == .value || entry.hash != nil
        self.type = entry.type
        self.stem = entry.stem
        self.fileExtension = entry.fileExtension
        self.state = Mutex(
            State(
                id: entry.id, file: content, modified: entry.modified,
                changed: entry.statusChanged, size: entry.size))
    }

    deinit {
        if let path = state.withLock({ $0.workingCopy }) { _ = withPath(path) { Glibc.unlink($0) } }
    }

    var id: AssetID { state.withLock { $0.id } }

    var shown: (size: Int64, modified: Timestamp, changed: Timestamp) {
        state.withLock { ($0.size, $0.modified, $0.changed) }
    }

    func unlink() { state.withLock { $0.isUnlinked = true } }

    func revoke() {
        state.withLock { state in
            state.isUnlinked = true
            state.isRevoked = true
            state.file = nil
        }
    }

    private func checkIsShared() throws(RecordError) {
        if state.withLock(\.isRevoked) { throw .sharedNoLonger(kept: false) }
    }

    func read(offset: Int64, count: Int, in tree: Tree) throws(RecordError) -> ReadResult {
        try checkIsShared()
        if let file = state.withLock({ $0.file }) {
            return .file(file, offset: offset, count: count)
        }
        return tree.fetch(self, offset: offset, count: count)
    }

    func write(_ data: UnsafeRawBufferPointer, offset: Int64?, in tree: Tree)
        throws(RecordError)
    {
        try checkIsShared()
        try changing { () throws(RecordError) in
            let file = try tree.workingCopy(of: self)
            try file.write(data, offset: offset ?? shown.size)
        }
        let start = offset ?? shown.size
        let (now, changed) = (tree.now, tree.store.nextChange())
        state.withLock { state in
            state.version += 1
            state.size = max(state.size, start + Int64(data.count))
            state.modified = now
            state.noteChange(changed)
        }
    }

    func truncate(to size: Int64, in tree: Tree) throws(RecordError) {
        try checkIsShared()
        try changing { () throws(RecordError) in
            try tree.workingCopy(of: self, keepingBytes: size).truncate(to: size)
        }
        let (now, changed) = (tree.now, tree.store.nextChange())
        state.withLock { state in
            state.version += 1
            state.size = size
            state.modified = now
            state.noteChange(changed)
        }
    }

    /// Runs a change of the working copy, or its hand-over, alone.
    func changing<Result>(_ body: () throws(RecordError) -> Result) throws(RecordError) -> Result {
        try handover.withLock { _ throws(RecordError) in try body() }
    }
}

extension OpenAsset.State {
    mutating func noteChange(_ moment: Timestamp) {
        changed = max(moment, changed + .nanoseconds(1))
    }
}
