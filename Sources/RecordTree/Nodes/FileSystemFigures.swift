import Glibc
package import RecordModel
import RecordStore

/// A file system's figures for statfs.
package struct FileSystemFigures: Hashable, Sendable {
    package var blockSize: UInt64
    package var blocks, blocksFree, blocksAvailable: UInt64
    package var files, filesFree: UInt64
    package var nameLengthMax: UInt64

    /// Puts a quota in place of the size of the disk. What the disk has no room for is free, and not
    /// available, as what a file system keeps for root. Whose size is not told is as large as what is left
    /// of it.
    mutating func apply(_ quota: Quota) {
        let total = quota.totalBytes ?? quota.freeBytes
        blocks = UInt64(max(total, 0)) / blockSize
        blocksFree = min(UInt64(max(quota.freeBytes, 0)) / blockSize, blocks)
        blocksAvailable = min(blocksFree, blocksAvailable)
    }
}

extension Tree {
    /// What statfs shows of a node: the room that the server has for what is below `private` and below a
    /// zone of others, as it last said, and elsewhere that of the disk which holds the store.
    package func figures(of number: NodeNumber) throws(RecordError) -> FileSystemFigures {
        var figures = try hostFigures()
        if let quota = try knownQuota(at: number) { figures.apply(quota) }
        return figures
    }

    /// Of a file that is gone while somebody has it open, that of the disk.
    private func knownQuota(at number: NodeNumber) throws(RecordError) -> Quota? {
        do throws(RecordError) {
            return try quota(at: node(number))
        } catch  where error.code == .stale {
            return nil
        }
    }

    private func hostFigures() throws(RecordError) -> FileSystemFigures {
        var figures = statvfs()
        guard withPath(Array(store.directory.utf8), { statvfs($0, &figures) }) == 0 else {
            throw .lastSystemError("statvfs")
        }
        return FileSystemFigures(
            blockSize: UInt64(figures.f_frsize), blocks: UInt64(figures.f_blocks),
            blocksFree: UInt64(figures.f_bfree), blocksAvailable: UInt64(figures.f_bavail),
            files: UInt64(figures.f_files), filesFree: UInt64(figures.f_ffree),
            nameLengthMax: 255)
    }

    private func quota(at node: Node) throws(RecordError) -> Quota? {
        switch node {
        case .database(.private): try store.ownQuota()
        case .zone(let zone), .share(.zone(let zone)):
            if let zone = try store.zone(zone) { try quota(of: zone) } else { nil }
        case .type(let type), .errorFile(let type): try quota(of: place(of: type).zone)
        case .record(let file): try quota(ofRecord: file.record)
        case .share(.record(let record)): try quota(ofRecord: record)
        case .asset(let asset):
            if let asset = try store.asset(asset) {
                try quota(of: place(of: asset.type).zone)
            } else {
                nil
            }
        // Local files take room on the disk alone.
        case .root, .readme, .database, .owner, .control, .scratch: nil
        }
    }

    private func quota(of zone: ZoneInfo) throws(RecordError) -> Quota? {
        switch zone.database {
        case .private: try store.ownQuota()
        case .shared: try store.quota(ofOwnerOf: zone.id)
        // Of the public database nothing is told, and what is local is on the disk alone.
        case .public, .local: nil
        }
    }

    private func quota(ofRecord id: RecordID) throws(RecordError) -> Quota? {
        guard let record = try store.record(id) else { return nil }
        return try quota(of: place(of: record.type).zone)
    }
}
