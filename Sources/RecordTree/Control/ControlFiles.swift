import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    func controlAttributes(_ path: ControlPath) throws(RecordError) -> Attributes? {
        var attributes = kindAttributes(path)
        switch path.shape {
        case .directory: return attributes
        case .symlink:
            guard case .result(let set, let id) = path,
                let (target, modified) = try resultTarget(set, id)
            else { return nil }
            attributes.setContent(size: Int64(target.count), modified: modified)
        case .file:
            guard let (size, modified) = try controlSize(path) else { return nil }
            attributes.setContent(size: size, modified: modified)
        }
        return attributes
    }

    /// Returns attributes without size and time.
    func kindAttributes(_ path: ControlPath) -> Attributes {
        let mode: UInt32
        switch path.shape {
        case .directory(let isWritable):
            var attributes = directory(.none, modified: mounted, isWritable: isWritable)
            attributes.inode = path.inode
            return attributes
        case .symlink: mode = UInt32(S_IFLNK) | 0o777
        case .file(let permissions): mode = UInt32(S_IFREG) | permissions
        }
        var attributes = file(.none, size: 0, modified: mounted, 0)
        attributes.mode = mode
        attributes.inode = path.inode
        return attributes
    }

    /// Returns the size and the time of a file. A stream and `ctl` have none.
    private func controlSize(_ path: ControlPath) throws(RecordError)
        -> (Int64, Timestamp)?
    {
        if let shown = state.withLock({ $0.generated.shown(path) }) {
            return (shown.size, shown.modified)
        }
        switch path {
        case .events, .ctl: return (0, mounted)
        case .trashed(let id): return try store.trashEntry(id).map { ($0.size, $0.deleted) }
        case .version(let token):
            return try store.versionEntry(token).map { ($0.0.size, $0.0.at) }
        default: return try generatedContent(path).map { ($0.size, $0.modified) }
        }
    }

    func attributes(of content: GeneratedContent, _ path: ControlPath) -> Attributes {
        var attributes = kindAttributes(path)
        attributes.setContent(size: content.size, modified: content.modified)
        return attributes
    }

    func openControl(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        if flags & O_ACCMODE != O_RDONLY { return try openCommand(path, flags: flags) }
        let backing: OpenHandle.Backing
        switch path {
        case .events: backing = .events(events.open())
        case .ctl: backing = .bytes([])
        default:
            guard var content = try generatedContent(path) else {
                throw RecordError(.stale, "it is gone")
            }
            content.isOfOthers = try isOfOthers(path)
            state.withLock { $0.generated.open(path, content) }
            backing = .generated(path, content)
        }
        return Opened(handle: addHandle(backing, flags: flags), isDirect: true)
    }

    private func openCommand(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        guard controlTakesText(path) else {
            throw RecordError(.notPermitted, "the file is generated")
        }
        try checkWritable()
        var text: [UInt8]?
        if let content = try generatedContent(path), case .bytes(let bytes) = content.storage {
            text = bytes
        }
        let buffer = CommandBuffer(
            .control(path), base: text, isEmpty: flags & O_TRUNC != 0,
            isOfOthers: try isOfOthers(path))
        return Opened(handle: addHandle(.command(buffer), flags: flags), isDirect: true)
    }

    func controlTakesText(_ path: ControlPath) -> Bool {
        switch path {
        case .ctl, .schema(isProduction: false), .conflictFile(_, .merged): true
        default: false
        }
    }

    func makeControlDirectory(_ name: [UInt8], in path: ControlPath) throws(RecordError) -> Node {
        throw RecordError(
            .notPermitted, "directories below .recordfs are there when they are named")
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
