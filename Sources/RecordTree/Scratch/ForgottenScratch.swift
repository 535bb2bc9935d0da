import Glibc
import RecordModel
import RecordStore
import Synchronization

extension Tree {
    /// The time without use after which a tool's temporary file is moved into the scratch trash.
    static let scratchLifetime: Duration = .seconds(7 * 24 * 3600)

    /// Moves files that tools have left beside the records into the scratch trash. This applies to
    /// files that are not open and that nobody has read, written, renamed or changed for
    /// `scratchLifetime`. All other files belong to somebody and stay, as do all files in scratch
    /// directories.
    func removeForgottenScratch() throws(RecordError) {
        let used = openScratchFiles()
        for base in try storage.root.names() {
            if let directory = ScratchPlace.Directory(baseName: base) {
                try removeForgotten(in: directory, used)
                continue
            }
            let name = try storage.name(ScratchRoute(path: base))
            if let status = try name.status(), isForgotten(status), status.isRegular {
                // A file that was being written for a scratch name when the daemon stopped.
                try name.remove(isDirectory: false)
            }
        }
        try emptyScratchTrash()
    }

    /// Returns the files that are open, and the directories that contain them.
    private func openScratchFiles() -> Set<ScratchID> {
        let open = handles(on: { if case .scratch = $0 { true } else { false } })
        var used: Set<ScratchID> = []
        for handle in open {
            guard case .scratch(_, var id) = handle.current else { continue }
            used.insert(id)
            while case .scratch(let parent)? = place(of: id)?.directory {
                used.insert(parent)
                id = parent
            }
        }
        return used
    }

    func place(of id: ScratchID) -> ScratchPlace? {
        state.withLock { $0.scratch.place(of: id) }
    }

    private func removeForgotten(
        in directory: ScratchPlace.Directory, _ used: Set<ScratchID>
    ) throws(RecordError) {
        for name in try scratchNames(directory) {
            let place = ScratchPlace(directory: directory, name: name)
            guard let status = try scratchPath(place).status(), isForgotten(status),
                TemporaryName.isTemporary(
                    name, isDirectory: status.isDirectory, size: Int64(status.st_size)),
                let id = try findScratch(place), !used.contains(id)
            else { continue }
            try throwAway(place)
            if let parent = number(of: directory) {
                notify([.entry(parent: parent, name: name), .content(parent)])
            }
        }
    }

    /// Returns whether a file was not used for the lifetime. A copy that keeps old times is still
    /// new, therefore the time of its last status change counts too.
    private func isForgotten(_ status: stat) -> Bool {
        let used = max(
            status.st_atim.timestamp, status.st_mtim.timestamp, status.st_ctim.timestamp)
        return used + Self.scratchLifetime <= now
    }

    func number(of directory: ScratchPlace.Directory) -> NodeNumber? {
        switch directory {
        case .root: .root
        case .database(let database): NodeNumber(database)
        case .zone(let zone): number(of: zone)
        case .type(let type): NodeNumber(type)
        case .scratch(let id): state.withLock { $0.nodes.number(of: .scratch(id)) }
        }
    }
}
