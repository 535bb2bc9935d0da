import Glibc
import RecordModel
import RecordStore

/// The files below `.recordfs`.
final class ControlFiles: Sendable {
    let conflicts: Conflicts
    let control: ControlDirectory
    let controlTexts: ControlTexts
    let events: EventLog
    let handles: OpenHandles
    let kept: KeptContents
    let mounted: Timestamp
    let nodes: Nodes
    let permissions: OwnPermissions
    let places: TypeDirectories
    let store: RecordStore

    init(
        _ ground: Ground, conflicts: Conflicts, control: ControlDirectory,
        controlTexts: ControlTexts, kept: KeptContents
    ) {
        self.conflicts = conflicts
        self.control = control
        self.controlTexts = controlTexts
        events = ground.events
        handles = ground.handles
        self.kept = kept
        mounted = ground.mounted
        nodes = ground.nodes
        permissions = ground.permissions
        places = ground.places
        store = ground.store
    }

    /// Makes the `merged.json` that was removed recently. Returns nil for every other name.
    func createMerge(
        _ name: [UInt8], in directory: Node, flags: Int32
    ) throws(RecordError) -> (NodeEntry, Opened)? {
        guard let id = conflicts.merged(by: name, in: directory),
            conflicts.takeRemovedMerge(id)
        else { return nil }
        let path = ControlPath.conflictFile(id, .merged)
        guard let attributes = try attributes(path) else { return nil }
        let entry = nodes.entry(of: .control(path), attributes)
        // Making the file does not settle the conflict, only its content does.
        try store.write(author: .restore, isFreeing: true) { transaction throws(RecordError) in
            try transaction.merging.reopen(id)
        }
        return (entry, try open(path, flags: flags | O_WRONLY | O_TRUNC))
    }

    func attributes(_ path: ControlPath) throws(RecordError) -> Attributes? {
        var attributes = control.kindAttributes(path)
        switch path.shape {
        case .directory: return attributes
        case .symlink:
            guard case .result(let set, let id) = path,
                let (target, modified) = try control.resultTarget(set, id)
            else { return nil }
            attributes.setContent(size: Int64(target.count), modified: modified)
        case .file:
            guard let (size, modified) = try controlSize(path) else { return nil }
            attributes.setContent(size: size, modified: modified)
        }
        return attributes
    }

    /// Returns the size and the time of a file. A stream and `ctl` have none.
    private func controlSize(_ path: ControlPath) throws(RecordError)
        -> (Int64, Timestamp)?
    {
        if let shown = kept.shown(path) {
            return (shown.size, shown.modified)
        }
        switch path {
        case .events, .ctl: return (0, mounted)
        case .trashed(let id): return try store.past.trashEntry(id).map { ($0.size, $0.deleted) }
        case .version(let token):
            return try store.past.versionEntry(token).map { ($0.0.size, $0.0.at) }
        case .pastAsset(let version, let field, let index):
            return try control.moments.asset(version, field, index).map {
                ($0.asset.size, $0.at)
            }
        default: return try controlTexts.content(path).map { ($0.size, $0.modified) }
        }
    }

    func attributes(of content: GeneratedContent, _ path: ControlPath) -> Attributes {
        var attributes = control.kindAttributes(path)
        attributes.setContent(size: content.size, modified: content.modified)
        return attributes
    }

    func open(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        if flags & O_ACCMODE != O_RDONLY { return try openCommand(path, flags: flags) }
        let backing: OpenHandle.Backing
        var isKept = false
        switch path {
        case .events: backing = .events(events.open())
        case .ctl: backing = .bytes([])
        default:
            guard var content = try controlTexts.content(path) else {
                throw RecordError(.stale, "it is gone")
            }
            content.isOfOthers = try isOfOthers(path)
            // A version never changes. The kernel may keep it, unless it belongs to others, who may
            // end the share.
            isKept = path.isVersion && !content.isOfOthers
            kept.open(path, content)
            backing = .generated(path, content)
        }
        return Opened(
            handle: handles.add(backing, flags: flags), keepCache: isKept, isDirect: !isKept)
    }

    private func openCommand(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        guard takesText(path) else {
            throw RecordError(.notPermitted, "the file is generated")
        }
        try permissions.checkWritable()
        var text: [UInt8]?
        if let content = try controlTexts.content(path), case .bytes(let bytes) = content.storage {
            text = bytes
        }
        let buffer = CommandBuffer(
            .control(path), base: text, isEmpty: flags & O_TRUNC != 0,
            isOfOthers: try isOfOthers(path))
        return Opened(handle: handles.add(.command(buffer), flags: flags), isDirect: true)
    }

    func takesText(_ path: ControlPath) -> Bool {
        switch path {
        case .ctl, .schema(isProduction: false), .conflictFile(_, .merged): true
        default: false
        }
    }
}

extension ControlPath {
    /// Indicates whether it is a file whose content never changes.
    fileprivate var isVersion: Bool {
        switch self {
        case .version, .pastAsset: true
        default: false
        }
    }
}

extension Attributes {
    fileprivate mutating func setContent(size: Int64, modified: Timestamp) {
        self.size = size
        blocks = (size + 511) / 512
        accessed = modified
        self.modified = modified
        changed = modified
    }
}
