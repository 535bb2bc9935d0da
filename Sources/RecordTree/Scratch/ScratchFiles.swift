import CLinux
import Glibc
import RecordModel
import RecordStore

/// The local files beside the records. Their bytes, modes and times are those of files of the host.
final class ScratchFiles: Sendable {
    let handles: OpenHandles
    let options: TreeOptions
    let permissions: OwnPermissions
    let scratchNodes: ScratchNodes
    let storage: ScratchStorage

    init(_ ground: Ground, scratchNodes: ScratchNodes) {
        handles = ground.handles
        options = ground.options
        permissions = ground.permissions
        self.scratchNodes = scratchNodes
        storage = ScratchStorage(stateDirectory: ground.store.directory)
    }

    /// Returns the host's own attributes, with an inode number that no record has.
    func attributes(_ status: stat) -> Attributes {
        var attributes = status.attributes
        attributes.inode =
            NodeNumber(
                kind: .counted, row: Int64(truncatingIfNeeded: attributes.inode)
            ).inode
        return attributes
    }

    /// Returns the entry of a file, with one lookup counted. Returns nil when it has just
    /// disappeared.
    func entry(of id: ScratchID) throws(RecordError) -> NodeEntry? {
        guard let status = try status(id) else { return nil }
        return scratchNodes.nodes.entry(of: .scratch(id), attributes(status))
    }

    /// Replaces the file of a name by a file with these bytes.
    func put(
        _ bytes: [UInt8], at place: ScratchPlace, _ path: HostName, modified: Timestamp
    ) throws(RecordError) {
        try hold(place)
        try storage.place(bytes, at: path, modified: modified)
        scratchNodes.noteRemoved(place)
    }

    /// Writes to an open local file, and notes bytes that it could not take.
    func write(
        _ data: UnsafeRawBufferPointer, offset: Int64, to file: HostFile, _ id: ScratchID
    ) throws(RecordError) {
        do throws(RecordError) {
            try file.write(data, offset: offset)
        } catch {
            scratchNodes.noteFailure(offset: offset, count: data.count, error, in: id)
            throw error
        }
        scratchNodes.noteWrite(offset: offset, count: data.count, in: id)
    }

    /// Throws the failure of an incomplete local file that is about to become a record, a large
    /// field or a share: many programs continue with the rename after a failed write.
    func checkIsWhole(_ place: ScratchPlace) throws(RecordError) {
        if let failure = scratchNodes.failure(at: place) { throw failure.error }
    }

    /// Returns the bytes and the time of a local file that takes the name of a record or a share.
    func content(of place: ScratchPlace) throws(RecordError) -> ([UInt8], Timestamp) {
        try checkIsWhole(place)
        let path = try path(place)
        guard let status = try storage.status(path), status.isRegular else {
            throw RecordError(.notPermitted, "only a regular file can become a record or a share")
        }
        // The kernel has one node for all names of a file: the other names would become the record
        // too.
        guard status.st_nlink == 1 else {
            throw RecordError(
                .crossDevice, "a file with other names becomes neither a record nor a share")
        }
        guard status.st_size <= options.limits.textBytes else {
            throw .textTooLarge(limit: options.limits.textBytes)
        }
        let bytes = try HostFile(path: path, flags: O_RDONLY).readAll()
        return (bytes, status.st_mtim.timestamp.asStored)
    }

    /// Returns the program that renames and the program that wrote the file: in
    /// `jq … n.json > tmp && mv tmp n.json` the writer is the one that has read the record.
    func programs(of place: ScratchPlace, _ caller: Requester) -> Set<Int32> {
        return Set(
            [scratchNodes.writer(at: place), options.programs.program(caller.threadID)].compactMap(
                \.self))
    }

    func noteWriter(_ caller: Requester, of scratch: ScratchID) {
        guard let program = options.programs.program(caller.threadID) else { return }
        scratchNodes.setWriter(program, of: scratch)
    }

    /// Returns the host's name of a place. The file may exist or not.
    func path(_ place: ScratchPlace) throws(RecordError) -> HostName {
        guard let route = scratchNodes.route(to: place) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return try storage.name(route)
    }

    /// Returns the host's name of a new place, and makes its base directory.
    ///
    /// - Parameter isChecked: whether to check that names may be added and removed there.
    func newPath(
        _ place: ScratchPlace, isChecked: Bool = true
    ) throws(RecordError) -> HostName {
        if isChecked { try permissions.checkWritable(place.directory) }
        guard let route = scratchNodes.route(to: place) else {
            throw RecordError(.stale, "the directory is gone")
        }
        if case .scratch = place.directory {} else { try storage.prepareBase(of: route) }
        return try storage.name(route)
    }

    func find(_ place: ScratchPlace) throws(RecordError) -> ScratchID? {
        guard let status = try path(place).status() else { return nil }
        return scratchNodes.id(at: place, is: status)
    }

    func names(_ directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]] {
        guard let route = scratchNodes.route(to: directory) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return try storage.name(route).names()
    }

    /// Returns the status of a file, also of one that lost its name while the kernel knows it.
    /// Returns nil when the file no longer exists.
    func status(_ id: ScratchID) throws(RecordError) -> stat? {
        try reaching(id) { name throws(RecordError) in
            guard let status = try name.status() else { return nil }
            return (status, status)
        }
    }

    /// Returns the file itself, even when its names change. For calls that change the file.
    func file(_ id: ScratchID) throws(RecordError) -> HostName {
        HostName(try openFile(id, flags: pathOnly))
    }

    /// - Parameter flags: flags without O_TRUNC, which would take effect before the file is
    ///   identified.
    func openFile(_ id: ScratchID, flags: Int32) throws(RecordError) -> HostFile {
        let file = try reaching(id) { name throws(RecordError) -> (HostFile, stat)? in
            do throws(RecordError) {
                let file = try name.open(flags)
                return (file, try file.status)
            } catch  where error.systemErrno == ENOENT {
                return nil
            }
        }
        guard let file else { throw RecordError(.stale, "the file is gone") }
        return file
    }

    /// The number of attempts to find a file whose name is given to another file at that moment.
    private static let attempts = 64

    /// Calls `body` with one of the file's names and checks that it has reached this file: a rename
    /// or a removal may happen in between. Before a rename or a removal changes a name, it holds
    /// the files concerned, so that the next attempt does not need the name.
    ///
    /// - Parameter body: returns nil when nothing has the name.
    private func reaching<Result>(
        _ id: ScratchID, _ body: (HostName) throws(RecordError) -> (Result, stat)?
    ) throws(RecordError) -> Result? {
        for _ in 0..<Self.attempts {
            guard let (route, identity) = scratchNodes.route(to: id) else { return nil }
            guard let (result, status) = try body(try storage.name(route)) else { continue }
            if identity == HostIdentity(status) { return result }
            if identity == nil {
                scratchNodes.learn(HostIdentity(status), of: id)
                return result
            }
        }
        return nil
    }

    /// Holds a file before its name is removed: users of the file by a node or a directory keep it.
    ///
    /// - Returns: the file, to be released when it has kept a name.
    @discardableResult
    func hold(_ place: ScratchPlace) throws(RecordError) -> ScratchID? {
        guard let id = scratchNodes.idInUse(at: place) else { return nil }
        do throws(RecordError) {
            let file = try file(id)
            scratchNodes.hold(id, by: file.base)
        } catch  where error.code == .stale {
            return nil
        }
        return id
    }

    /// Gives a file the name of a place and runs `commit`. If that fails, the place has its former
    /// file again, or none.
    func replace<T>(
        _ place: ScratchPlace, at path: HostName, with file: StagedFile,
        _ commit: () throws(RecordError) -> T
    ) throws(RecordError) -> T {
        let held = try hold(place)
        do throws(RecordError) {
            return try file.place(at: path, commit)
        } catch {
            letGo(held)
            throw error
        }
    }

    func letGo(_ ids: ScratchID?...) {
        for case let id? in ids { scratchNodes.letGo(id) }
    }

    func open(_ id: ScratchID, flags: Int32, caller: Requester) throws(RecordError)
        -> Opened
    {
        if flags & O_ACCMODE != O_RDONLY { noteWriter(caller, of: id) }
        let file = try openForHandle(id, flags: flags)
        if flags & O_TRUNC != 0 {
            try file.truncate(to: 0)
            // An open that empties the file forgets its failed writes.
            scratchNodes.beginAnew(id)
        }
        let handle = handles.add(.scratch(file, id), flags: flags)
        let isOfShare = scratchNodes.place(of: id)?.isOfShare == true
        return Opened(handle: handle, keepCache: true, needsNoFlush: !isOfShare)
    }

    /// Opens a file for a handle. The daemon reads the data that a write-only handle needs for
    /// partial pages, and places appended bytes itself. For a file that can only be written it
    /// works without reading.
    private func openForHandle(_ id: ScratchID, flags: Int32) throws(RecordError) -> HostFile {
        let writes = flags & O_ACCMODE != O_RDONLY
        do throws(RecordError) {
            return try openFile(id, flags: writes ? O_RDWR : O_RDONLY)
        } catch  where error.systemErrno == EACCES && flags & O_ACCMODE == O_WRONLY {
            return try openFile(id, flags: O_WRONLY)
        }
    }

    func remove(
        _ place: ScratchPlace, isDirectory: Bool, isChecked: Bool = true
    ) throws(RecordError) {
        if isChecked { try permissions.checkWritable(place.directory) }
        let held = try hold(place)
        do throws(RecordError) {
            try path(place).remove(isDirectory: isDirectory)
        } catch {
            letGo(held)
            throw error
        }
        scratchNodes.noteRemoved(place)
        letGo(held)
    }

    func move(_ place: ScratchPlace, to target: ScratchPlace) throws(RecordError) {
        let held = (try hold(place), try hold(target))
        defer { letGo(held.0, held.1) }
        try path(place).rename(to: try newPath(target), flags: 0)
        scratchNodes.noteMoved(place, to: target)
    }

    func swap(_ place: ScratchPlace, _ other: ScratchPlace) throws(RecordError) {
        let held = (try hold(place), try hold(other))
        defer { letGo(held.0, held.1) }
        try path(place).rename(to: try path(other), flags: renameExchange)
        scratchNodes.noteExchanged(place, other)
    }
}
