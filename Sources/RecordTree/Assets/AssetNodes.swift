import Glibc
import RecordModel
import RecordStore

/// The files of large fields: opening, making, reading and writing them.
final class AssetNodes: Sendable {
    let assetContent: AssetContent
    let assetSaving: AssetSaving
    let assets: OpenAssets
    let fetching: AssetFetching
    let fields: FieldFiles
    let handles: OpenHandles
    let modes: FileModes
    let options: TreeOptions
    let permissions: OwnPermissions
    let readers: FieldReaders
    let store: RecordStore

    init(
        _ ground: Ground, assetContent: AssetContent, assetSaving: AssetSaving, assets: OpenAssets,
        fetching: AssetFetching, fields: FieldFiles, readers: FieldReaders
    ) {
        self.assetContent = assetContent
        self.assetSaving = assetSaving
        self.assets = assets
        self.fetching = fetching
        self.fields = fields
        handles = ground.handles
        modes = ground.modes
        options = ground.options
        permissions = ground.permissions
        self.readers = readers
        store = ground.store
    }

    func open(
        _ id: AssetID, flags: Int32, caller: Requester
    ) throws(RecordError) -> Opened {
        let writes = flags & O_ACCMODE != O_RDONLY
        guard let entry = try store.assets.asset(id), let record = try store.record(entry.record)
        else {
            throw RecordError.goneAsset
        }
        let isEmptied = flags & O_TRUNC != 0
        if writes || isEmptied { try permissions.checkWritable(record.id, in: record.type) }
        let open = try open(entry, writes: writes, isEmptied: isEmptied)
        readers.noteProgram(caller, of: open, flags: flags)
        if isEmptied { try empty(open, writes: writes) }
        let handle = handles.add(.asset(open), flags: flags)
        return Opened(handle: handle, keepCache: true, needsNoFlush: !writes)
    }

    /// Returns the shared state of the asset's handles, with one more handle counted.
    func open(
        _ entry: AssetEntry, writes: Bool, isEmptied: Bool
    ) throws(RecordError) -> OpenAsset {
        while true {
            let writesBefore = assets.writes
            // The version is read first: changes after that count as not seen.
            let version = try store.assets.version(of: entry.record)
            guard let now = try store.assets.asset(entry.id) else { throw RecordError.goneAsset }
            let made = OpenAsset(
                now, content: try content(of: now, isEmptied: isEmptied), version: version)
            // Otherwise somebody has saved other bytes since the content was looked up.
            if let open = assets.share(made, unlessWrittenSince: writesBefore, writes: writes) {
                return open
            }
        }
    }

    private func content(of entry: AssetEntry, isEmptied: Bool) throws(RecordError) -> HostFile? {
        do throws(RecordError) {
            return try assetContent.storedContent(of: entry)
        } catch {
            // An emptied file may be damaged, because nobody needs its bytes: in this way it can be
            // written again.
            guard isEmptied else { throw error }
            return nil
        }
    }

    private func empty(_ open: OpenAsset, writes: Bool) throws(RecordError) {
        do throws(RecordError) {
            try truncate(open, to: 0)
        } catch {
            close(open, writes: writes)
            throw error
        }
        open.beginAnew()
    }

    /// Makes or opens an asset's file. Returns nil when the field has got a file with another name.
    func create(
        _ file: FieldFile, flags: Int32, caller: Requester
    ) throws(RecordError) -> (NodeEntry, Opened)? {
        if file.entry != nil, flags & O_EXCL != 0 {
            throw RecordError(.alreadyExists, "the asset is there already")
        }
        var made = file.entry
        if made == nil { made = try makeAsset(file) }
        guard let entry = made else { return nil }
        let isEmptied = flags & O_TRUNC != 0 || !(file.entry.map(hasBytes) ?? false)
        let open = try open(entry, writes: true, isEmptied: isEmptied)
        readers.noteProgram(caller, of: open, flags: O_WRONLY)
        if isEmptied { try empty(open, writes: true) }
        guard let attributes = try attributes(entry.id) else { throw RecordError.goneAsset }
        var node = assets.nodes.entry(of: .asset(entry.id), attributes)
        if file.index != nil { node.isCacheable = false }
        // The program that makes a file counts as a writer, even when it only reads.
        let handle = handles.add(.asset(open), flags: flags | O_RDWR)
        return (node, Opened(handle: handle, keepCache: true))
    }

    /// Returns whether the file has bytes already, or a program is writing them.
    private func hasBytes(_ entry: AssetEntry) -> Bool {
        entry.kind == .value || entry.hash != nil || assets.open(entry.id) != nil
    }

    /// Makes the row of a new asset whose bytes are not written yet. Returns nil when the field has
    /// a file with another name.
    private func makeAsset(_ file: FieldFile) throws(RecordError) -> AssetEntry? {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let record = try transaction.assets.holder(file.type, file.stem, file: file.name)
            if let row = try transaction.records.asset(record, file.field, file.index),
                row.fileName != file.name, let owner = try transaction.records.record(record),
                fields.isShown(row, of: owner)
            {
                return nil
            }
            return try transaction.assets.expectAsset(
                record, file.field, file.index, fileExtension: file.fileExtension)
        }
    }

    // MARK: Reading and writing

    func read(_ open: OpenAsset, offset: Int64, count: Int) throws(RecordError) -> ReadResult {
        try open.checkIsShared()
        if let file = open.file {
            return .file(file, offset: offset, count: count)
        }
        return fetching.fetch(open, offset: offset, count: count)
    }

    /// - Parameter offset: nil appends.
    func write(_ data: UnsafeRawBufferPointer, offset: Int64?, to open: OpenAsset)
        throws(RecordError)
    {
        try open.checkIsShared()
        let start = offset ?? open.shown.size
        do throws(RecordError) {
            try open.changing { () throws(RecordError) in
                try assetContent.workingCopy(of: open).write(data, offset: start)
            }
        } catch {
            open.noteFailure(offset: start, count: data.count, error)
            throw error
        }
        open.noteWrite(
            offset: start, count: data.count, now: options.now, changed: store.nextChange())
    }

    func truncate(_ open: OpenAsset, to size: Int64) throws(RecordError) {
        try open.checkIsShared()
        try open.changing { () throws(RecordError) in
            try assetContent.workingCopy(of: open, keepingBytes: size).truncate(to: size)
        }
        open.noteSize(size, now: options.now, changed: store.nextChange())
    }

    func truncate(_ id: AssetID, to size: Int64, handle: HandleNumber?) throws(RecordError) {
        if let handle, case .asset(let open) = try self.handles.find(handle).current {
            return try truncate(open, to: size)
        }
        guard let entry = try store.assets.asset(id), let record = try store.record(entry.record)
        else {
            throw RecordError(.stale, "the asset is gone")
        }
        try permissions.checkWritable(record.id, in: record.type)
        let open = try open(entry, writes: true, isEmptied: size == 0)
        defer { close(open, writes: true) }
        try truncate(open, to: size)
    }

    /// Removes a handle. With the last writer the content is saved.
    func close(_ open: OpenAsset, writes: Bool) {
        if writes, open.removeWriter() { saveLast(open) }
        assets.close(open)
    }

    private func saveLast(_ open: OpenAsset) {
        do throws(RecordError) {
            if !assetSaving.dropIncomplete(open) { return try assetSaving.save(open, isLast: true) }
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
        guard let entry = try store.assets.asset(id), entry.hash == nil else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.assets.forgetExpected(id)
        }
    }
}
