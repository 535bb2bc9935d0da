import Glibc
import RecordModel
import RecordStore

/// The space that statfs shows.
final class FileSystemSpace: Sendable {
    let nodes: Nodes
    let places: TypeDirectories
    let store: RecordStore

    init(_ ground: Ground) {
        nodes = ground.nodes
        places = ground.places
        store = ground.store
    }

    /// Returns the figures that statfs shows of a node. Below `private` and below a zone of others
    /// this is the free space that the server last reported. Elsewhere it is the space on the disk
    /// with the store.
    func figures(of number: NodeNumber) throws(RecordError) -> FileSystemFigures {
        var figures = try hostFigures()
        if let quota = try knownQuota(at: number) { figures.apply(quota) }
        return figures
    }

    /// Returns the quota of a node. Returns nil for a file that is deleted while a program has it
    /// open: then the figures of the disk apply.
    private func knownQuota(at number: NodeNumber) throws(RecordError) -> Quota? {
        do throws(RecordError) {
            return try quota(at: nodes.node(number))
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
        case .database(.private): try store.sharing.ownQuota()
        case .zone(let zone), .share(.zone(let zone)):
            if let zone = try store.zone(zone) { try quota(of: zone) } else { nil }
        case .type(let type), .errorFile(let type): try quota(of: places.place(of: type).zone)
        case .record(let file): try quota(ofRecord: file.record)
        case .share(.record(let record)): try quota(ofRecord: record)
        case .asset(let asset):
            if let asset = try store.assets.asset(asset) {
                try quota(of: places.place(of: asset.type).zone)
            } else {
                nil
            }
        // Local files use only space on the disk.
        case .root, .readme, .database, .owner, .control, .scratch: nil
        }
    }

    private func quota(of zone: ZoneInfo) throws(RecordError) -> Quota? {
        switch zone.database {
        case .private: try store.sharing.ownQuota()
        case .shared: try store.sharing.quota(ofOwnerOf: zone.id)
        // The server reports no quota for the public database, and local data is only on the disk.
        case .public, .local: nil
        }
    }

    private func quota(ofRecord id: RecordID) throws(RecordError) -> Quota? {
        guard let record = try store.record(id) else { return nil }
        return try quota(of: places.place(of: record.type).zone)
    }
}
