package import RecordModel
package import RecordStore

extension ControlExecutor {
    func settleConflict(
        _ path: RecordPath, _ number: Int64, _ settlement: Settlement
    ) throws(RecordError) -> ControlReply {
        guard try store.conflicts(at: path).contains(where: { $0.id == number }) else {
            throw RecordError(.notFound, "it has no conflict \(number) any more.")
        }
        try store.write(author: .commandLine, by: author) { (transaction) throws(RecordError) in
            try transaction.merging.settle(number, settlement)
        }
        return ControlReply(.object([]))
    }
}

extension RecordStore {
    /// Returns the open conflicts at and below a path, newest first in each zone, also those of
    /// deleted records.
    package func conflicts(at path: RecordPath) throws(RecordError) -> [Conflict] {
        if path.zone != nil {
            let zone = try keptZone(at: path)
            return try syncState.conflicts(in: zone.id, type: path.type).filter { conflict in
                path.stem == nil || path.stem == conflict.stem
            }
        }
        var found: [Conflict] = []
        for database in Database.allCases where path.database.map({ $0 == database }) ?? true {
            for zone in try past.zones(in: database, with: .conflicts)
            where path.owner == .me || path.owner == zone.owner {
                found += try syncState.conflicts(in: zone.id)
            }
        }
        return found
    }

    /// Returns the path of a conflict's record, in the spelling of the mount.
    package func path(of conflict: Conflict) throws(RecordError) -> RecordPath {
        guard let zone = try past.keptZone(conflict.zone) else {
            throw RecordError(.notFound, "the zone of a conflict is gone. Try again.")
        }
        return RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: conflict.type,
            item: .record(conflict.stem))
    }
}
