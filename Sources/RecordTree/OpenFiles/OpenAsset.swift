import Glibc
import RecordModel
import RecordStore
import Synchronization

/// An asset while a program has it open.
///
/// Stored content is never changed: the first write makes a working copy in `assets/tmp`, and a
/// save gives that copy to the store. Readers see the working copy from then on.
final class OpenAsset: Sendable {
    struct State {
        /// The row of its bytes. It stays the same while they move in their list.
        var id: AssetID
        /// The row before the file moved with its record.
        var formerID: AssetID?
        /// Its file when it was opened, saved, or moved with its record.
        var home: AssetHome
        /// The file that reads and writes use. Nil when the bytes are not on this machine.
        var file: HostFile?
        /// The path of the working copy. Nil while `file` is the stored content.
        var workingCopy: [UInt8]?
        /// The hash of a working copy that the store has taken while no record refers to it yet.
        var imported: ContentHash?
        var version = 0
        var savedVersion = 0
        var modified: Timestamp
        /// The time of the last local change of content, name or times: ctime.
        var changed: Timestamp
        var size: Int64
        var handles = 0
        var writers = 0
        /// The version of the record that the file shows. Nil when there is no version.
        var readVersion: Int64?
        /// The programs that have opened the file for writing (`ProgramTable`).
        var programs: Set<Int32> = []
        /// The bytes that the working copy could not take. Then it is not saved.
        var failure: WriteFailure?
        var isUnlinked = false
        /// Indicates that the file is no longer shared with this user: nothing of it can be read
        /// any more.
        var isRevoked = false
        var isDirty: Bool { version != savedVersion }
    }
    let state: Mutex<State>
    /// Serialises changes of the working copy with its hand-over to the store, as the kernel's
    /// inode lock does for a file: a byte written after the hand-over would change stored content.
    /// This is the only lock that is held over file I/O.
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

extension OpenAsset.State {
    mutating func noteChange(_ moment: Timestamp) {
        changed = max(moment, changed + .nanoseconds(1))
    }
}
