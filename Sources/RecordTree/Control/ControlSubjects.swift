import RecordModel
import RecordStore

/// The zones that files below `.recordfs` are about. When a share ends, open files about it can no
/// longer be read.
extension ControlFiles {
    /// Returns the zone that a file below `.recordfs` is about. Returns nil where it is about no
    /// zone.
    func zone(of path: ControlPath) throws(RecordError) -> ZoneID? {
        switch path {
        case .meta(let record), .error(let record), .raw(let record):
            guard let record = try store.record(record) else { return nil }
            return try store.type(record.type)?.zone
        case .version(let token), .pastAsset(let token, _, _):
            return try store.past.versionEntry(token)?.1
        case .trashed(let id): return try store.past.trashEntry(id)?.zone
        case .conflictFile(let id, _): return try store.syncState.conflict(id)?.zone
        case .export(let type, _): return try store.type(type)?.zone
        case .typeSchema(let zone, _): return try store.zone(zone)?.id
        default: return nil
        }
    }

    func isOfOthers(_ path: ControlPath) throws(RecordError) -> Bool {
        try zone(of: path).map(places.isOfOthers) ?? false
    }

    /// Throws when the subject of a file about a zone of others no longer exists.
    func checkIsThere(_ path: ControlPath) throws(RecordError) {
        if try zone(of: path) == nil { throw .sharedNoLonger(kept: false) }
    }
}
