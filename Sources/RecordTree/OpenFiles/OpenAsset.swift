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

/// The file of an open asset: its name, and the bytes that it began with.
struct AssetHome {
    let place: AssetKey
    let type: TypeID
    let stem: Stem
    let fileExtension: [UInt8]
    private let kind: AssetEntry.Kind
    private let hash: ContentHash?
    private let size: Int64

    init(_ entry: AssetEntry) {
        place = AssetKey(entry)
        type = entry.type
        stem = entry.stem
        fileExtension = entry.fileExtension
        (kind, hash, size) = (entry.kind, entry.hash, entry.size)
    }

    var hasBytes: Bool { kind == .value || hash != nil }

    /// True when the file is this one, under the name that it has in another record.
    func isSameFile(as entry: AssetEntry) -> Bool {
        place.field == entry.field && place.index == entry.index && !entry.isLeaving && hasBytes
            && (kind, hash, size) == (entry.kind, entry.hash, entry.size)
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
        /// The row that it had before it went along with its record.
        var formerID: AssetID?
        /// Its file when it was opened, saved, or went along with its record.
        var home: AssetHome
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
        /// The version of the record that it shows; nil while there is none.
        var readVersion: Int64?
        /// Programs that have opened it for writing (`ProgramTable`).
        var programs: Set<Int32> = []
        /// What the working copy could not take: it is not saved then.
        var failure: WriteFailure?
        var isUnlinked = false
        /// Others share it no longer: nothing of it is read any more.
        var isRevoked = false
        var isDirty: Bool { version != savedVersion }
    }
    let state: Mutex<State>
    /// Serialises changes of the working copy with its hand-over to the store, as the kernel's
    /// inode lock does for a file: a byte written after the hand-over would change stored content.
    /// The one lock that is held over file I/O.
    let handover = Mutex(())

    init(_ entry: AssetEntry, content: HostFile?, version: Int64?) {
        self.state = Mutex(
            State(
                id: entry.id, home: AssetHome(entry), file: content, modified: entry.modified,
                changed: entry.statusChanged, size: entry.size, readVersion: version))
    }

    deinit {
        if let path = state.withLock({ $0.workingCopy }) { _ = withPath(path) { Glibc.unlink($0) } }
    }

    var id: AssetID { state.withLock { $0.id } }
    var home: AssetHome { state.withLock { $0.home } }
    var place: AssetKey { home.place }
    var type: TypeID { home.type }
    var stem: Stem { home.stem }

    var shown: (size: Int64, modified: Timestamp, changed: Timestamp) {
        state.withLock { ($0.size, $0.modified, $0.changed) }
    }

    func unlink() { state.withLock { $0.isUnlinked = true } }

    /// Who empties the file by opening it begins anew, whatever it could not take before.
    func beginAnew() { state.withLock { $0.failure = nil } }

    /// Throws why the working copy is not whole.
    func checkIsWhole() throws(RecordError) {
        if let failure = state.withLock(\.failure) { throw failure.error }
    }

    /// Gives up a working copy that is not whole, unless somebody writes it.
    ///
    /// - Parameter stored: what the store has, for those who go on reading.
    /// - Returns: whether there was one.
    func dropIncomplete(_ stored: AssetEntry?, _ content: HostFile?) -> Bool {
        let path = state.withLock { state -> [UInt8]? in
            guard state.failure != nil, state.writers == 0 else { return nil }
            defer {
                state.failure = nil
                state.savedVersion = state.version
                state.workingCopy = nil
                state.imported = nil
                state.file = content
                state.size = stored?.size ?? 0
                if let stored { state.modified = stored.modified }
            }
            return state.workingCopy ?? []
        }
        guard let path else { return false }
        if !path.isEmpty { _ = withPath(path) { Glibc.unlink($0) } }
        return true
    }

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
        let start = offset ?? shown.size
        do throws(RecordError) {
            try changing { () throws(RecordError) in
                try tree.workingCopy(of: self).write(data, offset: start)
            }
        } catch {
            state.withLock { $0.failure.note(offset: start, count: data.count, error) }
            throw error
        }
        let (now, changed) = (tree.now, tree.store.nextChange())
        state.withLock { state in
            state.version += 1
            state.size = max(state.size, start + Int64(data.count))
            state.failure.noteWrite(offset: start, count: data.count)
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
            state.failure.noteSize(size)
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
