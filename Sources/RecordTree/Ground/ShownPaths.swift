import Glibc
import RecordModel
import RecordStore

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
