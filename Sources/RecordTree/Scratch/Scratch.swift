import Glibc
import RecordModel
import Synchronization

extension Tree {
    /// Returns the host's name of a place. The file may exist or not.
    func scratchPath(_ place: ScratchPlace) throws(RecordError) -> HostName {
        guard let route = state.withLock({ $0.scratch.route(to: place) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return try storage.name(route)
    }

    /// Returns the host's name of a new place, and makes its base directory.
    ///
    /// - Parameter isChecked: whether to check that names may be added and removed there.
    func newScratchPath(
        _ place: ScratchPlace, isChecked: Bool = true
    ) throws(RecordError) -> HostName {
        if isChecked { try checkWritable(place.directory) }
        guard let route = state.withLock({ $0.scratch.route(to: place) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        if case .scratch = place.directory {} else { try storage.prepareBase(of: route) }
        return try storage.name(route)
    }

    func findScratch(_ place: ScratchPlace) throws(RecordError) -> ScratchID? {
        guard let status = try scratchPath(place).status() else { return nil }
        return state.withLock { $0.scratch.id(at: place, is: status) }
    }

    func scratchNames(_ directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]] {
        guard let route = state.withLock({ $0.scratch.route(to: directory) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return try storage.name(route).names()
    }

    /// Returns the status of a file, also of one that lost its name while the kernel knows it.
    /// Returns nil when the file no longer exists.
    func scratchStatus(_ id: ScratchID) throws(RecordError) -> stat? {
        try reaching(id) { name throws(RecordError) in
            guard let status = try name.status() else { return nil }
            return (status, status)
        }
    }

    /// Returns the file itself, even when its names change. For calls that change the file.
    func scratchFile(_ id: ScratchID) throws(RecordError) -> HostName {
        HostName(try openScratchFile(id, flags: pathOnly))
    }

    /// - Parameter flags: flags without O_TRUNC, which would take effect before the file is
    ///   identified.
    func openScratchFile(_ id: ScratchID, flags: Int32) throws(RecordError) -> HostFile {
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
            let (route, identity) = state.withLock {
                ($0.scratch.route(to: id), $0.scratch.identity(of: id))
            }
            guard let route else { return nil }
            guard let (result, status) = try body(try storage.name(route)) else { continue }
            if identity == HostIdentity(status) { return result }
            if identity == nil {
                state.withLock { $0.scratch.learn(HostIdentity(status), of: id) }
                return result
            }
        }
        return nil
    }

    /// Holds a file before its name is removed: users of the file by a node or a directory keep it.
    ///
    /// - Returns: the file, to be released when it has kept a name.
    @discardableResult
    func holdScratch(_ place: ScratchPlace) throws(RecordError) -> ScratchID? {
        let known = state.withLock { state -> ScratchID? in
            guard let id = state.scratch.knownID(at: place),
                state.nodes.number(of: .scratch(id)) != nil
            else { return nil }
            return id
        }
        guard let id = known else { return nil }
        do throws(RecordError) {
            let file = try scratchFile(id)
            state.withLock { $0.scratch.hold(id, by: file.base) }
        } catch  where error.code == .stale {
            return nil
        }
        return id
    }

    func letGoOfScratch(_ ids: ScratchID?...) {
        state.withLock { state in
            for case let id? in ids { state.scratch.letGo(id) }
        }
    }

    func openScratch(_ id: ScratchID, flags: Int32, caller: Requester) throws(RecordError)
        -> Opened
    {
        if flags & O_ACCMODE != O_RDONLY { noteWriter(caller, of: id) }
        let file = try openForHandle(id, flags: flags)
        if flags & O_TRUNC != 0 {
            try file.truncate(to: 0)
            // An open that empties the file forgets its failed writes.
            state.withLock { $0.incompleteScratch[id] = nil }
        }
        let handle = addHandle(.scratch(file, id), flags: flags)
        let isOfShare = place(of: id)?.isOfShare == true
        return Opened(handle: handle, keepCache: true, needsNoFlush: !isOfShare)
    }

    /// Opens a file for a handle. The daemon reads the data that a write-only handle needs for
    /// partial pages, and places appended bytes itself. For a file that can only be written it
    /// works without reading.
    private func openForHandle(_ id: ScratchID, flags: Int32) throws(RecordError) -> HostFile {
        let writes = flags & O_ACCMODE != O_RDONLY
        do throws(RecordError) {
            return try openScratchFile(id, flags: writes ? O_RDWR : O_RDONLY)
        } catch  where error.systemErrno == EACCES && flags & O_ACCMODE == O_WRONLY {
            return try openScratchFile(id, flags: O_WRONLY)
        }
    }

    func removeScratch(
        _ place: ScratchPlace, isDirectory: Bool, isChecked: Bool = true
    ) throws(RecordError) {
        if isChecked { try checkWritable(place.directory) }
        let held = try holdScratch(place)
        do throws(RecordError) {
            try scratchPath(place).remove(isDirectory: isDirectory)
        } catch {
            letGoOfScratch(held)
            throw error
        }
        state.withLock { $0.scratch.remove(place) }
        letGoOfScratch(held)
    }

    func moveScratch(_ place: ScratchPlace, to target: ScratchPlace) throws(RecordError) {
        let held = (try holdScratch(place), try holdScratch(target))
        defer { letGoOfScratch(held.0, held.1) }
        try scratchPath(place).rename(to: try newScratchPath(target), flags: 0)
        state.withLock { $0.scratch.move(place, to: target) }
    }

    func exchangeScratch(_ place: ScratchPlace, _ other: ScratchPlace) throws(RecordError) {
        let held = (try holdScratch(place), try holdScratch(other))
        defer { letGoOfScratch(held.0, held.1) }
        try scratchPath(place).rename(to: try scratchPath(other), flags: renameExchange)
        state.withLock { $0.scratch.exchange(place, other) }
    }
}
