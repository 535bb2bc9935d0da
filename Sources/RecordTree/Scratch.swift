import Glibc
import RecordModel
import Synchronization

extension Tree {
    func scratchPath(_ place: ScratchPlace) throws(RecordError) -> [UInt8] {
        guard let relative = state.withLock({ $0.scratch.relativePath(place) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return storage.path(relative)
    }

    /// The path for a new name, its base directory made.
    func newScratchPath(_ place: ScratchPlace) throws(RecordError) -> [UInt8] {
        try checkWritable(place.directory)
        guard let relative = state.withLock({ $0.scratch.relativePath(place) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        try storage.prepareBase(of: relative)
        return storage.path(relative)
    }

    func findScratch(_ place: ScratchPlace) throws(RecordError) -> ScratchID? {
        guard try storage.status(try scratchPath(place)) != nil else { return nil }
        return state.withLock { $0.scratch.id(at: place) }
    }

    func place(of id: ScratchID) -> ScratchPlace? {
        state.withLock { $0.scratch.place(of: id) }
    }

    /// Also of a file that lost its name while it is open.
    func scratchStatus(_ id: ScratchID) throws(RecordError) -> stat? {
        if let place = place(of: id) { return try storage.status(try scratchPath(place)) }
        for handle in handles(on: { if case .scratch(_, id) = $0 { true } else { false } }) {
            if case .scratch(let file, _) = handle.current { return try file.status }
        }
        return nil
    }

    func scratchNames(_ directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]] {
        guard let relative = state.withLock({ $0.scratch.relativePath(directory) }) else {
            throw RecordError(.stale, "the directory is gone")
        }
        return try storage.names(in: storage.path(relative))
    }

    func openScratch(_ id: ScratchID, flags: Int32) throws(RecordError) -> Opened {
        guard let place = place(of: id) else {
            throw RecordError(.stale, "the file is gone")
        }
        return try openScratch(id, path: try scratchPath(place), flags: flags)
    }

    private func openScratch(_ id: ScratchID, path: [UInt8], flags: Int32) throws(RecordError)
        -> Opened
    {
        // The daemon reads what a write-only handle needs for partial pages, and places appended
        // bytes itself.
        let hostFlags = flags & O_TRUNC | (flags & O_ACCMODE == O_RDONLY ? O_RDONLY : O_RDWR)
        let file = try HostFile.opened(
            path: path, flags: hostFlags, elseOnly: flags & O_ACCMODE)
        let handle = addHandle(.scratch(file, id), flags: flags)
        return Opened(handle: handle, keepCache: true, needsNoFlush: true)
    }

    func createScratch(_ place: ScratchPlace, mode: UInt32, flags: Int32) throws(RecordError)
        -> (NodeEntry, Opened)
    {
        let path = try newScratchPath(place)
        let createFlags = O_RDWR | O_CREAT | flags & (O_TRUNC | O_EXCL)
        let file = try HostFile(path: path, flags: createFlags, mode: mode & 0o7777)
        let id = state.withLock { $0.scratch.id(at: place) }
        guard let entry = try entry(of: .scratch(id)) else {
            throw RecordError(.stale, "the file is gone")
        }
        let handle = addHandle(.scratch(file, id), flags: flags)
        return (entry, Opened(handle: handle, keepCache: true, needsNoFlush: true))
    }

    func removeScratch(_ place: ScratchPlace, isDirectory: Bool) throws(RecordError) {
        try checkWritable(place.directory)
        try storage.remove(try scratchPath(place), isDirectory: isDirectory)
        state.withLock { state in
            if let number = state.nodes.number(of: .scratch(state.scratch.id(at: place))),
                number.kind != .counted
            {
                state.nodes.retire(.scratch(state.scratch.id(at: place)))
            }
            state.scratch.remove(place)
        }
    }
}
