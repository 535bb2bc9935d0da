package import RecordModel
package import RecordStore

extension RecordStore {
    /// Returns the place of a path for the log, and for one record its names.
    ///
    /// - Parameter following: whether names that the record had before are included.
    /// - Throws: `notFound` when nothing at the path is known.
    package func logPlace(
        of path: RecordPath, following: Bool = false
    ) throws(RecordError) -> (scope: RestoreScope, records: Set<RecordKey>?) {
        let scope = try path.restoreScope
        try checkWasThere(path)
        guard let type = path.type, let stem = path.stem else { return (scope, nil) }
        let zone = try keptZone(at: path).id
        var known: [RecordKey] = []
        for name in try possibleNames(of: stem, type, in: zone)
        where try past.hasHistory(of: name, in: zone, type: type) {
            known.append(RecordKey(zone: zone, name: name))
        }
        guard following, let first = known.first else { return (scope, Set(known.prefix(1))) }
        return (scope, try past.withFormerNames(first))
    }

    /// Returns the path of a record in a version, also of one that no longer exists.
    package func path(of place: RecordPlace) throws(RecordError) -> RecordPath {
        let entry = try self.record(named: place.name, in: place.zone)
        let isThere = try entry.map { (entry) throws(RecordError) in
            try self.type(place.zone, place.type)?.id == entry.type
        }
        let stem = isThere == true ? entry?.stem : nil
        let zone = try past.keptZone(place.zone)
        return RecordPath(
            database: zone?.database, owner: zone?.owner ?? .me, zone: zone?.name,
            type: place.type, item: .record(stem ?? Stem(encoding: place.name)))
    }
}
