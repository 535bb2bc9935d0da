import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// Scratch files without use for this long are removed.
    static let scratchLifetime: Duration = .seconds(7 * 24 * 3600)

    /// Removes scratch files, and empty directories, that nobody has read, written, renamed or
    /// changed for `scratchLifetime` and that are not open.
    func removeForgottenScratch() throws(RecordError) {
        let used = Set(
            handles(on: { if case .scratch = $0 { true } else { false } }).compactMap { handle in
                if case .scratch(_, let id) = handle.current { id } else { nil }
            })
        for base in try storage.names(in: storage.root) {
            if let directory = ScratchPlace.Directory(baseName: base) {
                try removeForgotten(in: directory, used)
            } else if let status = try storage.status(storage.path(base)), isForgotten(status),
                status.isRegular
            {
                // Bytes on their way to a scratch name when the daemon stopped.
                try storage.remove(storage.path(base), isDirectory: false)
            }
        }
    }

    private func removeForgotten(
        in directory: ScratchPlace.Directory, _ used: Set<ScratchID>
    ) throws(RecordError) {
        for name in try scratchNames(directory) {
            let place = ScratchPlace(directory: directory, name: name)
            guard let status = try storage.status(try scratchPath(place)) else { continue }
            let id = state.withLock { $0.scratch.id(at: place) }
            if status.isDirectory { try removeForgotten(in: .scratch(id), used) }
            guard isForgotten(status), !used.contains(id) else { continue }
            do throws(RecordError) {
                try removeScratch(place, isDirectory: status.isDirectory)
            } catch  where error.systemErrno == ENOTEMPTY || error.systemErrno == ENOENT {
                continue
            }
            if let parent = number(of: directory) {
                notify([.entry(parent: parent, name: name), .content(parent)])
            }
        }
    }

    /// A copy that keeps old times is still new: the time of the last change of status tells.
    private func isForgotten(_ status: stat) -> Bool {
        let used = max(
            status.st_atim.timestamp, status.st_mtim.timestamp, status.st_ctim.timestamp)
        return used + Self.scratchLifetime <= now
    }

    private func number(of directory: ScratchPlace.Directory) -> NodeNumber? {
        switch directory {
        case .database(let database): NodeNumber(database)
        case .zone(let zone): NodeNumber(zone)
        case .type(let type): NodeNumber(type)
        case .scratch(let id): state.withLock { $0.nodes.number(of: .scratch(id)) }
        }
    }
}

extension ScratchPlace.Directory {
    /// What a directory in the scratch root stands for, as `ScratchTable.relativePath` names it.
    fileprivate init?(baseName: [UInt8]) {
        guard let kind = baseName.first,
            let number = Int64(String(decoding: baseName.dropFirst(), as: UTF8.self))
        else { return nil }
        switch kind {
        case UInt8(ascii: "d"):
            guard let database = Database(rawValue: number) else { return nil }
            self = .database(database)
        case UInt8(ascii: "z"): self = .zone(ZoneID(number))
        case UInt8(ascii: "t"): self = .type(TypeID(number))
        default: return nil
        }
    }
}
