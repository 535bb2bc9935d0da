import Glibc
import RecordModel
import RecordStore

/// Moves the temporary files of tools into the scratch trash when nobody has used them for long.
final class ScratchCleaning: Sendable {
    let handles: OpenHandles
    let nodeNotices: NodeNotices
    let options: TreeOptions
    let scratch: ScratchFiles
    let store: RecordStore

    init(_ ground: Ground, scratch: ScratchFiles) {
        handles = ground.handles
        nodeNotices = ground.nodeNotices
        options = ground.options
        self.scratch = scratch
        store = ground.store
    }

    /// The time without use after which a tool's temporary file is moved into the scratch trash.
    static let scratchLifetime: Duration = .seconds(7 * 24 * 3600)

    /// Moves files that tools have left beside the records into the scratch trash. This applies to
    /// files that are not open and that nobody has read, written, renamed or changed for
    /// `scratchLifetime`. All other files belong to somebody and stay, as do all files in scratch
    /// directories.
    func removeForgottenScratch() throws(RecordError) {
        let used = openScratchFiles()
        for base in try scratch.storage.root.names() {
            if let directory = ScratchPlace.Directory(baseName: base) {
                try removeForgotten(in: directory, used)
                continue
            }
            let name = try scratch.storage.name(ScratchRoute(path: base))
            if let status = try name.status(), isForgotten(status), status.isRegular {
                // A file that was being written for a scratch name when the daemon stopped.
                try name.remove(isDirectory: false)
            }
        }
        try emptyScratchTrash()
    }

    /// Returns the files that are open, and the directories that contain them.
    private func openScratchFiles() -> Set<ScratchID> {
        let open = handles.all(on: { if case .scratch = $0 { true } else { false } })
        var used: Set<ScratchID> = []
        for handle in open {
            guard case .scratch(_, var id) = handle.current else { continue }
            used.insert(id)
            while case .scratch(let parent)? = scratch.scratchNodes.place(of: id)?.directory {
                used.insert(parent)
                id = parent
            }
        }
        return used
    }

    private func removeForgotten(
        in directory: ScratchPlace.Directory, _ used: Set<ScratchID>
    ) throws(RecordError) {
        for name in try scratch.names(directory) {
            let place = ScratchPlace(directory: directory, name: name)
            guard let status = try scratch.path(place).status(), isForgotten(status),
                TemporaryName.isTemporary(
                    name, isDirectory: status.isDirectory, size: Int64(status.st_size)),
                let id = try scratch.find(place), !used.contains(id)
            else { continue }
            try throwAway(place)
            nodeNotices.nameChanged(place)
        }
    }

    /// Returns whether a file was not used for the lifetime. A copy that keeps old times is still
    /// new, therefore the time of its last status change counts too.
    private func isForgotten(_ status: stat) -> Bool {
        let used = max(
            status.st_atim.timestamp, status.st_mtim.timestamp, status.st_ctim.timestamp)
        return used + Self.scratchLifetime <= options.now
    }
}
