import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The trash for temporary files of tools, from which a user can take them back: ordinary files
/// below the state directory, at `scratch-trash/TIME/DATABASE/ZONE/TYPE/NAME`.
extension Tree {
    static let scratchTrashLifetime: Duration = .seconds(30 * 24 * 3600)

    /// Moves a scratch file into the trash, and reports it to the log.
    func throwAway(_ place: ScratchPlace) throws(RecordError) {
        let shown = try shownPath(of: place.directory)
        var path = ScratchStorage.trash
        for part in [Array(now.iso8601.utf8)] + shown {
            try storage.prepareDirectory(path)
            path += [UInt8(ascii: "/")] + part
        }
        try storage.prepareDirectory(path)
        let target = try storage.name(inState: path + [UInt8(ascii: "/")] + place.name)
        let held = try holdScratch(place)
        defer { letGoOfScratch(held) }
        try scratchPath(place).rename(to: target, flags: 0)
        state.withLock { $0.scratch.remove(place) }
        // Logs do not name files that others share, because a log outlives the share.
        let isOfOthers = shown.first == Array(Database.shared.name.utf8)
        let name = shown.flatMap { $0 + [UInt8(ascii: "/")] } + (isOfOthers ? [] : place.name)
        options.report(
            "A tool's temporary file was without use for 7 days: "
                + "\(String(decoding: name, as: UTF8.self)) is now in \(store.directory)/"
                + "\(String(decoding: path, as: UTF8.self)) for 30 days")
    }

    /// Returns the directory in the form that the mount shows, by its parts. A directory that is no
    /// longer in the mount has its number.
    private func shownPath(of directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]] {
        try store.shownPath(of: directory) ?? [directory.baseName]
    }

    /// Deletes files for good that were in the trash for their time.
    func emptyScratchTrash() throws(RecordError) {
        guard store.clockIsSteady(for: Self.scratchTrashLifetime) else { return }
        // The names are times. Therefore they sort in the order of time.
        let oldest = Array((now + (.zero - Self.scratchTrashLifetime)).iso8601.utf8)
        for name in try storage.name(inState: ScratchStorage.trash).names()
        where name.count == oldest.count && name.lexicographicallyPrecedes(oldest) {
            try storage.removeTree(ScratchStorage.trash + [UInt8(ascii: "/")] + name)
        }
    }
}

extension RecordStore {
    /// Returns the directory in the form that the mount shows, by its parts. Returns nil for one
    /// that is no longer in the mount.
    func shownPath(of directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]]? {
        switch directory {
        case .root, .scratch: return []
        case .database(let database): return [Array(database.name.utf8)]
        case .zone(let id): return try zone(id)?.shownPath
        case .type(let id):
            guard let type = try type(id), let zone = try zone(type.zone) else { return nil }
            return zone.shownPath + [ZoneMapping.plain.directoryName(of: type.name)]
        }
    }
}

extension ScratchStorage {
    static let trash = Array("scratch-trash".utf8)

    /// - Parameter path: a path below the state directory.
    func prepareDirectory(_ path: [UInt8]) throws(RecordError) {
        do throws(RecordError) {
            try name(inState: path).makeDirectory()
        } catch  where error.systemErrno == EEXIST {
            return
        }
    }

    fileprivate func removeTree(_ path: [UInt8]) throws(RecordError) {
        let name = try name(inState: path)
        guard let status = try name.status() else { return }
        if status.isDirectory {
            for child in try name.names() { try removeTree(path + [UInt8(ascii: "/")] + child) }
        }
        try name.remove(isDirectory: status.isDirectory)
    }
}
