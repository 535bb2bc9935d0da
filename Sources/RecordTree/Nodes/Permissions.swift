import Glibc
package import RecordModel
import RecordStore
import Synchronization

/// The permissions on a mount for its owner alone, where the kernel leaves all checks to this
/// program.
///
/// Every caller then is the user that the daemon runs as. Therefore the host decides about scratch,
/// whose files are the host's own: everything that it allows to the daemon, ext4 would allow to the
/// caller. The remaining refusals apply even to root: writes where a zone or the mount is
/// read-only, and writes to generated files. With `allowsOthers` the kernel checks the modes before
/// it asks, and the daemon of root passes all other checks here.
extension Tree {
    package var isForOwnerAlone: Bool { !options.allowsOthers }

    /// Checks whether the caller may read, write or execute (access(2), chdir(2)). Throws the
    /// caller's error.
    package func checkAccess(_ number: NodeNumber, mask: Int32) throws(RecordError) {
        let node = try node(number)
        if mask & W_OK != 0 { try checkWritable() }
        if case .scratch(let id) = node { return try checkAccess(scratch: id, mask: mask) }
        guard let attributes = try attributes(of: node) else {
            throw RecordError(.stale, "the file is gone; look its name up again")
        }
        guard mask & ~Int32(attributes.mode >> 6 & 7) == 0 else {
            throw RecordError(.accessDenied, "the mode of the file does not allow it")
        }
    }

    /// Throws for data of a read-only zone, for any kind of change.
    func checkWritable(_ node: Node) throws(RecordError) {
        switch node {
        case .zone(let zone): try checkWritable(ScratchPlace.Directory.zone(zone))
        case .type(let type): try checkWritable(type)
        case .record(let file):
            if let type = try type(of: file) { try checkWritable(file.record, in: type) }
        case .asset(let asset):
            if let entry = try store.asset(asset) {
                try checkWritable(entry.record, in: entry.type)
            }
        case .share(let file):
            try checkWritable()
            guard let shown = try share(file) else { throw .noSuchFile }
            guard try shown.isManaged else {
                throw RecordError(.accessDenied, "only the managers of the share can change it")
            }
        default: try checkWritable()
        }
    }

    /// Throws for a zone or record type with a record that may only be read: a program that moves
    /// it by copying would have the copies, and could not remove the original. Errors:
    /// accessDenied.
    func checkMayGo(_ node: Node) throws(RecordError) {
        let (zone, type): (ZoneInfo?, TypeID?)
        switch node {
        case .zone(let id): (zone, type) = (try store.zone(id), nil)
        case .type(let id): (zone, type) = (try place(of: id).zone, id)
        default: return
        }
        guard let zone, try store.hasReadOnlyRecord(in: zone, type: type) else { return }
        throw RecordError(
            .accessDenied,
            "You may only read its records, or some of them: copy what you need.")
    }

    /// Throws for a zone or record type of this user in which something is shared: a program that
    /// moves it by copying would end the share for everyone, or fail after copying everything.
    /// Errors: notPermitted.
    func checkIsNotShared(_ node: Node) throws(RecordError) {
        let (zone, type): (ZoneInfo?, TypeID?)
        switch node {
        case .zone(let id): (zone, type) = (try store.zone(id), nil)
        case .type(let id): (zone, type) = (try place(of: id).zone, id)
        default: return
        }
        guard let zone, zone.database == .private else { return }
        for share in try store.shares(in: zone.id) {
            if let type {
                guard let root = share.root,
                    try store.record(named: root, in: zone.id)?.type == type
                else { continue }
            }
            throw RecordError(
                .notPermitted,
                "\(share.root.map { "The record \($0) in it" } ?? "The zone") is shared, and what is "
                    + "shared stays in its place: copies are shared with nobody. Stop sharing with "
                    + "`recordfs share stop` and move it then, or copy it.")
        }
    }

    /// Returns the type of a record's file. The store is the last place to look, because every
    /// chmod, truncate and utimens needs the type.
    private func type(of file: RecordFile) throws(RecordError) -> TypeID? {
        let known = state.withLock { state in
            state.open[file]?.state.withLock(\.type) ?? state.entries.entry(file.record)?.type
        }
        if let known { return known }
        return try store.record(file.record)?.type
    }

    /// Throws unless names may be added and removed in the directory of scratch names.
    func checkWritable(_ directory: ScratchPlace.Directory) throws(RecordError) {
        switch directory {
        case .type(let type): try checkWritable(type)
        case .zone(let zone):
            if let info = try store.zone(zone) { try checkWritable(info) }
        case .root, .database, .scratch: try checkWritable()
        }
    }

    /// Throws unless a scratch directory may be listed: the kernel keeps listings, and asks about
    /// the directory only when it is opened.
    func checkListable(_ node: Node) throws(RecordError) {
        guard case .scratch(let id) = node else { return }
        try checkAccess(scratch: id, mask: R_OK)
    }

    private func checkAccess(scratch id: ScratchID, mask: Int32) throws(RecordError) {
        let file = try scratchFile(id)
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
            let place = place(of: id), try scratchFile(id).base.status.isDirectory
        else { return [] }
        let parent = state.withLock { $0.nodes.number(of: place.directory.node) }
        return parent.map { [.entry(parent: $0, name: place.name)] } ?? []
    }
}

extension ScratchPlace.Directory {
    fileprivate var node: Node {
        switch self {
        case .root: .root
        case .database(let database): .database(database)
        case .zone(let zone): .zone(zone)
        case .type(let type): .type(type)
        case .scratch(let id): .scratch(id)
        }
    }
}
