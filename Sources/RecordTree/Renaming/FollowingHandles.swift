import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Handles files that a program has open when the file takes the name of a large field, or when a
/// field's file takes a local name. As on any file system, later writes go to the file with the new
/// name.
extension Tree {
    func isWritten(_ scratch: ScratchID) -> Bool {
        handles(on: { $0.isScratch(scratch) }).contains(where: \.canWrite)
    }

    /// Replaces an open scratch file by the field's file in all its handles.
    ///
    /// - Parameters:
    ///   - source: the scratch file, which has lost its name.
    ///   - imported: the status of the scratch file when the field got its bytes.
    func handles(
        on scratch: ScratchID, become entry: AssetEntry, from source: HostFile, _ imported: stat
    )
        throws(RecordError)
    {
        for handle in handles(on: { $0.isScratch(scratch) }) {
            let open = try openAsset(entry, writes: handle.canWrite, isEmptied: false)
            handle.backing.withLock { $0 = .asset(open) }
            if handle.canWrite { try open.takeLater(source, than: imported, in: self) }
        }
    }

    /// Replaces the open file of a field or a record by the scratch file, which has the same bytes,
    /// in all its handles.
    func handles(
        on matches: (OpenHandle.Backing) -> Bool, become scratch: ScratchID, at path: HostName
    ) throws(RecordError) {
        let handles = handles(on: matches)
        guard !handles.isEmpty else { return }
        let host = try HostFile(path: path, flags: O_RDWR)
        for handle in handles { handle.backing.withLock { $0 = .scratch(host, scratch) } }
    }

    /// Returns the content that the file shows, including writes that are not saved yet. Returns
    /// nil where the bytes are not on this machine.
    func shownContent(
        of entry: AssetEntry, _ open: OpenAsset?
    ) throws(RecordError) -> (file: HostFile, modified: Timestamp)? {
        if let open {
            try open.checkIsWhole()
            let (file, modified) = open.state.withLock { ($0.file, $0.modified) }
            if let file { return (file, modified) }
        }
        return try storedContent(of: entry).map { ($0, entry.modified) }
    }
}

extension Tree {
    /// Moves open files of a record's large fields to the record's new name or place, on this
    /// machine or elsewhere.
    func followFields(of record: RecordID, to target: RecordID) {
        let open = state.withLock { $0.assets.values.filter { $0.place.record == record } }
        guard !open.isEmpty else { return }
        do throws(RecordError) {
            let files = try store.assets(of: target)
            for open in open {
                let home = open.home
                guard let entry = files.first(where: home.isSameFile) else { continue }
                state.withLock { state in
                    let former = open.id
                    state.adopt(state.nodes.number(of: .asset(former)), open, as: entry)
                    open.state.withLock { open in
                        open.home = AssetHome(entry)
                        open.formerID = former
                    }
                }
            }
        } catch {
            options.report(
                "A program does not follow its open large field, which was moved: \(error)")
        }
    }
}

extension OpenHandle.Backing {
    func isScratch(_ id: ScratchID) -> Bool {
        if case .scratch(_, id) = self { true } else { false }
    }

    func isAsset(_ open: OpenAsset) -> Bool {
        if case .asset(let it) = self { it === open } else { false }
    }

    func isRecord(_ open: OpenRecord) -> Bool {
        if case .record(let it) = self { it === open } else { false }
    }
}

extension OpenAsset {
    /// Takes over writes to the source file that were made after its bytes were imported.
    fileprivate func takeLater(
        _ source: HostFile, than imported: stat, in tree: Tree
    ) throws(RecordError) {
        let now = try source.status
        guard now.st_size != imported.st_size || now.st_mtim.timestamp != imported.st_mtim.timestamp
        else { return }
        try changing { () throws(RecordError) in
            let copy = try tree.workingCopy(of: self)
            try copy.copy(from: source, count: Int64(now.st_size))
        }
        state.withLock { state in
            state.version += 1
            state.size = max(state.size, Int64(now.st_size))
        }
    }
}
