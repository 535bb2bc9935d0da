import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Lists directories (opendir, readdirplus).
final class Listing: Sendable {
    let access: NodePermissions
    let control: ControlDirectory
    let handles: OpenHandles
    let modes: FileModes
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let options: TreeOptions
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore
    let typeListing: TypeListing

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ shareRooms: ShareRooms,
        _ controlRooms: ControlRooms, _ namingRooms: NamingRooms, typeListing: TypeListing
    ) {
        access = namingRooms.access
        control = controlRooms.control
        handles = ground.handles
        modes = ground.modes
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        options = ground.options
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
        self.typeListing = typeListing
    }

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
        case .type(let type): try typeListing.list(type, cursor, offset, add)
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
            return try naming.find(name, in: directory).flatMap(nodeAttributes.listedEntry)?
                .named(name, in: directory)
        } catch  where error.systemErrno == EACCES {
            var unknown = modes.file(
                NodeNumber(kind: .counted, row: 0), size: 0, modified: options.now, 0)
            unknown.mode = 0
            return NodeEntry(
                node: .none, attributes: unknown, isCacheable: false)
        }
    }

    func names(in node: Node) throws(RecordError) -> [[UInt8]] {
        switch node {
        case .root:
            return try [Readme.name] + Database.allCases.map { Array($0.name.utf8) }
                + self.scratch.names(.root)
        case .database(.shared):
            let owners = Set(try store.zones(in: .shared).map(\.owner))
            return try owners.sorted().map(\.fileName) + self.scratch.names(.database(.shared))
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
        let types = try store.model.shownTypes(in: zone)
        guard try store.zone(zone)?.database == .shared else { return types }
        let shared = Set(try shares.sharedRecords(in: zone).map(\.type))
        return types.filter { shared.contains($0.id) } + types.filter { !shared.contains($0.id) }
    }
}
