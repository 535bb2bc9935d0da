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

    /// The shared state of the asset's handles, with one more handle counted.
    func openAsset(
        _ entry: AssetEntry, writes: Bool, isEmptied: Bool
    ) throws(RecordError) -> OpenAsset {
        while true {
            let writesBefore = state.withLock { $0.assetWrites }
            // The version first: what comes between counts as not seen.
            let version = try store.version(of: entry.record)
            guard let now = try store.asset(entry.id) else { throw Self.goneAsset }
            let made = OpenAsset(
                now, content: try content(of: now, isEmptied: isEmptied), version: version)
            // Else somebody has saved other bytes while these were looked for.
            if let open = share(made, unlessWrittenSince: writesBefore, writes: writes) {
                return open
            }
        }
    }

    private func content(of entry: AssetEntry, isEmptied: Bool) throws(RecordError) -> HostFile? {
        do throws(RecordError) {
            return try storedContent(of: entry)
        } catch {
            // Bytes that nobody wants may be damaged: so such a file is written anew.
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

    /// The file of an asset's bytes; nil when they are not on this machine.
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

    /// Whether the file of an asset is not here any more, and is fetched like any other: it was given up
    /// since the row was read, or a power cut has left its row behind.
    private func comesAgain(_ entry: AssetEntry, _ hash: ContentHash) throws(RecordError) -> Bool {
        if let now = try store.asset(entry.id), !now.isDownloaded { return true }
        return try store.noteMissingAsset(hash)
    }

    /// An anonymous file with these bytes.
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

    /// Nil when the field has got a file of another name.
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
        // Who makes a file is a writer, also one that only reads.
        let handle = addHandle(.asset(open), flags: flags | O_RDWR)
        return (node, Opened(handle: handle, keepCache: true))
    }

    /// A row for a new asset, whose bytes are still to come.
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

    /// A file of this machine whose name is like that of a large field.
    func noteBeside(_ place: ScratchPlace) {
        guard case .type(let type) = place.directory,
            case .asset(let file) = plainMeaning(of: place.name, in: .type(type)),
            !TemporaryName.isBesideField(place.name)
        else { return }
        state.withLock { $0.movedFields.made(file) }
    }

    /// The file that writes go to, with the first `keepingBytes` of the stored content.
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

    /// The bytes that have come since it was opened.
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
            // It is told already, and nobody listens to release.
        }
        do throws(RecordError) {
            try forgetExpected(open)
        } catch {
            options.report(
                "\(open.stem)@\(open.place.field) keeps the name of a file that was refused: \(error)"
            )
        }
    }

    /// Another name may be the field's, where none of its files has ever been taken.
    private func forgetExpected(_ open: OpenAsset) throws(RecordError) {
        let id = open.id
        guard let entry = try store.asset(id), entry.hash == nil else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.forgetExpected(id)
        }
    }
}
