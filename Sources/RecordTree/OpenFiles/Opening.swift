import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Opens a file (open). This also does the work of O_TRUNC, because the kernel sends no setattr
    /// for it.
    package func open(_ number: NodeNumber, flags: Int32, caller: Requester) throws(RecordError)
        -> Opened
    {
        let node = try node(number)
        let writes = flags & O_ACCMODE != O_RDONLY
        if isOwn(caller) {
            return Opened(handle: addHandle(.bytes([]), flags: O_RDONLY), keepCache: true)
        }
        switch node {
        case .record(let file):
            if flags & O_TRUNC != 0 { try checkWritable(node) }
            let open = try openRecord(file, writes: writes)
            noteProgram(caller, of: open, flags: flags)
            if flags & O_TRUNC != 0 { try empty(open, writes: writes) }
            let handle = addHandle(.record(open), flags: flags)
            return Opened(handle: handle, keepCache: true, needsNoFlush: !writes)
        case .asset(let id): return try openAsset(id, flags: flags, caller: caller)
        case .scratch(let id):
            if writes { try checkWritable() }
            return try openScratch(id, flags: flags, caller: caller)
        case .readme:
            try refuse(writing: writes, "README.md is generated")
            return Opened(handle: addHandle(.bytes(Readme.text), flags: flags), keepCache: true)
        case .errorFile(let type):
            try refuse(writing: writes, ".error is generated; a valid save clears it")
            let text = try errorReport(of: type)?.text ?? []
            let backing: OpenHandle.Backing =
                isOfOthers(try place(of: type).zone.id) ? .errors(type, text) : .bytes(text)
            return Opened(handle: addHandle(backing, flags: flags), isDirect: true)
        case .control(let path): return try openControl(path, flags: flags)
        case .share(let file): return try openShare(file, flags: flags)
        case .root, .database, .owner, .zone, .type:
            throw RecordError(.isDirectory, "a directory")
        }
    }

    /// Empties a file when it is opened, and forgets its failed writes.
    private func empty(_ open: OpenRecord, writes: Bool) throws(RecordError) {
        do throws(RecordError) {
            try truncate(open, to: 0)
        } catch {
            close(open, writes: writes)
            throw error
        }
        open.state.withLock { $0.failure = nil }
    }

    private func refuse(writing: Bool, _ message: String) throws(RecordError) {
        if writing { throw RecordError(.notPermitted, message) }
    }

    /// Returns the shared state of the file's handles, with one more handle counted.
    func openRecord(_ file: RecordFile, writes: Bool) throws(RecordError) -> OpenRecord {
        if let open = state.withLock({ $0.open[file]?.counted(writes: writes) }) {
            if writes {
                try checkWritable(of: open)
                try noteHome(of: open)
            }
            return open
        }
        let entry = try entry(of: file, isFresh: writes)
        if writes { try checkWritable(entry.id, in: entry.type) }
        let made = OpenRecord(
            .init(
                file: file, type: entry.type, stem: entry.stem, isInStore: true,
                modified: entry.modified, changed: entry.statusChanged, created: entry.created))
        let open = state.withLock { state in
            let open = state.open[file] ?? made
            state.open[file] = open
            if let past = state.past[file] { open.keep(past.text) }
            return open.counted(writes: writes)
        }
        if writes { try noteHome(of: open) }
        return open
    }

    /// Notes the place of the file: a save after its directory was removed needs it.
    private func noteHome(of open: OpenRecord) throws(RecordError) {
        let (type, isKnown) = open.state.withLock { ($0.type, $0.home != nil) }
        guard !isKnown else { return }
        let place = try place(of: type)
        open.state.withLock { $0.home = place }
    }

    /// - Parameter isFresh: whether to ask the store even when a listing has just read the row.
    private func entry(of file: RecordFile, isFresh: Bool) throws(RecordError) -> RecordEntry {
        if !isFresh, let known = state.withLock({ $0.entries.entry(file.record) }),
            known.file == file
        {
            return known
        }
        if let entry = try store.record(file.record), entry.file == file,
            entry.state != .waitingDelete
        {
            return entry
        }
        if let past = state.withLock({ $0.past[file] }), past.isOpenable { return past.entry }
        throw RecordError(.stale, "another file has the name; look it up again")
    }

    private func checkWritable(of open: OpenRecord) throws(RecordError) {
        do throws(RecordError) {
            let (file, type) = open.state.withLock { ($0.file, $0.type) }
            try checkWritable(file.record, in: type)
        } catch {
            close(open, writes: true)
            throw error
        }
    }

    /// Makes a file and opens it (create), or opens a file that has got the name in the meantime.
    package func create(
        parent: NodeNumber, name: [UInt8], mode: UInt32, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened) {
        let directory = try node(parent)
        if isOwn(caller), let answer = try adoptCreation(directory, name) {
            return answer
        }
        try checkWritable()
        try checkLength(name)
        try takeBackEnding(name, in: directory)
        switch try meaning(of: name, in: directory) {
        case .record(let type, let stem):
            return try createRecord(type, stem, flags: flags, caller: caller)
        case .asset(let file):
            try checkWritable(file.stem, in: file.type)
            if let created = try createAsset(file, flags: flags, caller: caller) { return created }
            // The field has got a file with another name in the meantime.
            return try createScratch(file.scratchPlace, mode: mode, flags: flags, caller: caller)
        case .scratch(let place):
            if try !resumeShare(at: place), let share = try findShare(place) {
                guard flags & O_EXCL == 0 else {
                    throw RecordError(.alreadyExists, "it is shared already")
                }
                let opened = try openShare(share, flags: flags)
                guard let entry = try entry(of: .share(share)) else { throw .noSuchFile }
                return (entry, opened)
            }
            let created = try createScratch(place, mode: mode, flags: flags, caller: caller)
            noteBeside(place)
            return created
        case .zone, .type, .owner, .database, .impossible:
            let refusal = RecordError(
                .notPermitted,
                "files belong into a TYPE directory: DATABASE/ZONE/TYPE/NAME.json")
            // Only a name that looks like a record is reported: editors try other names beside the
            // file that they write.
            guard name.suffix(5).elementsEqual(".json".utf8) else { throw refusal }
            return try telling(name, in: directory) { () throws(RecordError) in throw refusal }
        case .errorFile, .fixed, .control:
            if let made = try createMerge(name, in: directory, flags: flags) { return made }
            try checkMerge(name, in: directory)
            throw RecordError(.notPermitted, "no file can be made here")
        }
    }

    func checkLength(_ name: [UInt8]) throws(RecordError) {
        if name.count > 255 {
            throw RecordError(.nameTooLong, "a file name has at most 255 bytes")
        }
    }

    private func createRecord(
        _ type: TypeID, _ stem: Stem, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened) {
        try checkWritable(type)
        if let file = try findRecord(type, stem) {
            guard flags & O_EXCL == 0 else {
                throw RecordError(.alreadyExists, "\(stem).json is there already")
            }
            let open = try openRecord(file, writes: true)
            noteProgram(caller, of: open, flags: flags)
            if flags & O_TRUNC != 0 { try empty(open, writes: true) }
            return try created(open, flags: flags)
        }
        let open = try newRecord(type, stem)
        noteProgram(caller, of: open, flags: O_WRONLY)
        return try created(open, flags: flags)
    }

    private func created(_ open: OpenRecord, flags: Int32) throws(RecordError) -> (
        NodeEntry, Opened
    ) {
        guard let entry = try entry(of: .record(open.file)) else {
            throw RecordError(.stale, "the record is gone")
        }
        // The program that makes a file counts as a writer, even when it only reads: the empty text
        // needs an end.
        let handle = addHandle(.record(open), flags: flags | O_RDWR)
        return (entry, Opened(handle: handle, keepCache: true))
    }

    /// Makes a name that waits for its first save. A name that was deleted within the grace time
    /// means the same record again, but its row stays deleted until that save: a crash before it
    /// leaves the record deleted, never with its old text. This does not apply when that record has
    /// another name now.
    func newRecord(_ type: TypeID, _ stem: Stem) throws(RecordError) -> OpenRecord {
        var waiting = try row(type, stem)
        if let row = waiting, try store.hasGivenUpName(row) { waiting = nil }
        let file: RecordFile
        if let waiting {
            file = waiting.file
        } else {
            guard stem.decoded != nil else { throw .invalidStem(stem) }
            try checkNameable(stem, in: type)
            file = RecordFile(record: try store.reserveRecordID(), incarnation: 0)
        }
        let changed = waiting.map { max(store.nextChange(), $0.statusChanged + .nanoseconds(1)) }
        let open = OpenRecord(
            .init(
                file: file, type: type, stem: stem, isInStore: false, text: [], version: 1,
                modified: now, changed: changed ?? store.nextChange(),
                created: waiting?.created ?? now, handles: 1, writers: 1))
        try noteHome(of: open)
        state.withLock { state in
            state.open[file] = open
            state.pending[type, default: [:]][stem] = file
        }
        return open
    }
}

extension Tree {
    /// Refuses a file name under which no record can exist, before a file is made. The reason is in
    /// `.error`.
    func checkNameable(_ stem: Stem, in type: TypeID) throws(RecordError) {
        let place = try place(of: type)
        do throws(RecordError) {
            try store.checkNameable(stem, in: type, named: place.type, of: place.zone)
        } catch  where error.code == .invalidName || error.code == .alreadyExists {
            noteFailure(.unmade, "\(stem).json", in: type, error)
            throw error
        }
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

extension RecordError {
    static func invalidStem(_ stem: Stem) -> RecordError {
        let hint = NameCodec.encode(stem.bytes)
        return RecordError(
            .invalidName,
            "a record's file name spells special characters as %XX: try "
                + "\(String(decoding: hint, as: UTF8.self)).json")
    }
}
