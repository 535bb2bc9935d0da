import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    func openAsset(
        _ id: AssetID, flags: Int32, caller: Requester
    ) throws(RecordError) -> Opened {
        let writes = flags & O_ACCMODE != O_RDONLY
        guard let entry = try store.asset(id), let record = try store.record(entry.record) else {
            throw Self.goneAsset
        }
        let isEmptied = flags & O_TRUNC != 0
        if writes || isEmptied { try checkWritable(record.id, in: record.type) }
        let open = try openAsset(entry, writes: writes, isEmptied: isEmptied)
        noteProgram(caller, of: open, flags: flags)
        if isEmptied { try empty(open, writes: writes) }
        let handle = addHandle(.asset(open), flags: flags)
        return Opened(handle: handle, keepCache: true, needsNoFlush: !writes)
    }

    /// Returns the shared state of the asset's handles, with one more handle counted.
    func openAsset(
        _ entry: AssetEntry, writes: Bool, isEmptied: Bool
    ) throws(RecordError) -> OpenAsset {
        while true {
            let writesBefore = state.withLock { $0.assetWrites }
            // The version is read first: changes after that count as not seen.
            let version = try store.version(of: entry.record)
            guard let now = try store.asset(entry.id) else { throw Self.goneAsset }
            let made = OpenAsset(
                now, content: try content(of: now, isEmptied: isEmptied), version: version)
            // Otherwise somebody has saved other bytes since the content was looked up.
            if let open = share(made, unlessWrittenSince: writesBefore, writes: writes) {
                return open
            }
        }
    }

    private func content(of entry: AssetEntry, isEmptied: Bool) throws(RecordError) -> HostFile? {
        do throws(RecordError) {
            return try storedContent(of: entry)
        } catch {
            // An emptied file may be damaged, because nobody needs its bytes: in this way it can be
            // written again.
            guard isEmptied else { throw error }
            return nil
        }
    }

    private func empty(_ open: OpenAsset, writes: Bool) throws(RecordError) {
        do throws(RecordError) {
            try open.truncate(to: 0, in: self)
        } catch {
            close(open, writes: writes)
            throw error
        }
        open.beginAnew()
    }

    static let goneAsset = RecordError(.stale, "the asset is gone")

    private func share(_ made: OpenAsset, unlessWrittenSince before: UInt64, writes: Bool)
        -> OpenAsset?
    {
        state.withLock { state in
            let id = made.id
            guard let open = state.assets[id] ?? (state.assetWrites == before ? made : nil) else {
                return nil
            }
            state.assets[id] = open
            open.state.withLock { state in
                state.handles += 1
                if writes { state.writers += 1 }
            }
            return open
        }
    }

    /// Returns the file of an asset's bytes. Returns nil when they are not on this machine.
    func storedContent(of entry: AssetEntry) throws(RecordError) -> HostFile? {
        if let bytes = try store.inlineValue(of: entry) { return try temporaryFile(bytes) }
        guard let hash = entry.hash, entry.isDownloaded else { return nil }
        do throws(RecordError) {
            try store.checkAsset(hash, size: entry.size)
        } catch {
            if try comesAgain(entry, hash) { return nil }
            let type = try store.record(entry.record)?.type
            if let type { noteFailure(.unread, "\(entry.stem)@\(entry.field)", in: type, error) }
            throw error
        }
        return try HostFile(path: Array(store.assetPath(hash).utf8), flags: O_RDONLY)
    }

    /// Returns whether the file of an asset is missing in a regular way and can be downloaded
    /// again: it was removed from the cache since the row was read, or a power cut has left its row
    /// behind.
    private func comesAgain(_ entry: AssetEntry, _ hash: ContentHash) throws(RecordError) -> Bool {
        if let now = try store.asset(entry.id), !now.isDownloaded { return true }
        return try store.noteMissingAsset(hash)
    }

    /// Makes an anonymous file with these bytes.
    func temporaryFile(_ bytes: [UInt8]) throws(RecordError) -> HostFile {
        let (file, path) = try newWorkingFile()
        guard withPath(path, { unlink($0) }) == 0 else { throw .lastSystemError("unlink", path) }
        try file.writeAll(bytes)
        return file
    }

    private func newWorkingFile() throws(RecordError) -> (HostFile, [UInt8]) {
        let path = Array(store.pathForUnfinishedAsset().utf8)
        return (try HostFile(path: path, flags: O_RDWR | O_CREAT | O_EXCL), path)
    }

    /// Makes or opens an asset's file. Returns nil when the field has got a file with another name.
    func createAsset(
        _ file: FieldFile, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened)? {
        if file.entry != nil, flags & O_EXCL != 0 {
            throw RecordError(.alreadyExists, "the asset is there already")
        }
        var made = file.entry
        if made == nil { made = try makeAsset(file) }
        guard let entry = made else { return nil }
        let isEmptied = file.entry?.hash == nil || flags & O_TRUNC != 0
        let open = try openAsset(entry, writes: true, isEmptied: isEmptied)
        noteProgram(caller, of: open, flags: O_WRONLY)
        if isEmptied { try empty(open, writes: true) }
        guard var node = try self.entry(of: .asset(entry.id)) else {
            throw Self.goneAsset
        }
        if file.index != nil { node.isCacheable = false }
        // The program that makes a file counts as a writer, even when it only reads.
        let handle = addHandle(.asset(open), flags: flags | O_RDWR)
        return (node, Opened(handle: handle, keepCache: true))
    }

    /// Makes the row of a new asset whose bytes are not written yet. Returns nil when the field has
    /// a file with another name.
    private func makeAsset(_ file: FieldFile) throws(RecordError) -> AssetEntry? {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let record = try transaction.holder(file.type, file.stem, file: file.name)
            if let row = try transaction.asset(record, file.field, file.index),
                row.fileName != file.name, let owner = try transaction.record(record),
                isShown(row, of: owner)
            {
                return nil
            }
            return try transaction.expectAsset(
                record, file.field, file.index, fileExtension: file.fileExtension)
        }
    }

    /// Notes that a local file was made whose name is like that of a large field.
    func noteBeside(_ place: ScratchPlace) {
        guard case .type(let type) = place.directory,
            case .asset(let file) = plainMeaning(of: place.name, in: .type(type)),
            !TemporaryName.isBesideField(place.name)
        else { return }
        state.withLock { $0.movedFields.made(file) }
    }

    /// Returns the file that writes change, with the first `keepingBytes` bytes of the stored
    /// content.
    func workingCopy(of open: OpenAsset, keepingBytes limit: Int64 = .max) throws(RecordError)
        -> HostFile
    {
        let (known, isWorking) = open.state.withLock { ($0.file, $0.workingCopy != nil) }
        if isWorking, let known { return known }
        let isAnew = limit == 0 || open.shown.size == 0
        let current = known == nil && !isAnew ? try arrivedContent(of: open) : known
        let (file, path) = try newWorkingFile()
        if let current {
            try file.copy(from: current, count: min(limit, Int64(try current.status.st_size)))
        }
        open.state.withLock { state in
            state.file = file
            state.workingCopy = path
            state.imported = nil
        }
        return file
    }

    /// Returns the bytes that were downloaded since the asset was opened.
    private func arrivedContent(of open: OpenAsset) throws(RecordError) -> HostFile {
        guard let entry = try store.asset(open.id) else { throw Self.goneAsset }
        guard entry.isDownloaded, let content = try storedContent(of: entry) else {
            throw RecordError(.unavailable, "the bytes of the asset are not on this machine yet")
        }
        return content
    }

    func truncateAsset(_ id: AssetID, to size: Int64, handle: HandleNumber?) throws(RecordError) {
        if let handle, case .asset(let open) = try self.handle(handle).current {
            return try open.truncate(to: size, in: self)
        }
        guard let entry = try store.asset(id), let record = try store.record(entry.record) else {
            throw RecordError(.stale, "the asset is gone")
        }
        try checkWritable(record.id, in: record.type)
        let open = try openAsset(entry, writes: true, isEmptied: size == 0)
        defer { close(open, writes: true) }
        try open.truncate(to: size, in: self)
    }

    func close(_ open: OpenAsset, writes: Bool) {
        let isLastWriter = open.state.withLock { state in
            if writes { state.writers -= 1 }
            return writes && state.writers == 0
        }
        if isLastWriter { saveLast(open) }
        state.withLock { state in
            let isDone = open.state.withLock { open in
                open.handles -= 1
                return open.handles == 0
            }
            guard isDone else { return }
            if state.assets[open.id] === open { state.assets[open.id] = nil }
            state.forgetDetached { $0.isAsset(open) }
        }
    }

    private func saveLast(_ open: OpenAsset) {
        do throws(RecordError) {
            if !dropIncomplete(open) { return try save(open, isLast: true) }
        } catch {
            // The failure is already reported, and no caller receives an error of release.
        }
        do throws(RecordError) {
            try forgetExpected(open)
        } catch {
            options.report(
                "\(open.stem)@\(open.place.field) keeps the name of a file that was refused: \(error)"
            )
        }
    }

    /// Frees the expected name of a field none of whose files was ever saved: the next file may
    /// have another name.
    private func forgetExpected(_ open: OpenAsset) throws(RecordError) {
        let id = open.id
        guard let entry = try store.asset(id), entry.hash == nil else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.forgetExpected(id)
        }
    }
}
