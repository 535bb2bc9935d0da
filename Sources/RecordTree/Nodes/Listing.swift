import Glibc
package import RecordModel
import RecordStore
import Synchronization

/// The place of a reader in a directory, and the parts that were fixed when the listing began.
///
/// Offsets stay valid while entries are added and removed. For rows the cursor is the row's id,
/// which never changes. Scratch names and first saves are a snapshot from the beginning of the
/// listing.
final class DirectoryCursor: Sendable {
    struct Snapshot {
        var pending: [(stem: Stem, file: RecordFile)] = []
        var names: [[UInt8]] = []
        var controls: [ControlName] = []
        /// Rows read ahead, so that one query serves many calls of the kernel, and the row before
        /// them.
        var records: ArraySlice<RecordEntry> = []
        var recordsFollow = RecordID(0)
    }
    /// The directory. Nil for one that was removed: it has no entries.
    let node: Node?
    let snapshot = Mutex(Snapshot())
    init(_ node: Node?) { self.node = node }
}

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

extension Tree {
    /// The number of rows that one query of a listing reads.
    private static let rowsAhead = 512

    package func openDirectory(_ number: NodeNumber) throws(RecordError) -> Opened {
        guard let node = try listedNode(number) else {
            return Opened(handle: addHandle(.directory(DirectoryCursor(nil)), flags: 0))
        }
        try checkListable(node)
        let handle = addHandle(.directory(DirectoryCursor(node)), flags: 0)
        return Opened(handle: handle, keepCache: isCacheable(node))
    }

    /// Returns the node of a directory. Returns nil for one that was removed while it is the
    /// working directory of a program.
    private func listedNode(_ number: NodeNumber) throws(RecordError) -> Node? {
        guard let node = state.withLock({ $0.nodes.node(number) }) else {
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
    package func list(
        _ number: HandleNumber, from offset: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        guard case .directory(let cursor) = try handle(number).current else {
            throw RecordError(.notDirectory, "not a directory")
        }
        switch cursor.node {
        case .type(let type): try list(type, cursor, offset, add)
        case .control(let path): try listControl(path, cursor, offset, add)
        case let node?: try listSnapshot(node, cursor, offset, add)
        case nil: return
        }
    }

    /// Counts a lookup for a listed entry that the kernel has taken.
    package func didList(_ entry: NodeEntry) {
        guard entry.node.kind == .counted else { return }
        state.withLock { state in
            if let node = state.nodes.node(entry.node) { _ = state.nodes.lookUp(node) }
        }
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
            return try find(name, in: directory).flatMap(listedEntry)
        } catch  where error.systemErrno == EACCES {
            var unknown = file(NodeNumber(kind: .counted, row: 0), size: 0, modified: now, 0)
            unknown.mode = 0
            return NodeEntry(
                node: .none, attributes: unknown, isCacheable: false)
        }
    }

    /// Returns an entry whose lookup is counted only when the kernel has taken it.
    private func listedEntry(of node: Node) throws(RecordError) -> NodeEntry? {
        guard let attributes = try attributes(of: node) else { return nil }
        let number = state.withLock { state in
            if let number = state.nodes.number(of: node) { return number }
            // Attributes in a listing need a number. A node without one gets it now, with no
            // counted lookup: `didList` counts the first one.
            return state.nodes.reserve(node)
        }
        return NodeEntry(node: number, attributes: attributes, isCacheable: isCacheable(node))
    }

    func names(in node: Node) throws(RecordError) -> [[UInt8]] {
        switch node {
        case .root:
            return try [Readme.name] + Database.allCases.map { Array($0.name.utf8) }
                + scratchNames(.root)
        case .database(.shared):
            let owners = Set(try store.zones(in: .shared).map(\.owner))
            return owners.sorted().map(\.fileName)
        case .database(let database):
            return try store.zones(in: database).map { NameCodec.encode($0.name.bytes) }
                + scratchNames(.database(database))
        case .owner(let owner):
            return try store.zones(in: .shared).filter { $0.owner == owner }
                .map { NameCodec.encode($0.name.bytes) }
        case .zone(let zone):
            let scratch = try scratchNames(.zone(zone))
            let types = try typesByShares(zone)
            let share = ScratchPlace(directory: .zone(zone), name: ShareName.zone)
            let isShared = try findShare(share) != nil && !scratch.contains(share.name)
            // The share is first, because `rm -r` removes in this order: after leaving the share it
            // removes nothing that belongs to the owner.
            return (isShared ? [share.name] : [])
                + types.map { ZoneMapping.plain.directoryName(of: $0.name) } + scratch
        case .scratch(let id): return try scratchNames(.scratch(id))
        case .type, .readme, .record, .asset, .errorFile, .control, .share: return []
        }
    }

    /// Returns the types of a zone, first those with files of shares. `rm -r` removes in this
    /// order: after leaving a share it removes none of the owner's records below it.
    private func typesByShares(_ zone: ZoneID) throws(RecordError) -> [TypeInfo] {
        let types = try store.types(in: zone)
        guard try store.zone(zone)?.database == .shared else { return types }
        let shared = Set(try sharedRecords(in: zone).map(\.type))
        return types.filter { shared.contains($0.id) } + types.filter { !shared.contains($0.id) }
    }

    private func list(
        _ type: TypeID, _ cursor: DirectoryCursor, _ offset: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        var (part, position) = Part.split(offset)
        if offset == 0 {
            let pending = state.withLock { $0.pending[type] ?? [:] }
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
        let hasOpen = state.withLock { !$0.open.isEmpty }
        let shownAlready = cursor.snapshot.withLock { Set($0.pending.map(\.file.record)) }
        var last = RecordID(Int64(position))
        var rows = try recordsAhead(type, cursor, after: last)
        while let row = rows.first {
            if !shownAlready.contains(row.id), !row.isAwaited {
                let mode = try fileMode(of: row.id, in: type)
                let attributes =
                    hasOpen
                    ? try attributes(of: .record(row.file)) ?? attributes(of: row, mode: mode)
                    : attributes(of: row, mode: mode)
                let number = state.withLock { $0.nodes.number(of: .record(row.file)) }
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
        let epoch = state.withLock { $0.entries.epoch }
        let rows = try store.records(in: type, after: id, limit: Self.rowsAhead)
        state.withLock { $0.entries.keep(rows, readAt: epoch) }
        return rows[...]
    }

    private func listAssets(
        _ type: TypeID, _ cursor: DirectoryCursor, _ position: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) -> Bool {
        var last = AssetID(Int64(position))
        while true {
            let rows = try store.assets(in: type, after: last, limit: Self.rowsAhead)
            for row in rows {
                let mode = try fileMode(of: row.record, in: type)
                let entry = NodeEntry(
                    node: inode(of: .asset(row.id)), attributes: attributes(of: row, mode: mode),
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
            let names = try scratchNames(.type(type))
            cursor.snapshot.withLock { $0.names = names }
        }
        let names = cursor.snapshot.withLock { $0.names }
        for index in Int(position)..<max(Int(position), names.count) {
            let place = ScratchPlace(directory: .type(type), name: names[index])
            // A local file with the name of a field's file is shown again when the field's file has
            // another name.
            guard case .scratch = try meaning(of: names[index], in: .type(type)),
                let id = try findScratch(place), let entry = try listedEntry(of: .scratch(id))
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
        let shares = try shares(in: type)
        for index in Int(position)..<max(Int(position), shares.count) {
            let (name, file) = shares[index]
            // A draft is listed with the other local files.
            guard try findScratch(ScratchPlace(directory: .type(type), name: name)) == nil,
                !isSetAside(file), let entry = try listedEntry(of: .share(file))
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
        return add(ListedEntry(name: Self.errorName, entry: entry, next: Part.pending.offset(0)))
    }
}
