import Glibc
import RecordModel

/// New names in scratch. They belong to the caller and have the requested mode, as on the host's
/// own file system.
extension ScratchFiles {
    func create(_ place: ScratchPlace, mode: UInt32, flags: Int32, caller: Requester)
        throws(RecordError) -> (NodeEntry, Opened)
    {
        try permissions.checkWritable(place.directory)
        guard let (file, parent) = try makeFile(place, isExclusive: flags & O_EXCL != 0) else {
            guard let id = try find(place), let entry = try entry(of: id) else {
                throw RecordError(.stale, "the file is gone")
            }
            return (entry, try open(id, flags: flags, caller: caller))
        }
        let status = try giveOwner(HostName(file), in: parent, mode: mode, caller)
        let id = scratchNodes.id(at: place, is: status)
        noteWriter(caller, of: id)
        return (
            scratchNodes.nodes.entry(of: .scratch(id), attributes(status)),
            Opened(
                handle: handles.add(.scratch(file, id), flags: flags), keepCache: true,
                needsNoFlush: !place.isOfShare)
        )
    }

    /// Makes a file. Its base directory is there but for the first name of a directory, so it is
    /// made only when the file cannot be. Returns nil when the name exists and may.
    private func makeFile(
        _ place: ScratchPlace, isExclusive: Bool
    ) throws(RecordError) -> (file: HostFile, parent: HostName)? {
        var name = try path(place)
        do throws(RecordError) {
            do throws(RecordError) {
                return (try name.open(O_RDWR | O_CREAT | O_EXCL), name.parent)
            } catch  where error.systemErrno == ENOENT {
                name = try newPath(place)
                return (try name.open(O_RDWR | O_CREAT | O_EXCL), name.parent)
            }
        } catch  where error.systemErrno == EEXIST && !isExclusive {
            return nil
        }
    }

    func makeDirectory(_ place: ScratchPlace, mode: UInt32, caller: Requester)
        throws(RecordError) -> ScratchID
    {
        let name = try newPath(place)
        try name.makeDirectory()
        return try own(name, at: place, mode: mode, caller)
    }

    func makeSymlink(_ place: ScratchPlace, target: [UInt8], caller: Requester)
        throws(RecordError) -> ScratchID
    {
        let name = try newPath(place)
        try name.makeSymlink(to: target)
        return try own(name, at: place, mode: nil, caller)
    }

    /// Makes a pipe or a socket, or a device where the kernel has let the caller request one.
    func makeNode(
        _ place: ScratchPlace, mode: UInt32, device: UInt64, caller: Requester
    ) throws(RecordError) -> ScratchID {
        let name = try newPath(place)
        try name.makeNode(kind: mode & UInt32(S_IFMT), device: device)
        return try own(name, at: place, mode: mode, caller)
    }

    private func own(
        _ name: HostName, at place: ScratchPlace, mode: UInt32?, _ caller: Requester
    ) throws(RecordError) -> ScratchID {
        let status = try giveOwner(HostName(try name.held()), in: name.parent, mode: mode, caller)
        return scratchNodes.id(at: place, is: status)
    }

    /// Gives a new file the mode and the owner that the caller requested. The daemon has made it
    /// for itself alone: its own umask and user must not be visible.
    ///
    /// - Parameter mode: nil for a symlink, which has none.
    /// - Returns: the file's status after that.
    private func giveOwner(
        _ file: HostName, in parent: HostName, mode: UInt32?, _ caller: Requester
    ) throws(RecordError) -> stat {
        var status = try file.base.status
        var isChanged = try giveAway(file, status, in: parent, caller)
        if let mode {
            // A directory inherits the set-group-ID bit of its parent directory.
            let inherited = status.isDirectory ? status.st_mode & UInt32(S_ISGID) : 0
            let mode = mode & 0o7777 | inherited
            if isChanged || mode != status.st_mode & 0o7777 {
                try file.setMode(mode)
                isChanged = true
            }
        }
        if isChanged { status = try file.base.status }
        return status
    }

    /// Returns whether the file has another owner or group now.
    private func giveAway(
        _ file: HostName, _ status: stat, in parent: HostName, _ caller: Requester
    ) throws(RecordError) -> Bool {
        var group: UInt32? = caller.group
        if caller.group != status.st_gid, let parent = try parent.status(),
            parent.st_mode & UInt32(S_ISGID) != 0
        {
            group = nil
        }
        if group == status.st_gid { group = nil }
        let owner = caller.user == status.st_uid ? nil : caller.user
        guard owner != nil || group != nil else { return false }
        do throws(RecordError) {
            try file.setOwner(owner, group)
            return true
        } catch  where error.systemErrno == EPERM {
            // Only root can give files to others. The daemon of another user keeps them as its own.
            return false
        }
    }
}
