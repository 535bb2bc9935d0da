import Glibc
import RecordModel
import RecordStore

/// The bytes of large fields on this machine: stored content and working copies.
final class AssetContent: Sendable {
    let errors: ErrorReports
    let store: RecordStore
    let workingFiles: WorkingFiles

    init(_ ground: Ground) {
        errors = ground.errors
        store = ground.store
        workingFiles = ground.workingFiles
    }

    /// Returns the file of an asset's bytes. Returns nil when they are not on this machine.
    func storedContent(of entry: AssetEntry) throws(RecordError) -> HostFile? {
        if let bytes = try store.assets.inlineValue(of: entry) {
            return try workingFiles.temporaryFile(bytes)
        }
        guard let hash = entry.hash, entry.isDownloaded else { return nil }
        do throws(RecordError) {
            try store.assets.checkAsset(hash, size: entry.size)
        } catch {
            if try comesAgain(entry, hash) { return nil }
            let type = try store.record(entry.record)?.type
            if let type { errors.note(.unread, "\(entry.stem)@\(entry.field)", in: type, error) }
            throw error
        }
        return try HostFile(path: Array(store.assets.assetPath(hash).utf8), flags: O_RDONLY)
    }

    /// Returns whether the file of an asset is missing in a regular way and can be downloaded
    /// again: it was removed from the cache since the row was read, or a power cut has left its row
    /// behind.
    private func comesAgain(_ entry: AssetEntry, _ hash: ContentHash) throws(RecordError) -> Bool {
        if let now = try store.assets.asset(entry.id), !now.isDownloaded { return true }
        return try store.assets.noteMissingAsset(hash)
    }

    /// Returns the file that writes change, with the first `keepingBytes` bytes of the stored
    /// content.
    func workingCopy(of open: OpenAsset, keepingBytes limit: Int64 = .max) throws(RecordError)
        -> HostFile
    {
        if let working = open.workingFile { return working }
        let known = open.file
        let isAnew = limit == 0 || open.shown.size == 0
        let current = known == nil && !isAnew ? try arrivedContent(of: open) : known
        let (file, path) = try workingFiles.newFile()
        if let current {
            try file.copy(from: current, count: min(limit, Int64(try current.status.st_size)))
        }
        open.begin(file, at: path)
        return file
    }

    /// Returns the bytes that were downloaded since the asset was opened.
    private func arrivedContent(of open: OpenAsset) throws(RecordError) -> HostFile {
        guard let entry = try store.assets.asset(open.id) else { throw RecordError.goneAsset }
        guard entry.isDownloaded, let content = try storedContent(of: entry) else {
            throw RecordError(.unavailable, "the bytes of the asset are not on this machine yet")
        }
        return content
    }
}
