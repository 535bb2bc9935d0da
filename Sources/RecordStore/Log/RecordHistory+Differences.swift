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
            let from = try connection.token(at: start)
            let to = try end.map { (end) throws(RecordError) in try connection.token(at: end) }
            let zones = Set(
                try connection.all("SELECT \(Columns.zone) FROM zone") { $0.zone() }
                    .filter(scope.reaches).map(\.id))
            let reading = DifferenceReading(connection: connection)
            var changed = try reading.changed(
                after: min(from, to ?? .max), upTo: max(from, to ?? .max))
            let waiting = end == nil ? Set(try reading.waiting()) : []
            changed.formUnion(waiting)
            var differences: [RecordDifference] = []
            for place in changed
            where zones.contains(place.zone) && scope.contains(place.type)
                && records?.contains(RecordKey(zone: place.zone, name: place.name)) ?? true
            {
                let record = RecordKey(zone: place.zone, name: place.name)
                let old = try connection.records.version(of: record, place.type, upTo: from)
                let new =
                    waiting.contains(place)
                    ? nil
                    : try connection.records.version(of: record, place.type, upTo: to ?? .max)
                guard old != new else { continue }
                differences.append(
                    RecordDifference(
                        zone: place.zone, type: place.type, name: place.name, old: old, new: new))
            }
            return differences.sorted(by: DifferenceReading.precedes)
        }
    }
}

/// Reads the states of records at moments.
private struct DifferenceReading {
    /// A record in one type: a name that has moved to another type is another place.
    struct Place: Hashable {
        let zone: ZoneID
        let type: RecordTypeName
        let name: RecordName
    }

    let connection: SQLConnection

    /// Returns the places that have a version between two tokens, the first one excluded.
    func changed(after: Int64, upTo: Int64) throws(RecordError) -> Set<Place> {
        Set(
            try connection.all(
                "SELECT zone_id, type, name FROM history WHERE token > ? AND token <= ?",
                [.integer(after), .integer(upTo)]
            ) { Self.place($0) })
    }

    /// Returns the places whose deletions wait: nobody sees these records any more.
    func waiting() throws(RecordError) -> [Place] {
        try connection.all(
            """
            SELECT r.zone_id, t.name, r.name FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.waiting_since IS NOT NULL AND r.name IS NOT NULL
            """
        ) { Self.place($0) }
    }

    private static func place(_ row: SQLStatement) -> Place {
        Place(
            zone: ZoneID(row.int64(0)), type: RecordTypeName(bytes: row.bytes(1)),
            name: RecordName(bytes: row.bytes(2)))
    }

    static func precedes(_ left: RecordDifference, _ right: RecordDifference) -> Bool {
        if left.zone != right.zone { return left.zone.rawValue < right.zone.rawValue }
        if left.type != right.type { return left.type < right.type }
        return left.name < right.name
    }
}
