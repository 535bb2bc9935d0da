import Glibc
import RecordModel
import RecordStore
import Synchronization

/// An asset while a program has it open.
///
/// Stored content is never changed: the first write makes a working copy in `assets/tmp`, and a
/// save gives that copy to the store. Readers see the working copy from then on.
final class OpenAsset: Sendable {
    private let state: Mutex<OpenAssetState>
    /// Serialises changes of the working copy with its hand-over to the store, as the kernel's
    /// inode lock does for a file: a byte written after the hand-over would change stored content.
    /// This is the only lock that is held over file I/O.
    let handover = Mutex(())

    init(_ entry: AssetEntry, content: HostFile?, version: Int64?) {
        self.state = Mutex(
            OpenAssetState(
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

    /// Indicates whether a program of this machine has removed or replaced the file.
    var isRemoved: Bool { state.withLock { $0.isUnlinked && !$0.isRevoked } }

    /// Forgets the failed writes of a file that an open has emptied.
    func beginAnew() { state.withLock { $0.failure = nil } }

    /// Throws the failure of an incomplete working copy.
    func checkIsWhole() throws(RecordError) {
        if let failure = state.withLock(\.failure) { throw failure.error }
    }

    /// Discards an incomplete working copy, unless a program still writes to it.
    ///
    /// - Parameter stored: the state in the store, for programs that continue to read.
    /// - Returns: whether there was an incomplete working copy.
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

    /// Throws for a file that is no longer shared with this user.
    func checkIsShared() throws(RecordError) {
        if state.withLock(\.isRevoked) { throw .sharedNoLonger(kept: false) }
    }

    /// Notes that a write has changed the working copy.
    ///
    /// - Parameter changed: the moment of the change (`RecordStore.nextChange`).
    func noteWrite(offset: Int64, count: Int, now: Timestamp, changed: Timestamp) {
        state.withLock { state in
            state.version += 1
            state.size = max(state.size, offset + Int64(count))
            state.failure.noteWrite(offset: offset, count: count)
            state.modified = now
            state.noteChange(changed)
        }
    }

    func noteFailure(offset: Int64, count: Int, _ error: RecordError) {
        state.withLock { $0.failure.note(offset: offset, count: count, error) }
    }

    /// Notes that the working copy has another size.
    func noteSize(_ size: Int64, now: Timestamp, changed: Timestamp) {
        state.withLock { state in
            state.version += 1
            state.size = size
            state.failure.noteSize(size)
            state.modified = now
            state.noteChange(changed)
        }
    }

    /// Runs a change of the working copy, or its hand-over, without another one at the same time.
    func changing<Result>(_ body: () throws(RecordError) -> Result) throws(RecordError) -> Result {
        try handover.withLock { _ throws(RecordError) in try body() }
    }
}

/// The names of an open large field.
extension OpenAsset {
    /// The row before the file moved with its record.
    var formerID: AssetID? { state.withLock(\.formerID) }

    /// Notes that the bytes belong to another row now, under the name that this row has.
    func setRow(_ row: AssetEntry) {
        state.withLock { ($0.id, $0.home) = (row.id, AssetHome(row)) }
    }

    /// Notes that the file moved to another record with its record.
    func noteMove(to entry: AssetEntry, from former: AssetID) {
        state.withLock { state in
            state.home = AssetHome(entry)
            state.formerID = former
        }
    }
}

/// The handles and the programs of an open large field.
extension OpenAsset {
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

    /// Removes a handle. Returns whether it was the last one.
    func removeHandle() -> Bool {
        state.withLock { state in
            state.handles -= 1
            return state.handles == 0
        }
    }

    /// Notes that a program has opened the file. Returns the version of the record that it shows.
    func noteProgram(_ program: Int32, writes: Bool) -> Int64? {
        state.withLock { state in
            if writes { state.programs.insert(program) }
            return state.readVersion
        }
    }

    /// The programs that have opened the file for writing, and the version that the file showed.
    var writing: (programs: Set<Int32>, begun: Int64?) {
        state.withLock { ($0.programs, $0.readVersion) }
    }
}

/// The bytes of an open large field.
extension OpenAsset {
    /// The file that reads use. Nil when the bytes are not on this machine.
    var file: HostFile? { state.withLock(\.file) }

    /// The file that reads use, and its time.
    var content: (file: HostFile?, modified: Timestamp) {
        state.withLock { ($0.file, $0.modified) }
    }

    /// The file that writes change. Nil while the file shows stored content.
    var workingFile: HostFile? { state.withLock { $0.workingCopy == nil ? nil : $0.file } }

    var isIncomplete: Bool { state.withLock { $0.failure != nil } }

    /// Notes that the bytes have been downloaded.
    func arrive(_ file: HostFile) {
        state.withLock { if $0.file == nil { $0.file = file } }
    }

    /// Begins a working copy.
    func begin(_ file: HostFile, at path: [UInt8]) {
        state.withLock { state in
            state.file = file
            state.workingCopy = path
            state.imported = nil
        }
    }

    /// A change that a save takes.
    struct Change {
        let version: Int
        let size: Int64
        let modified: Timestamp
        let changed: Timestamp
    }

    /// Returns the change to save. Returns nil when nothing has changed since the last save, or the
    /// name was removed. An empty file is saved only when it is `isLast`.
    func change(isLast: Bool) -> Change? {
        state.withLock { state in
            guard state.isDirty && !state.isUnlinked && (isLast || state.size > 0) else {
                return nil
            }
            return Change(
                version: state.version, size: state.size, modified: state.modified,
                changed: state.changed)
        }
    }

    /// The path of the working copy, or the hash of one that the store has taken.
    var unsaved: (path: [UInt8]?, imported: ContentHash?) {
        state.withLock { ($0.workingCopy, $0.imported) }
    }

    /// Notes that the store has taken the working copy.
    func noteTaken(_ hash: ContentHash, as file: HostFile) {
        state.withLock { state in
            state.file = file
            state.workingCopy = nil
            state.imported = hash
        }
    }

    /// Notes that a record contains the content.
    ///
    /// - Parameter hasName: false for a file that has lost its name. It is not saved any more.
    func noteSaved(version: Int, hasName: Bool, entry: AssetEntry?, readVersion: Int64?) {
        state.withLock { state in
            state.savedVersion = version
            state.imported = nil
            state.readVersion = readVersion
            if let entry { state.home = AssetHome(entry) }
            if !hasName { state.isUnlinked = true }
        }
    }

    /// Notes that the working copy has bytes that another file had.
    func noteCopy(of size: Int64) {
        state.withLock { state in
            state.version += 1
            state.size = max(state.size, size)
        }
    }

    /// Sets the time. Returns whether the store has the content, and so needs the time too.
    func setTime(_ modified: Timestamp, changed: Timestamp) -> Bool {
        state.withLock { state in
            state.modified = modified
            state.noteChange(changed)
            return !state.isDirty && !state.isUnlinked
        }
    }
}
