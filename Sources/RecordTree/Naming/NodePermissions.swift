import Glibc
import RecordModel
import RecordStore

/// The permissions on a mount for its owner alone, where the kernel leaves all checks to this
/// program.
///
/// Every caller then is the user that the daemon runs as. Therefore the host decides about scratch,
/// whose files are the host's own: everything that it allows to the daemon, ext4 would allow to the
/// caller. The remaining refusals apply even to root: writes where a zone or the mount is
/// read-only, and writes to generated files. With `allowsOthers` the kernel checks the modes before
/// it asks, and the daemon of root passes all other checks here.
final class NodePermissions: Sendable {
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let options: TreeOptions
    let permissions: OwnPermissions
    let records: OpenRecords
    let rows: CachedRows
    let scratch: ScratchFiles
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ recordRooms: RecordRooms,
        _ shareRooms: ShareRooms, nodeAttributes: NodeAttributes
    ) {
        self.nodeAttributes = nodeAttributes
        nodes = ground.nodes
        options = ground.options
        permissions = ground.permissions
        records = recordRooms.records
        rows = ground.rows
        scratch = scratchRooms.scratch
        shares = shareRooms.shares
        store = ground.store
    }

    var isForOwnerAlone: Bool { !options.allowsOthers }

    /// Checks whether the caller may read, write or execute (access(2), chdir(2)). Throws the
    /// caller's error.
    func checkAccess(_ number: NodeNumber, mask: Int32) throws(RecordError) {
        let node = try nodes.node(number)
        if mask & W_OK != 0 { try permissions.checkWritable() }
        if case .scratch(let id) = node { return try checkAccess(scratch: id, mask: mask) }
        guard let attributes = try nodeAttributes.attributes(of: node) else {
            throw RecordError(.stale, "the file is gone; look its name up again")
        }
        guard mask & ~Int32(attributes.mode >> 6 & 7) == 0 else {
            throw RecordError(.accessDenied, "the mode of the file does not allow it")
        }
    }

    /// Throws for data of a read-only zone, for any kind of change.
    func checkWritable(_ node: Node) throws(RecordError) {
        switch node {
        case .zone(let zone): try permissions.checkWritable(ScratchPlace.Directory.zone(zone))
        case .type(let type): try permissions.checkWritable(type)
        case .record(let file):
            if let type = try type(of: file) {
                try permissions.checkWritable(file.record, in: type)
            }
        case .asset(let asset):
            if let entry = try store.assets.asset(asset) {
                try permissions.checkWritable(entry.record, in: entry.type)
            }
        case .share(let file): try shares.checkWritable(file)
        default: try permissions.checkWritable()
        }
    }

    /// Returns the type of a record's file. The store is the last place to look, because every
    /// chmod, truncate and utimens needs the type.
    private func type(of file: RecordFile) throws(RecordError) -> TypeID? {
        let known =
            records.open(file)?.identity.type ?? rows.entry(file.record)?.type
        if let known { return known }
        return try store.record(file.record)?.type
    }

    /// Throws unless a scratch directory may be listed: the kernel keeps listings, and asks about
    /// the directory only when it is opened.
    func checkListable(_ node: Node) throws(RecordError) {
        guard case .scratch(let id) = node else { return }
        try checkAccess(scratch: id, mask: R_OK)
    }

    private func checkAccess(scratch id: ScratchID, mask: Int32) throws(RecordError) {
        let file = try scratch.file(id)
        // The host would follow a symlink; the kernel has done that before it asked.
        if try file.base.status.isSymlink { return }
        guard withPath(file.throughProc, { faccessat(AT_FDCWD, $0, mask, AT_EACCESS) }) == 0 else {
            throw .lastSystemError("access")
        }
    }

    /// Returns the names that the kernel must look up again when a directory can no longer be
    /// searched: the kernel walks through cached names without asking.
    func noticesOfSearch(_ id: ScratchID, mode: UInt32) throws(RecordError) -> [KernelNotice] {
        guard !options.allowsOthers, options.owner != 0, mode & 0o100 == 0,
            let place = scratch.scratchNodes.place(of: id),
            try scratch.file(id).base.status.isDirectory
        else { return [] }
        let parent = nodes.number(ofDirectory: place.directory)
        return parent.map { [.entry(parent: $0, name: place.name)] } ?? []
    }
}
