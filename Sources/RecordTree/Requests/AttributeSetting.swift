import Glibc
import RecordModel
import RecordStore

/// Changes attributes (setattr).
final class AttributeSetting: Sendable {
    let access: NodePermissions
    let assetFiles: AssetNodes
    let assets: OpenAssets
    let controlFiles: ControlFiles
    let handles: OpenHandles
    let kernel: KernelNotifier
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let options: TreeOptions
    let recordFiles: RecordFiles
    let records: OpenRecords
    let rows: CachedRows
    let saving: RecordSaving
    let scratch: ScratchFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ assetRooms: AssetRooms,
        _ recordRooms: RecordRooms, _ controlRooms: ControlRooms, _ namingRooms: NamingRooms
    ) {
        access = namingRooms.access
        assetFiles = assetRooms.assetFiles
        assets = assetRooms.assets
        controlFiles = controlRooms.controlFiles
        handles = ground.handles
        kernel = ground.kernel
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        options = ground.options
        recordFiles = recordRooms.recordFiles
        records = recordRooms.records
        rows = ground.rows
        saving = recordRooms.saving
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Changes attributes: chmod, chown, truncate, utimens (setattr). A change to the current value
    /// succeeds without any effect, because every editor and copier repeats it.
    func setAttributes(
        of number: NodeNumber, _ changes: NodeChanges, handle: HandleNumber?
    ) throws(RecordError) -> (Attributes, isCacheable: Bool) {
        // Checked before anything is copied or opened for it.
        if let size = changes.size, size < 0 {
            throw RecordError(.invalidArgument, "a size is not negative")
        }
        if let detached = assets.detached(number), isMeant(detached, by: handle) {
            return try setDetached(detached, number, changes)
        }
        let node = try nodes.node(number)
        try access.checkWritable(node)
        switch node {
        case .scratch(let id):
            let changed = try setScratch(id, changes, handle: handle)
            if let mode = changes.mode {
                kernel.deliver(try access.noticesOfSearch(id, mode: mode))
            }
            if let changed { return (scratch.attributes(try changed.base.status), true) }
        case .record(let file):
            try checkUnchanged(node, changes)
            try setRecord(file, changes, handle: handle)
        case .asset(let id):
            try checkUnchanged(node, changes)
            try setAsset(id, changes, handle: handle)
        case .control(let path):
            try checkUnchanged(node, changes)
            // `> ctl` truncates the file. The file takes commands and has no content.
            guard changes.size == nil || controlFiles.takesText(path) else {
                throw RecordError(.notPermitted, "the file is generated")
            }
            if let size = changes.size, let handle,
                case .command(let buffer) = try self.handles.find(handle).current
            {
                try buffer.truncate(to: size)
            }
        case .share:
            try checkUnchanged(node, changes)
            guard let size = changes.size else { break }
            guard let handle, case .command(let buffer) = try self.handles.find(handle).current
            else {
                throw RecordError(.notPermitted, "write the file of the share again instead")
            }
            try buffer.truncate(to: size)
        case .type, .zone:
            try checkUnchanged(node, changes)
            if let time = changes.modified {
                try setModified(node, time.timestamp(now: options.now))
            }
        default:
            try checkUnchanged(node, changes)
            if changes.size != nil { throw RecordError(.notPermitted, "the file is generated") }
        }
        return try nodeAttributes.attributes(of: number, handle: handle)
    }

    /// Returns whether a change is about an open file that has lost its name. Where the name was
    /// lost to another machine, a call by the name may still have the old number, and is about the
    /// new file.
    private func isMeant(_ detached: OpenAsset, by handle: HandleNumber?) -> Bool {
        detached.isRemoved || handle.flatMap { handles.openAsset($0) } === detached
    }

    /// Changes the file of a large field that has lost its name and that a program has open.
    private func setDetached(
        _ open: OpenAsset, _ number: NodeNumber, _ changes: NodeChanges
    ) throws(RecordError) -> (Attributes, isCacheable: Bool) {
        try access.checkWritable(.asset(open.id))
        try checkUnchanged(nodeAttributes.attributes(of: number, handle: nil).0, changes)
        if let size = changes.size { try assetFiles.truncate(open, to: size) }
        if let time = changes.modified { try setTime(time, of: open) }
        return try nodeAttributes.attributes(of: number, handle: nil)
    }

    private func checkUnchanged(_ node: Node, _ changes: NodeChanges) throws(RecordError) {
        guard changes.mode != nil || changes.owner != nil || changes.group != nil else { return }
        guard let current = try nodeAttributes.attributes(of: node) else {
            throw RecordError(.stale, "the file is gone")
        }
        try checkUnchanged(current, changes)
    }

    private func checkUnchanged(
        _ current: Attributes, _ changes: NodeChanges
    ) throws(RecordError) {
        // Execute bits mean nothing on data. The bits of group and others mean nothing either while
        // the kernel admits only the mounting user; `install` and `rsync -a` set them all the same.
        let meaningful: UInt32 = options.allowsOthers ? 0o7666 : 0o7600
        if let mode = changes.mode, mode & meaningful != current.mode & meaningful {
            throw RecordError(.notPermitted, "permissions come from the zone's share")
        }
        if (changes.owner ?? current.owner) != current.owner
            || (changes.group ?? current.group) != current.group
        {
            throw RecordError(
                .notPermitted, "the files of a mount belong to its user")
        }
    }

    private func setModified(_ node: Node, _ modified: Timestamp) throws(RecordError) {
        try store.write(author: .mount) { transaction throws(RecordError) in
            switch node {
            case .type(let type): try transaction.records.setModified(type, modified)
            case .zone(let zone): try transaction.records.setModified(zone, modified)
            default: return
            }
        }
    }

    private func setRecord(_ file: RecordFile, _ changes: NodeChanges, handle: HandleNumber?)
        throws(RecordError)
    {
        if let size = changes.size { try truncateRecord(file, to: size, handle: handle) }
        guard let time = changes.modified else { return }
        // The time in the precision of the store, even before the store has it.
        let modified = time.timestamp(now: options.now).asStored
        let open = openRecord(file, handle)
        let changed = store.nextChange()
        if let open, open.setTimeInMemory(modified, changed: changed) || open.isUnlinked {
            return
        }
        try store.write(author: .mount) { transaction throws(RecordError) in
            // A file that has lost its name to another file keeps its times for itself.
            guard try transaction.records.record(file.record)?.file == file else { return }
            try transaction.records.setModified(file.record, modified)
        }
        // The commit reports no change, because the kernel makes it itself.
        rows.forget(file.record)
    }

    private func openRecord(_ file: RecordFile, _ handle: HandleNumber?) -> OpenRecord? {
        handle.flatMap { handles.openRecord($0) } ?? records.open(file)
    }

    private func setAsset(_ id: AssetID, _ changes: NodeChanges, handle: HandleNumber?)
        throws(RecordError)
    {
        if let size = changes.size { try assetFiles.truncate(id, to: size, handle: handle) }
        guard let time = changes.modified else { return }
        if let open = assetInUse(id, handle) { return try setTime(time, of: open) }
        try setModified(id, time.timestamp(now: options.now).asStored)
    }

    private func setTime(_ time: NodeChanges.Time, of open: OpenAsset) throws(RecordError) {
        let modified = time.timestamp(now: options.now).asStored
        // Not during a save, which would replace this time by the time of its last write.
        try open.changing { () throws(RecordError) in
            let changed = store.nextChange()
            if open.setTime(modified, changed: changed) { try setModified(open.id, modified) }
        }
    }

    private func assetInUse(_ id: AssetID, _ handle: HandleNumber?) -> OpenAsset? {
        handle.flatMap { handles.openAsset($0) } ?? assets.open(id)
    }

    private func setModified(_ id: AssetID, _ modified: Timestamp) throws(RecordError) {
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.records.setModified(id, modified)
        }
    }

    /// Truncates a record's file. truncate(2) opens, changes and closes in one call: its save
    /// happens here, with its errors.
    private func truncateRecord(_ file: RecordFile, to size: Int64, handle: HandleNumber?)
        throws(RecordError)
    {
        if let handle, case .record(let open) = try self.handles.find(handle).current {
            return try recordFiles.truncate(open, to: size)
        }
        let open = try recordFiles.open(file, writes: true)
        defer { saving.close(open, writes: true) }
        try recordFiles.truncate(open, to: size)
        let isOnlyWriter = open.isOnlyWriter
        // An empty text is a save in progress. Closing it makes a draft without an error.
        guard isOnlyWriter, size > 0 else { return }
        do throws(RecordError) {
            try saving.save(open, isLast: true)
        } catch {
            // The kernel keeps the old size when a truncate fails, but the draft has the new one.
            kernel.deliver([.content(nodes.number(of: .record(file)) ?? .root)])
            throw error
        }
    }

    /// - Returns: the file, where more than its size has changed.
    private func setScratch(_ id: ScratchID, _ changes: NodeChanges, handle: HandleNumber?)
        throws(RecordError) -> HostName?
    {
        if let size = changes.size {
            if let handle, case .scratch(let file, id) = try self.handles.find(handle).current {
                try file.truncate(to: size)
            } else {
                try scratch.openFile(id, flags: O_WRONLY).truncate(to: size)
            }
            scratch.scratchNodes.noteSize(size, of: id)
        }
        guard changes.changesMoreThanSize else { return nil }
        let file = try scratch.file(id)
        // The owner is changed first, because that change removes the set-user-ID bit.
        if changes.owner != nil || changes.group != nil {
            try file.setOwner(changes.owner, changes.group)
        }
        if let mode = changes.mode { try file.setMode(mode) }
        if changes.accessed != nil || changes.modified != nil { try file.setTimes(changes.times) }
        return file
    }
}

extension NodeChanges {
    fileprivate var changesMoreThanSize: Bool {
        mode != nil || owner != nil || group != nil || accessed != nil || modified != nil
    }

    /// The times in the form of utimensat.
    fileprivate var times: [timespec] {
        [accessed, modified].map { time in
            switch time {
            case .at(let time): timespec(time)
            case .now: timespec(tv_sec: 0, tv_nsec: UTIME_NOW_VALUE)
            case nil: timespec(tv_sec: 0, tv_nsec: UTIME_OMIT_VALUE)
            }
        }
    }
}

extension NodeChanges.Time {
    func timestamp(now: Timestamp) -> Timestamp {
        switch self {
        case .now: now
        case .at(let time): time
        }
    }
}
