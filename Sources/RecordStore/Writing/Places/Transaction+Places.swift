package import RecordModel
import RecordSQL
import Synchronization

extension Transaction {
    // MARK: Zones

    /// Makes a zone, or returns the existing one. A removed zone with that name comes back with its
    /// number, history and trash. Errors: invalidName; tooLarge for more zones than the server
    /// allows.
    package func makeZone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo {
        guard name.isValid else {
            throw RecordError(.invalidName, "\(name) cannot be the name of a zone.")
        }
        if let zone = try zone(database, owner, name) { return zone }
        guard database != .public || name == .publicZone else {
            throw RecordError(
                .invalidName,
                "the public database has one zone, public/\(ZoneName.publicZone): make record types "
                    + "in it.")
        }
        try checkZoneCount(database)
        try connection.run(
            """
            INSERT INTO zone (database, owner, name, created, modified) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET removed = 0, permission = 0, created = excluded.created,
                modified = excluded.modified
            """,
            [.integer(database.rawValue), .name(owner), .name(name), .time(now), .time(now)])
        guard let zone = try zone(database, owner, name) else {
            throw RecordError(.corrupt, "A zone that was just made is not there.")
        }
        placesChanged = true
        note(.zoneMade, zone: zone.id)
        return zone
    }

    private func checkZoneCount(_ database: Database) throws(RecordError) {
        guard database == .private, author != .sync else { return }
        let count = try connection.first(
            "SELECT COUNT(*) FROM zone WHERE database = ? AND removed = 0",
            [.integer(database.rawValue)]
        ) { Int(clamping: $0.int64(0)) }
        guard let count, count >= ServerLimits.zonesPerDatabase else { return }
        throw RecordError(
            .tooLarge,
            "a private database has at most \(ServerLimits.zonesPerDatabase) zones on the server, and "
                + "this would be one more; remove one first")
    }

    /// Removes a zone, also on the server when the server has it. Errors: notFound, notEmpty while
    /// it has record types.
    package func removeZone(_ zone: ZoneID) throws(RecordError) {
        switch try requireZone(zone).database {
        case .private, .local: break
        case .public: throw RecordError(.notPermitted, "the zone of the public database stays.")
        case .shared where author != .sync:
            throw RecordError(
                .notPermitted, "only the owner of the zone can remove it.")
        case .shared: break
        }
        try finishRemovedTypes()
        let types = try connection.first(
            "SELECT COUNT(*) FROM record_type WHERE zone_id = ?", [.integer(zone.rawValue)]
        ) { $0.int64(0) }
        guard types == 0 else {
            throw RecordError(.notEmpty, "The zone still has record types; remove them first.")
        }
        try connection.run(
            "UPDATE zone SET removed = 1, incarnation = incarnation + 1 WHERE id = ?",
            [.integer(zone.rawValue)])
        try assets.unpin(.zone(zone))
        placesChanged = true
        note(.zoneRemoved, zone: zone)
    }

    /// Sets the permission of this machine's user in a zone. Errors: notFound.
    package func setPermission(
        _ permission: ZoneInfo.Permission, of zone: ZoneID
    ) throws(RecordError) {
        _ = try requireZone(zone)
        try connection.run(
            "UPDATE zone SET permission = ? WHERE id = ?",
            [.integer(permission.rawValue), .integer(zone.rawValue)])
        placesChanged = true
        note(.permission, zone: zone)
    }

    func zone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo? {
        try connection.records.zone(database, owner, name)
    }

    package func requireZone(_ id: ZoneID) throws(RecordError) -> ZoneInfo {
        guard let zone = try connection.records.zone(id) else {
            throw RecordError(.notFound, "The zone is gone.")
        }
        return zone
    }

    /// Returns the type that something kept belongs to. The type and its zone are made again when
    /// they do not exist. Errors: notFound for a zone that others have shared and taken back;
    /// accessDenied.
    package func remakeType(_ zone: ZoneID, _ name: RecordTypeName) throws(RecordError) -> TypeInfo
    {
        let kept = try connection.first(
            "SELECT \(Columns.zone) FROM zone WHERE id = ? AND removed = 1",
            [.integer(zone.rawValue)]
        ) { $0.zone() }
        if let kept {
            guard kept.database != .shared else {
                throw RecordError(
                    .notFound, "The zone \(kept.name) is no longer shared with you.")
            }
            _ = try makeZone(kept.database, kept.owner, kept.name)
        }
        return try makeType(zone, name)
    }

    // MARK: Types

    /// Makes a record type in a zone, or returns the existing one. Errors: notFound, invalidName,
    /// accessDenied in a read-only zone.
    package func makeType(
        _ zone: ZoneID, _ name: RecordTypeName
    ) throws(RecordError) -> TypeInfo {
        guard name.isValid else {
            throw RecordError(
                .invalidName,
                "\(name) cannot be a record type: use letters, digits and _, not first a digit.")
        }
        let info = try requireZone(zone)
        if let type = try type(zone, name) { return type }
        if info.permission == .readOnly && author != .sync { throw .readOnlyZone(info) }
        try finishRemovedTypes()
        try connection.run(
            "INSERT INTO record_type (zone_id, name, created, modified) VALUES (?, ?, ?, ?)",
            [.integer(zone.rawValue), .name(name), .time(now), .time(now)])
        let id = TypeID(connection.lastInsertedRow)
        try touch(zone)
        placesChanged = true
        note(.typeMade, zone: zone, type: id, typeName: name)
        return TypeInfo(
            id: id, zone: zone, name: name, created: now, modified: now, statusChanged: changed)
    }

    func type(_ zone: ZoneID, _ name: RecordTypeName) throws(RecordError) -> TypeInfo? {
        try connection.first(
            "SELECT \(Columns.type) FROM record_type WHERE zone_id = ? AND name = ? AND removed = 0",
            [.integer(zone.rawValue), .name(name)]
        ) { $0.type() }.map { type in store.directoryTimes.withLock { $0.latest(type) } }
    }

    /// Returns a type with its zone, from the store's cache when nothing changed in this
    /// transaction. Errors: notFound.
    package func place(_ id: TypeID) throws(RecordError) -> TypePlace {
        let place = try placeUntilFinal(id)
        guard !place.isRemoved else { throw RecordError(.notFound, "The record type is gone.") }
        return place
    }

    /// Does the same, also for a removed type whose last deletions are not final yet.
    func placeUntilFinal(_ id: TypeID) throws(RecordError) -> TypePlace {
        if !placesChanged, let place = store.cache.withLock({ $0.types[id] }) { return place }
        let row = try connection.first(
            "SELECT \(Columns.type), removed FROM record_type WHERE id = ?",
            [.integer(id.rawValue)]
        ) { (type: $0.type(), isRemoved: $0.bool(Columns.typeCount)) }
        guard let row else { throw RecordError(.notFound, "The record type is gone.") }
        let place = TypePlace(
            type: id, name: row.type.name, zone: try requireZone(row.type.zone),
            isRemoved: row.isRemoved)
        if !placesChanged { store.cache.withLock { $0.types[id] = place } }
        return place
    }

    /// Returns the place, for a change by this machine's user. Errors: notFound, accessDenied.
    func writablePlace(_ id: TypeID) throws(RecordError) -> TypePlace {
        let place = try place(id)
        if place.zone.permission == .readOnly { throw .readOnlyZone(place.zone) }
        return place
    }

    /// Updates the time of a directory in which an entry was added or removed, in its row or in
    /// `DirectoryTimes`.
    func touch(_ type: TypeID) throws(RecordError) {
        switch touched[type] {
        case .written, .deferred: return
        case .set: try writeTouch(type, marks: false)
        case nil:
            switch store.directoryTimes.withLock({ $0.plan(type, at: now) }) {
            case .write(let marks): try writeTouch(type, marks: marks)
            case .remember:
                touched[type] = .deferred(
                    DirectoryTimes.Times(modified: now, changed: nextChange(of: type)))
            }
        }
    }

    /// Returns the `st_ctime` of a change of a directory: later than the last one, also when the
    /// clock was set back.
    func nextChange(of type: TypeID) -> Timestamp {
        guard let last = store.directoryTimes.withLock({ $0.times(of: type)?.changed }) else {
            return changed
        }
        return max(changed, last + .nanoseconds(1))
    }

    private func writeTouch(_ type: TypeID, marks: Bool) throws(RecordError) {
        let changed = try connection.first(
            Self.touchType,
            [
                .time(now), .time(nextChange(of: type)), .integer(type.rawValue),
                .integer(marks ? 1 : 0),
            ]
        ) { $0.time(0) }
        guard let changed else { return }
        touched[type] = .written(
            DirectoryTimes.Times(modified: now, changed: changed), isMarked: marks)
    }

    private static let touchType = """
        UPDATE record_type SET modified = ?1, is_busy = ?4, \(Columns.changed("?2")) WHERE id = ?3
        RETURNING status_changed
        """

    func touch(_ zone: ZoneID) throws(RecordError) {
        try connection.run(
            "UPDATE zone SET modified = ? WHERE id = ?", [.time(now), .integer(zone.rawValue)])
    }

    // MARK: Changes

    package func note(
        _ kind: ChangeKind, zone: ZoneID, type: TypeID? = nil, record: RecordID? = nil,
        stem: Stem? = nil, token: Int64? = nil, asset: AssetID? = nil,
        waitingAssets: [AssetEntry] = [], former: Stem? = nil, typeName: RecordTypeName? = nil
    ) {
        let file = record.flatMap { replaced[$0] }
        changes.append(
            StoreChange(
                author: author, program: program, kind: kind, zone: zone, type: type,
                record: record, stem: stem,
                token: token, asset: asset,
                replaced: file?.entry.file, effect: file?.effect ?? .inPlace,
                waitingAssets: waitingAssets, former: former, typeName: typeName))
        changes[changes.count - 1].isConsequence = makesConsequences
    }

    /// Does what follows from the changes that somebody has asked for.
    func asConsequence<Result>(
        _ body: () throws(RecordError) -> Result
    ) throws(RecordError) -> Result {
        let before = makesConsequences
        makesConsequences = true
        defer { makesConsequences = before }
        return try body()
    }
}

extension RecordError {
    static func readOnlyZone(_ zone: ZoneInfo) -> RecordError {
        RecordError(.accessDenied, "You may read the zone \(zone.name), not change it.")
    }
}
