import RecordControl
import RecordModel
import RecordStore
import RecordSync
import RecordTree

/// Finds the zones and records that requests about shares name.
struct SharedPlaces {
    let store: RecordStore

    /// Returns a zone, or a record in it. Errors: invalidArgument when it cannot be shared,
    /// notFound.
    func place(_ path: RecordPath) throws(RecordError) -> SharedPlace {
        guard path.database == .private || path.database == .shared, path.zone != nil,
            path.type == nil || path.stem != nil
        else {
            throw RecordError(
                .invalidArgument,
                "zones and records of private can be shared: name private/ZONE or "
                    + "private/ZONE/TYPE/NAME.")
        }
        let zone = try store.zone(at: path)
        guard path.stem != nil else { return SharedPlace(zone: zone, root: nil) }
        return try place(of: try store.record(at: path), in: zone)
    }

    /// Returns the place of a share's file.
    func place(_ file: ShareFile) throws(RecordError) -> SharedPlace {
        switch file {
        case .zone(let id): return SharedPlace(zone: try zone(id), root: nil)
        case .record(let id):
            guard let record = try store.record(id), let type = try store.type(record.type) else {
                throw RecordError(.notFound, "the record is gone.")
            }
            return try place(of: record, in: try zone(type.zone))
        }
    }

    private func place(
        of record: RecordEntry, in zone: ZoneInfo
    ) throws(RecordError) -> SharedPlace {
        guard let meta = try store.meta(of: record.id), record.state == .saved else {
            throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
        }
        return SharedPlace(zone: zone, root: meta.name)
    }

    private func zone(_ id: ZoneID) throws(RecordError) -> ZoneInfo {
        guard let zone = try store.zone(id) else {
            throw RecordError(.notFound, "the zone is gone.")
        }
        guard zone.database == .private || zone.database == .shared else {
            throw RecordError(
                .invalidArgument,
                "only zones and records of private can be shared, not those of \(zone.database.name)."
            )
        }
        return zone
    }
}
