import Glibc
import RecordModel
import RecordStore

/// Handles files that a program has open when the file takes the name of a large field, or when a
/// field's file takes a local name. As on any file system, later writes go to the file with the new
/// name.
final class HandleMoves: Sendable {
    let assetContent: AssetContent
    let assetFiles: AssetNodes
    let handles: OpenHandles

    init(_ ground: Ground, _ assetRooms: AssetRooms) {
        assetContent = assetRooms.assetContent
        assetFiles = assetRooms.assetFiles
        handles = ground.handles
    }

    /// Returns whether a program has the local file open for writing.
    func isWritten(_ scratch: ScratchID) -> Bool {
        handles.all(on: { $0.isScratch(scratch) }).contains(where: \.canWrite)
    }

    /// Replaces an open scratch file by the field's file in all its handles.
    ///
    /// - Parameters:
    ///   - source: the scratch file, which has lost its name.
    ///   - imported: the status of the scratch file when the field got its bytes.
    func move(
        on scratch: ScratchID, become entry: AssetEntry, from source: HostFile, _ imported: stat
    )
        throws(RecordError)
    {
        for handle in handles.all(on: { $0.isScratch(scratch) }) {
            let open = try assetFiles.open(entry, writes: handle.canWrite, isEmptied: false)
            guard handle.become(.asset(open)) else {
                assetFiles.close(open, writes: handle.canWrite)
                continue
            }
            if handle.canWrite { try open.takeLater(source, than: imported, into: assetContent) }
        }
    }

    /// Replaces the open file of a field or a record by the scratch file, which has the same bytes,
    /// in all its handles.
    func move(
        on matches: (OpenHandle.Backing) -> Bool, become scratch: ScratchID, at path: HostName
    ) throws(RecordError) {
        let moved = handles.all(on: matches)
        guard !moved.isEmpty else { return }
        let host = try HostFile(path: path, flags: O_RDWR)
        for handle in moved { _ = handle.become(.scratch(host, scratch)) }
    }

    /// Returns the content that the file shows, including writes that are not saved yet. Returns
    /// nil where the bytes are not on this machine.
    func shownContent(
        of entry: AssetEntry, _ open: OpenAsset?
    ) throws(RecordError) -> (file: HostFile, modified: Timestamp)? {
        if let open {
            try open.checkIsWhole()
            let content = open.content
            if let file = content.file { return (file, content.modified) }
        }
        return try assetContent.storedContent(of: entry).map { ($0, entry.modified) }
    }
}

extension OpenAsset {
    /// Takes over writes to the source file that were made after its bytes were imported.
    fileprivate func takeLater(
        _ source: HostFile, than imported: stat, into content: AssetContent
    ) throws(RecordError) {
        let now = try source.status
        guard now.st_size != imported.st_size || now.st_mtim.timestamp != imported.st_mtim.timestamp
        else { return }
        try changing { () throws(RecordError) in
            let copy = try content.workingCopy(of: self)
            try copy.copy(from: source, count: Int64(now.st_size))
        }
        noteCopy(of: Int64(now.st_size))
    }
}
