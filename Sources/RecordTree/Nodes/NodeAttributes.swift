import Glibc
package import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Returns the attributes of a node (getattr).
    package func attributes(of number: NodeNumber, handle: HandleNumber?) throws(RecordError)
        -> (Attributes, isCacheable: Bool)
    {
        if let detached = state.withLock({ $0.detached[number] }) {
            return (attributes(of: detached, number), false)
        }
        guard let node = state.withLock({ $0.nodes.node(number) }) else {
            guard number.isOfRemovable else { throw .staleNode }
            return (removedDirectory(number), false)
        }
        if case .scratch(let id) = node, let handle, let open = try? self.handle(handle),
            case .scratch(let file, id) = open.current
        {
            return (scratchAttributes(try file.status), true)
        }
        if case .control(let path) = node, let handle, let open = try? self.handle(handle),
            case .generated(path, let content) = open.current
        {
            return (self.attributes(of: content, path), false)
        }
        if let attributes = try attributes(of: node) { return (attributes, isCacheable(node)) }
        guard number.isOfRemovable else { throw .staleNode }
        return (removedDirectory(number), false)
    }

    /// Returns the attributes of a removed zone or type for a program whose working directory it
    /// is: an empty directory, as on other file systems.
    private func removedDirectory(_ number: NodeNumber) -> Attributes {
        var attributes = directory(number, modified: mounted)
        attributes.links = 0
        return attributes
    }

    /// Returns the attributes of a file that has lost its name.
    private func attributes(of detached: OpenHandle.Backing, _ number: NodeNumber) -> Attributes {
        var shown: (size: Int64, modified: Timestamp, changed: Timestamp) = (0, now, now)
        switch detached {
        case .asset(let open): shown = open.shown
        case .record, .scratch, .generated, .bytes, .errors, .share, .events, .command, .directory:
            break
        }
        var attributes = file(
            number, size: shown.size, modified: shown.modified, changed: shown.changed, 0o644)
        attributes.links = 0
        return attributes
    }

    func isCacheable(_ node: Node) -> Bool {
        switch node {
        case .control, .errorFile, .share: false
        default: true
        }
    }

    /// Returns the attributes of a node. Returns nil when its subject no longer exists.
    func attributes(of node: Node) throws(RecordError) -> Attributes? {
        switch node {
        case .root: return directory(.root, modified: mounted)
        case .readme: return file(.readme, size: Int64(Readme.text.count), modified: mounted, 0o444)
        case .database(let database):
            return directory(NodeNumber(database), modified: placesChanged)
        case .owner:
            return directory(inode(of: node), modified: placesChanged, isWritable: false)
        case .zone(let id):
            guard let zone = try store.zone(id) else { return nil }
            return directory(
                inode(of: node), modified: zone.modified, changed: zone.shownChange,
                isWritable: zone.permission != .readOnly)
        case .type(let id):
            guard let type = try store.type(id) else { return nil }
            let place = try place(of: id)
            return directory(
                NodeNumber(id), modified: type.modified,
                changed: max(type.statusChanged, place.zone.modeChanged),
                isWritable: place.zone.permission != .readOnly)
        case .record(let file): return try recordAttributes(file)
        case .asset(let id): return try assetAttributes(id)
        case .errorFile(let type):
            guard let report = try errorReport(of: type) else { return nil }
            return file(
                NodeNumber(errorsOf: type), size: Int64(report.text.count),
                modified: report.since, 0o444)
        case .scratch(let id): return try scratchStatus(id).map(scratchAttributes)
        case .control(let path): return try controlAttributes(path)
        case .share(let file): return try shareAttributes(file)
        }
    }

    /// The time of directories of places. The kernel keeps the listing of an empty directory until
    /// this time changes.
    private var placesChanged: Timestamp {
        state.withLock(\.placesChanged).map { max($0, mounted) } ?? mounted
    }

    func inode(of node: Node) -> NodeNumber {
        state.withLock { $0.nodes.number(of: node) } ?? NodeNumber(kind: .counted, row: 0)
    }

    /// - Parameter changed: the ctime. Nil for the same time as `modified`.
    func directory(
        _ number: NodeNumber, modified: Timestamp, changed: Timestamp? = nil,
        isWritable: Bool = true
    ) -> Attributes {
        let mode: UInt32 = isWritable && !options.isReadOnly ? 0o755 : 0o555
        return Attributes(
            inode: number.inode, mode: UInt32(S_IFDIR) | mode, links: 2, owner: options.owner,
            group: options.group, size: 0, blocks: 0, accessed: modified, modified: modified,
            changed: changed ?? modified)
    }

    /// - Parameter changed: the ctime. Nil for the same time as `modified`.
    func file(
        _ number: NodeNumber, size: Int64, modified: Timestamp, changed: Timestamp? = nil,
        _ mode: UInt32
    ) -> Attributes {
        Attributes(
            inode: number.inode, mode: UInt32(S_IFREG) | mode, owner: options.owner,
            group: options.group, size: size, blocks: Attributes.blocks(of: size),
            accessed: modified,
            modified: modified, changed: changed ?? modified)
    }

    /// Returns the mode of a record's file and of its large fields.
    func fileMode(of record: RecordID, in type: TypeID) throws(RecordError) -> FileMode {
        let zone = try place(of: type).zone
        var bits: UInt32 = 0o444
        if !options.isReadOnly, try store.permission(of: record, in: zone) == .readWrite {
            bits = 0o644
        }
        return FileMode(
            bits: bits, isAnnounced: zone.permission != .mixed, changed: zone.modeChanged)
    }

    private func file(
        _ number: NodeNumber, size: Int64, modified: Timestamp, changed: Timestamp,
        _ mode: FileMode
    ) -> Attributes {
        var attributes = file(
            number, size: size, modified: modified, changed: max(changed, mode.changed), mode.bits)
        attributes.isAnnounced = mode.isAnnounced
        return attributes
    }

    private func recordAttributes(_ file: RecordFile) throws(RecordError) -> Attributes? {
        if let shown = state.withLock({ $0.open[file] })?.shownAttributes {
            return self.file(
                NodeNumber(file), size: shown.size, modified: shown.modified,
                changed: shown.changed, try fileMode(of: file.record, in: shown.type))
        }
        // The row is read first: a file that is replaced at this moment is among the past files
        // before its row shows that.
        if let entry = try store.record(file.record), entry.file == file {
            return attributes(of: entry, mode: try fileMode(of: entry.id, in: entry.type))
        }
        return try pastAttributes(file)
    }

    /// Returns the attributes of a file that has lost its name, for a program that has it open or
    /// is about to open it.
    private func pastAttributes(_ file: RecordFile) throws(RecordError) -> Attributes? {
        let (open, past) = state.withLock { ($0.open[file], $0.past[file]) }
        var attributes: Attributes
        if let open {
            let (size, modified, changed, type) = open.state.withLock {
                (Int64($0.text?.count ?? 0), $0.modified, $0.changed, $0.type)
            }
            attributes = self.file(
                NodeNumber(file), size: size, modified: modified, changed: changed,
                try fileMode(of: file.record, in: type))
        } else if let past, past.isOpenable {
            attributes = self.attributes(
                of: past.entry, mode: try fileMode(of: file.record, in: past.entry.type))
        } else {
            return nil
        }
        attributes.links = 0
        return attributes
    }

    func attributes(of entry: RecordEntry, mode: FileMode) -> Attributes {
        file(
            NodeNumber(entry.file), size: entry.size, modified: entry.modified,
            changed: entry.statusChanged, mode)
    }

    private func assetAttributes(_ id: AssetID) throws(RecordError) -> Attributes? {
        guard let entry = try store.asset(id), let record = try store.record(entry.record) else {
            return nil
        }
        return attributes(of: entry, mode: try fileMode(of: record.id, in: record.type))
    }

    func attributes(of entry: AssetEntry, mode: FileMode) -> Attributes {
        let open = state.withLock { $0.assets[entry.id] }
        let shown = open?.shown
        return file(
            NodeNumber(entry.id, epoch: 0), size: shown?.size ?? entry.size,
            modified: shown?.modified ?? entry.modified,
            changed: max(shown?.changed ?? entry.statusChanged, entry.statusChanged), mode)
    }

    /// Returns the host's own attributes, with an inode number that no record has.
    func scratchAttributes(_ status: stat) -> Attributes {
        var attributes = status.attributes
        attributes.inode =
            NodeNumber(
                kind: .counted, row: Int64(truncatingIfNeeded: attributes.inode)
            ).inode
        return attributes
    }
}

/// The access that the user has to a record's file.
struct FileMode {
    let bits: UInt32
    /// Indicates whether the kernel is notified of changes. Where the permission of a record
    /// depends on its parent, there is no notice for all the files that change with the parent: the
    /// kernel asks each time.
    let isAnnounced: Bool
    /// The time of the last change of modes in the zone.
    let changed: Timestamp
}

extension ZoneInfo {
    /// The ctime of the zone's directory.
    fileprivate var shownChange: Timestamp { max(statusChanged, modeChanged) }
}

private struct ShownAttributes {
    let type: TypeID
    let size: Int64
    let modified: Timestamp
    let changed: Timestamp
}

extension OpenRecord {
    /// The attributes that getattr shows while the text is newer than the store. Nil when the store
    /// is up to date.
    fileprivate var shownAttributes: ShownAttributes? {
        state.withLock { state in
            guard let text = state.text, state.isDirty || !state.isInStore else { return nil }
            return ShownAttributes(
                type: state.type, size: Int64(text.count), modified: state.modified,
                changed: state.changed)
        }
    }
}
