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

/// Lists directories (opendir, readdirplus).
final class Listing: Sendable {
    let access: NodePermissions
    let assetFiles: AssetFiles
    let control: ControlDirectory
    let handles: OpenHandles
    let modes: FileModes
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let options: TreeOptions
    let recordFiles: RecordFiles
    let records: OpenRecords
    let rows: RecordRows
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms,
        _ namingRooms: NamingRooms
    ) {
        access = namingRooms.access
        assetFiles = assetRooms.assetFiles
        control = controlRooms.control
        handles = ground.handles
        modes = ground.modes
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        options = ground.options
        recordFiles = recordRooms.recordFiles
        records = recordRooms.records
        rows = ground.rows
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
    }

    /// The number of rows that one query of a listing reads.
    private static let rowsAhead = 512

    func openDirectory(_ number: NodeNumber) throws(RecordError) -> Opened {
        guard let node = try listedNode(number) else {
            return Opened(handle: handles.add(.directory(DirectoryCursor(nil)), flags: 0))
        }
        try access.checkListable(node)
        let handle = handles.add(.directory(DirectoryCursor(node)), flags: 0)
        return Opened(handle: handle, keepCache: node.isCacheable)
    }

    /// Returns the node of a directory. Returns nil for one that was removed while it is the
    /// working directory of a program.
    private func listedNode(_ number: NodeNumber) throws(RecordError) -> Node? {
        guard let node = nodes.find(number) else {
            guard number.isOfRemovable else { throw .staleNode }
            return nil
        }
        switch node {
        case .zone(let zone): return try store.zone(zone).map { _ in node }
        case .type(let type): return try store.type(type).map { _ in node }
        default: return node
        }
    }

    /// Lists from an offset on (readdirplus): calls `add` until it returns false. The list has no
    /// `.` and `..`. `add` must count a lookup with `didList` for each entry that it has taken.
    func list(
        _ number: HandleNumber, from offset: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        guard case .directory(let cursor) = try handles.find(number).current else {
            throw RecordError(.notDirectory, "not a directory")
        }
        switch cursor.node {
        case .type(let type): try list(type, cursor, offset, add)
        case .control(let path): try control.list(path, cursor, offset, add)
        case let node?: try listSnapshot(node, cursor, offset, add)
        case nil: return
        }
    }

    /// Counts a lookup for a listed entry that the kernel has taken.
    func didList(_ entry: NodeEntry) {
        guard entry.node.kind == .counted else { return }
        nodes.didList(entry.node)
    }

    /// Lists a directory with few names. They are read completely when the listing begins.
    private func listSnapshot(
        _ node: Node, _ cursor: DirectoryCursor, _ offset: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        if offset == 0 {
            let names = try names(in: node)
            cursor.snapshot.withLock { $0.names = names }
        }
        let names = cursor.snapshot.withLock { $0.names }
        for index in Int(clamping: offset)..<max(names.count, Int(clamping: offset)) {
            guard let entry = try listedEntry(names[index], in: node) else { continue }
            let listed = ListedEntry(name: names[index], entry: entry, next: UInt64(index) + 1)
            guard add(listed) else { return }
        }
    }

    /// Returns the entry of a listed name, or nil when it no longer exists. In a scratch directory
    /// that can be listed but not searched it is a name without a node, as for readdir on a disk.
    private func listedEntry(_ name: [UInt8], in directory: Node) throws(RecordError)
        -> NodeEntry?
    {
        do throws(RecordError) {
            return try naming.find(name, in: directory).flatMap(listedEntry)
        } catch  where error.systemErrno == EACCES {
            var unknown = modes.file(
                NodeNumber(kind: .counted, row: 0), size: 0, modified: options.now, 0)
            unknown.mode = 0
            return NodeEntry(
                node: .none, attributes: unknown, isCacheable: false)
        }
    }

    /// Returns an entry whose lookup is counted only when the kernel has taken it.
    private func listedEntry(of node: Node) throws(RecordError) -> NodeEntry? {
        guard let attributes = try nodeAttributes.attributes(of: node) else { return nil }
        return nodes.listedEntry(of: node, attributes)
    }

    func names(in node: Node) throws(RecordError) -> [[UInt8]] {
        switch node {
        case .root:
            return try [Readme.name] + Database.allCases.map { Array($0.name.utf8) }
                + self.scratch.names(.root)
        case .database(.shared):
            let owners = Set(try store.zones(in: .shared).map(\.owner))
            return owners.sorted().map(\.fileName)
        case .database(let database):
            return try store.zones(in: database).map { NameCodec.encode($0.name.bytes) }
                + self.scratch.names(.database(database))
        case .owner(let owner):
            return try store.zones(in: .shared).filter { $0.owner == owner }
                .map { NameCodec.encode($0.name.bytes) }
        case .zone(let zone):
            let scratch = try self.scratch.names(.zone(zone))
            let types = try typesByShares(zone)
            let share = ScratchPlace(directory: .zone(zone), name: ShareName.zone)
            let isShared = try shares.find(share) != nil && !scratch.contains(share.name)
            // The share is first, because `rm -r` removes in this order: after leaving the share it
            // removes nothing that belongs to the owner.
            return (isShared ? [share.name] : [])
                + types.map { ZoneMapping.plain.directoryName(of: $0.name) } + scratch
        case .scratch(let id): return try self.scratch.names(.scratch(id))
        case .type, .readme, .record, .asset, .errorFile, .control, .share: return []
        }
    }

    /// Returns the types of a zone, first those with files of shares. `rm -r` removes in this
    /// order: after leaving a share it removes none of the owner's records below it.
    private func typesByShares(_ zone: ZoneID) throws(RecordError) -> [TypeInfo] {
        let types = try store.types(in: zone)
        guard try store.zone(zone)?.database == .shared else { return types }
        let shared = Set(try shares.sharedRecords(in: zone).map(\.type))
        return types.filter { shared.contains($0.id) } + types.filter { !shared.contains($0.id) }
    }

    private func list(
        _ type: TypeID, _ cursor: DirectoryCursor, _ offset: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        var (part, position) = Part.split(offset)
        if offset == 0 {
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
            guard let entry = try listedEntry(of: .record(file)) else { continue }
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
        while let row = rows.first {
            if !shownAlready.contains(row.id), !row.isAwaited {
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
            last = row.id
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
        return try rows.rows(in: type, after: id, limit: Self.rowsAhead)[...]
    }

    private func listAssets(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        var last = AssetID(Int64(position))
        while true {
            let rows = try store.assets(in: type, after: last, limit: Self.rowsAhead)
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
                let id = try scratch.find(place), let entry = try listedEntry(of: .scratch(id))
            else { continue }
            let listed = ListedEntry(
                name: names[index], entry: entry, next: Part.scratch.offset(UInt64(index) + 1))
            guard add(listed) else { return false }
        }
        return true
    }

    private func listShares(
        _ type: TypeID, _ position: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        let shares = try self.shares.files(in: type)
        for index in Int(position)..<max(Int(position), shares.count) {
            let (name, file) = shares[index]
            // A draft is listed with the other local files.
            guard try scratch.find(ScratchPlace(directory: .type(type), name: name)) == nil,
                !self.shares.isSetAside(file), let entry = try listedEntry(of: .share(file))
            else { continue }
            let listed = ListedEntry(
                name: name, entry: entry, next: Part.shares.offset(UInt64(index) + 1))
            guard add(listed) else { return false }
        }
        return true
    }

    private func listErrors(_ type: TypeID, _ add: (ListedEntry) -> Bool) throws(RecordError)
        -> Bool
    {
        guard let entry = try listedEntry(of: .errorFile(type)) else { return true }
        return add(
            ListedEntry(name: NameMeaning.errorName, entry: entry, next: Part.pending.offset(0)))
    }
}
