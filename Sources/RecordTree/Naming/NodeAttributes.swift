import Glibc
import RecordModel
import RecordStore

/// The attributes and entries of nodes of all kinds.
final class NodeAttributes: Sendable {
    let assetFiles: AssetNodes
    let assets: OpenAssets
    let controlFiles: ControlFiles
    let errors: ErrorReports
    let handles: OpenHandles
    let modes: FileModes
    let mounted: Timestamp
    let nodes: Nodes
    let places: TypeDirectories
    let recordFiles: RecordFiles
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ shareRooms: ShareRooms, _ controlRooms: ControlRooms
    ) {
        assetFiles = assetRooms.assetFiles
        assets = assetRooms.assets
        controlFiles = controlRooms.controlFiles
        errors = ground.errors
        handles = ground.handles
        modes = ground.modes
        mounted = ground.mounted
        nodes = ground.nodes
        places = ground.places
        recordFiles = recordRooms.recordFiles
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
    }

    /// Returns the entry of a node, with one lookup counted. Returns nil when the node has just
    /// disappeared.
    func entry(of node: Node) throws(RecordError) -> NodeEntry? {
        guard let attributes = try attributes(of: node) else { return nil }
        return nodes.entry(of: node, attributes)
    }

    /// Returns an entry whose lookup is counted only when the kernel has taken it.
    func listedEntry(of node: Node) throws(RecordError) -> NodeEntry? {
        guard let attributes = try attributes(of: node) else { return nil }
        return nodes.listedEntry(of: node, attributes)
    }

    /// Returns the attributes of a node (getattr).
    func attributes(of number: NodeNumber, handle: HandleNumber?) throws(RecordError)
        -> (Attributes, isCacheable: Bool)
    {
        if let detached = assets.detached(number) {
            return (attributes(of: detached, number), false)
        }
        guard let node = nodes.find(number) else {
            guard number.isOfRemovable else { throw .staleNode }
            return (removedDirectory(number), false)
        }
        if case .scratch(let id) = node, let handle, let open = try? handles.find(handle),
            case .scratch(let file, id) = open.current
        {
            return (scratch.attributes(try file.status), true)
        }
        if case .control(let path) = node, let handle, let open = try? handles.find(handle),
            case .generated(path, let content) = open.current
        {
            return (controlFiles.attributes(of: content, path), false)
        }
        if var attributes = try attributes(of: node) {
            if let size = writtenSize(of: node, handle) { attributes.setSize(size) }
            return (attributes, node.isCacheable)
        }
        guard number.isOfRemovable else { throw .staleNode }
        return (removedDirectory(number), false)
    }

    /// Returns the size of a text that a program is writing to a file which takes text. Nil for
    /// every other file.
    private func writtenSize(of node: Node, _ handle: HandleNumber?) -> Int64? {
        guard let handle, case .command(let buffer)? = handles.open(handle)?.current else {
            return nil
        }
        let isOfHandle =
            switch (buffer.target, node) {
            case (.control(let path), .control(let asked)): path == asked
            case (.share(let file), .share(let asked)): file == asked
            default: false
            }
        return isOfHandle ? buffer.size : nil
    }

    /// Returns the attributes of a removed zone or type for a program whose working directory it
    /// is: an empty directory, as on other file systems.
    private func removedDirectory(_ number: NodeNumber) -> Attributes {
        var attributes = modes.directory(number, modified: mounted)
        attributes.links = 0
        return attributes
    }

    /// Returns the attributes of a file that has lost its name.
    private func attributes(of detached: OpenAsset, _ number: NodeNumber) -> Attributes {
        let shown = detached.shown
        var attributes = modes.file(
            number, size: shown.size, modified: shown.modified, changed: shown.changed, 0o644)
        attributes.links = 0
        return attributes
    }

    /// Returns the attributes of a node. Returns nil when its subject no longer exists.
    func attributes(of node: Node) throws(RecordError) -> Attributes? {
        switch node {
        case .root: return modes.directory(.root, modified: mounted)
        case .readme:
            return modes.file(.readme, size: Int64(Readme.text.count), modified: mounted, 0o444)
        case .database(let database):
            return modes.directory(NodeNumber(database), modified: modes.changed(in: database))
        case .owner(let owner):
            return modes.directory(
                NodeNumber(inodeOf: owner), modified: modes.changed(of: owner), isWritable: false)
        case .zone(let id):
            guard let zone = try store.zone(id) else { return nil }
            return modes.directory(
                nodes.inode(of: node), modified: zone.modified, changed: zone.shownChange,
                isWritable: zone.permission != .readOnly)
        case .type(let id):
            guard let type = try store.type(id) else { return nil }
            let place = try places.place(of: id)
            return modes.directory(
                NodeNumber(id), modified: type.modified,
                changed: max(type.statusChanged, place.zone.modeChanged),
                isWritable: place.zone.permission != .readOnly)
        case .record(let file): return try recordFiles.attributes(file)
        case .asset(let id): return try assetFiles.attributes(id)
        case .errorFile(let type):
            guard let report = try errors.report(of: type) else { return nil }
            return modes.file(
                NodeNumber(errorsOf: type), size: Int64(report.text.count),
                modified: report.since, 0o444)
        case .scratch(let id): return try scratch.status(id).map(scratch.attributes)
        case .control(let path): return try controlFiles.attributes(path)
        case .share(let file): return try shares.attributes(file)
        }
    }
}

extension ZoneInfo {
    /// The ctime of the zone's directory.
    fileprivate var shownChange: Timestamp { max(statusChanged, modeChanged) }
}
