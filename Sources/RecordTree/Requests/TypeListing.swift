import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The parts of a listing, in order; a part is in the top bits of the offset.
private enum Part: UInt64 {
    /// The first part, because `rm -r` removes in this order: after leaving a share it removes
    /// nothing that belongs to the owner.
    case shares = 0
    /// The `.error` file. It is before the drafts, because it disappears with them.
    case errors = 1
    case pending = 2
    case records = 3
    case assets = 4
    case scratch = 5
    case end = 6

    func offset(_ cursor: UInt64) -> UInt64 { rawValue << 56 | cursor & (1 << 56 - 1) }
    func offset(after row: Int64) -> UInt64 { offset(UInt64(bitPattern: row)) }
    static func split(_ offset: UInt64) -> (Part, UInt64) {
        (Part(rawValue: offset >> 56) ?? .end, offset & (1 << 56 - 1))
    }
}

/// Lists TYPE directories, part by part.
final class TypeListing: Sendable {
    let assetFiles: AssetNodes
    let modes: FileModes
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let recordFiles: RecordFiles
    let records: OpenRecords
    let rows: CachedRows
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ namingRooms: NamingRooms
    ) {
        assetFiles = assetRooms.assetFiles
        modes = ground.modes
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        recordFiles = recordRooms.recordFiles
        records = recordRooms.records
        rows = ground.rows
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
    }

    /// The number of rows that one query of a listing reads.
    private static let rowsAhead = 512

    /// Lists from an offset on: calls `add` until it returns false.
    func list(
        _ type: TypeID, _ cursor: DirectoryCursor, _ offset: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        var (part, position) = Part.split(offset)
        if offset == 0 {
            records.arrivals.noteListing(type)
            let pending = records.pending(in: type)
            cursor.snapshot.withLock { snapshot in
                snapshot.pending = pending.map { ($0.key, $0.value) }
                    .sorted { $0.file.record < $1.file.record }
                snapshot.records = []
            }
        }
        while part != .end {
            let isDone =
                switch part {
                case .shares: try listShares(type, position, add)
                case .errors: try listErrors(type, add)
                case .pending: try listPending(type, cursor, position, add)
                case .records: try listRecords(type, cursor, position, add)
                case .assets: try listAssets(type, cursor, position, add)
                case .scratch: try listScratch(type, cursor, position, add)
                case .end: true
                }
            guard isDone else { return }
            part = Part(rawValue: part.rawValue + 1) ?? .end
            position = 0
        }
    }

    private func listPending(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        let pending = cursor.snapshot.withLock { $0.pending }
        for index in Int(position)..<max(Int(position), pending.count) {
            let (stem, file) = pending[index]
            guard let entry = try nodeAttributes.listedEntry(of: .record(file)) else { continue }
            let listed = ListedEntry(
                name: stem.fileName, entry: entry, next: Part.pending.offset(UInt64(index) + 1))
            guard add(listed) else { return false }
        }
        return true
    }

    private func listRecords(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        let hasOpen = records.count > 0
        let shownAlready = cursor.snapshot.withLock { Set($0.pending.map(\.file.record)) }
        var last = RecordID(Int64(position))
        var rows = try recordsAhead(type, cursor, after: last)
        while let read = rows.first {
            if !shownAlready.contains(read.id), let row = try current(read, cursor), !row.isAwaited
            {
                let mode = try modes.fileMode(of: row.id, in: type)
                let attributes =
                    hasOpen
                    ? try nodeAttributes.attributes(of: .record(row.file))
                        ?? recordFiles.attributes(of: row, mode: mode)
                    : recordFiles.attributes(of: row, mode: mode)
                let number = nodes.number(of: .record(row.file))
                let listed = ListedEntry(
                    name: row.stem.fileName,
                    entry: NodeEntry(
                        node: number ?? NodeNumber(row.file), attributes: attributes,
                        isCacheable: true),
                    next: Part.records.offset(after: row.id.rawValue))
                guard add(listed) else {
                    let (left, follow) = (rows, last)
                    cursor.snapshot.withLock {
                        $0.records = left
                        $0.recordsFollow = follow
                    }
                    return false
                }
            }
            last = read.id
            rows = rows.dropFirst()
            if rows.isEmpty { rows = try recordsAhead(type, cursor, after: last) }
        }
        return true
    }

    /// Returns the rows read ahead when they continue exactly here, otherwise the next rows of the
    /// store.
    private func recordsAhead(_ type: TypeID, _ cursor: DirectoryCursor, after id: RecordID)
        throws(RecordError) -> ArraySlice<RecordEntry>
    {
        let ahead: ArraySlice<RecordEntry> = cursor.snapshot.withLock { snapshot in
            defer { snapshot.records = [] }
            return snapshot.recordsFollow == id ? snapshot.records : []
        }
        if !ahead.isEmpty { return ahead }
        let commits = store.commits
        cursor.snapshot.withLock { $0.commits = commits }
        return try rows.rows(in: type, after: id, limit: Self.rowsAhead)[...]
    }

    /// Returns the row as it is now. Returns nil for a row that shows nothing any more: the kernel
    /// keeps what a listing says of a name.
    private func current(
        _ row: RecordEntry, _ cursor: DirectoryCursor
    ) throws(RecordError) -> RecordEntry? {
        let commits = store.commits
        if commits == nil || cursor.snapshot.withLock({ $0.commits }) == commits { return row }
        guard let now = try store.record(row.id), now.type == row.type, !now.isHidden else {
            return nil
        }
        return now
    }

    private func listAssets(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        var last = AssetID(Int64(position))
        while true {
            let rows = try store.assets.assets(in: type, after: last, limit: Self.rowsAhead)
            for row in rows {
                let mode = try modes.fileMode(of: row.record, in: type)
                let entry = NodeEntry(
                    node: nodes.inode(of: .asset(row.id)),
                    attributes: assetFiles.attributes(of: row, mode: mode),
                    isCacheable: row.index == nil)
                let listed = ListedEntry(
                    name: row.fileName, entry: entry,
                    next: Part.assets.offset(after: row.id.rawValue))
                guard add(listed) else { return false }
                last = row.id
            }
            if rows.count < Self.rowsAhead { return true }
        }
    }

    private func listScratch(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        if position == 0 {
            let names = try scratch.names(.type(type))
            cursor.snapshot.withLock { $0.names = names }
        }
        let names = cursor.snapshot.withLock { $0.names }
        for index in Int(position)..<max(Int(position), names.count) {
            let place = ScratchPlace(directory: .type(type), name: names[index])
            // A local file with the name of a field's file is shown again when the field's file has
            // another name.
            guard case .scratch = try naming.meaning(of: names[index], in: .type(type)),
                let id = try scratch.find(place),
                let entry = try nodeAttributes.listedEntry(of: .scratch(id))
            else { continue }
            let listed = ListedEntry(
                name: names[index], entry: entry.named(names[index], in: .type(type)),
                next: Part.scratch.offset(UInt64(index) + 1))
            guard add(listed) else { return false }
        }
        return true
    }

    private func listShares(
        _ type: TypeID, _ position: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        // Shares end while they are listed, so that the offset is the row of the last one's record.
        for (name, record) in try shares.files(in: type)
        where record.rawValue > Int64(position) {
            let file = ShareFile.record(record)
            // A draft is listed with the other local files.
            guard try scratch.find(ScratchPlace(directory: .type(type), name: name)) == nil,
                !shares.isSetAside(file),
                let entry = try nodeAttributes.listedEntry(of: .share(file))
            else { continue }
            let listed = ListedEntry(
                name: name, entry: entry, next: Part.shares.offset(after: record.rawValue))
            guard add(listed) else { return false }
        }
        return true
    }

    private func listErrors(_ type: TypeID, _ add: (ListedEntry) -> Bool) throws(RecordError)
        -> Bool
    {
        guard let entry = try nodeAttributes.listedEntry(of: .errorFile(type)) else { return true }
        return add(
            ListedEntry(name: NameMeaning.errorName, entry: entry, next: Part.pending.offset(0)))
    }
}
