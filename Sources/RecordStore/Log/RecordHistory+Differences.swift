package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the records that differ between two moments, by zone, type and name. Costs as much as
    /// was changed between them.
    ///
    /// - Parameters:
    ///   - scope: only records below this place.
    ///   - records: only these records. Nil for all.
    ///   - end: the present when nil.
    package func differences(
        in scope: RestoreScope, of records: Set<RecordKey>? = nil, from start: RestorePoint,
        to end: RestorePoint? = nil
    ) throws(RecordError) -> [RecordDifference] {
        try store.readSnapshot { connection throws(RecordError) in
            let from = try connection.completeToken(at: start)
            let to = try end.map { (end) throws(RecordError) in
                try connection.completeToken(at: end)
            }
            let zones = Set(
                try connection.all("SELECT \(Columns.zone) FROM zone") { $0.zone() }
                    .filter(scope.reaches).map(\.id))
            let changed = try connection.records.changedPlaces(
                after: min(from, to ?? .max), upTo: max(from, to ?? .max))
            // Nobody sees these any more.
            let waiting =
                end == nil ? Set(try connection.records.waitingDeletions().map(\.place)) : []
            var differences: [RecordDifference] = []
            for place in changed.union(waiting)
            where zones.contains(place.zone) && scope.contains(place.type)
                && records?.contains(place.key) ?? true
            {
                let old = try connection.records.version(of: place, upTo: from)
                let new =
                    waiting.contains(place)
                    ? nil : try connection.records.version(of: place, upTo: to ?? .max)
                guard try connection.records.differ(old, new) else { continue }
                differences.append(RecordDifference(place: place, old: old, new: new))
            }
            return differences.sorted { $0.place.precedes($1.place) }
        }
    }
}

extension RecordPlace {
    fileprivate func precedes(_ other: RecordPlace) -> Bool {
        if zone != other.zone { return zone.rawValue < other.zone.rawValue }
        if type != other.type { return type < other.type }
        return name < other.name
    }
}
