import RecordModel
import RecordObjects
import RecordSQL

/// The borders between zones: each zone may be shared with other people, and objects on the two sides
/// of a border are not related.
extension ObjectLinks {
    private var connection: SQLConnection { transaction.connection }

    /// Refuses names that lead to objects of other zones. A name that leads nowhere may wait.
    ///
    /// A copy of an object keeps its names, because the objects that it names may be copied after it.
    ///
    /// Errors: schemaMismatch.
    func checkZones(
        of names: Set<RecordName>, as relation: Relation, by object: RecordName,
        in place: TypePlace
    ) throws(RecordError) {
        for name in names.sorted() {
            if try connection.records.stored(named: name, place.zone.id) != nil { continue }
            for target in try elsewhere(name, unlessWith: object, in: place.zone.id) {
                guard relation.leads(to: target.type) else { continue }
                throw RecordError(
                    .schemaMismatch,
                    "\"\(relation.name)\" names \(name), which is \(target.path): objects of two "
                        + "zones cannot be related. Name an object of this zone, or move one of the "
                        + "two to the other with recordfs mv")
            }
        }
    }

    /// Refuses a new object of a type that stays with its user, where others would see it.
    ///
    /// Errors: schemaMismatch.
    func checkPrivacy(of place: TypePlace) throws(RecordError) {
        guard transaction.author != .sync,
            transaction.model?.privateTypes.contains(place.name) == true,
            try isShared(place.zone)
        else { return }
        throw RecordError(
            .schemaMismatch,
            "\(place.name) stays with you (\(EntityPrivacy.key) in the model), and the zone "
                + "\(place.zone.name) is shared. Make it in another zone")
    }

    private func isShared(_ zone: ZoneInfo) throws(RecordError) -> Bool {
        if zone.database == .shared { return true }
        return try connection.sync.isSharedWhole(zone.id)
    }

    private struct Target {
        let zone: ZoneInfo
        let type: RecordTypeName
        let stem: Stem

        var path: String {
            let owner = zone.database == .shared ? "\(zone.owner)/" : ""
            return "\(zone.database.name)/\(owner)\(zone.name)/\(type)/\(stem).json"
        }
    }

    /// Returns the objects with a name in other zones.
    ///
    /// - Parameter object: zones that have an object of this name are left out.
    private func elsewhere(
        _ name: RecordName, unlessWith object: RecordName, in zone: ZoneID
    ) throws(RecordError) -> [Target] {
        let found = try connection.all(
            """
            SELECT z.id, t.name, r.stem FROM zone z
                CROSS JOIN record r ON r.zone_id = z.id AND r.name = ?1
                JOIN record_type t ON t.id = r.type_id
            WHERE z.id != ?2 AND z.removed = 0 AND r.state = 0 AND NOT EXISTS (
                SELECT 1 FROM record o WHERE o.zone_id = z.id AND o.name = ?3)
            """, [.name(name), .integer(zone.rawValue), .name(object)]
        ) {
            (
                zone: ZoneID($0.int64(0)), type: RecordTypeName(bytes: $0.bytes(1)),
                stem: Stem(bytes: $0.bytes(2))
            )
        }
        var targets: [Target] = []
        for row in found {
            guard let zone = try connection.records.zone(row.zone) else { continue }
            targets.append(Target(zone: zone, type: row.type, stem: row.stem))
        }
        return targets
    }
}
