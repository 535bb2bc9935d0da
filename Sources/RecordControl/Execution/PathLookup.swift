package import RecordModel
package import RecordStore

/// Finds the objects at paths of a store.
///
/// Errors of all: `notFound` when there is nothing at the path, `isDirectory` or `invalidArgument`
/// for a path of another depth.
extension RecordStore {
    package func zone(at path: RecordPath) throws(RecordError) -> ZoneInfo {
        guard let database = path.database, let name = path.zone else {
            throw RecordError(
                .invalidArgument, "the path names no zone. Write DATABASE/ZONE/TYPE/NAME.")
        }
        guard let zone = try zone(database, path.owner, name) else {
            throw RecordError(.notFound, "there is no zone \"\(name)\".")
        }
        return zone
    }

    /// Returns the zone like `zone(at:)`, and also a zone that was removed: its trash and history
    /// are kept.
    package func keptZone(at path: RecordPath) throws(RecordError) -> ZoneInfo {
        guard let database = path.database, let name = path.zone,
            let zone = try past.keptZone(database, path.owner, name)
        else { return try zone(at: path) }
        return zone
    }

    package func type(at path: RecordPath) throws(RecordError) -> TypeInfo {
        let zone = try zone(at: path)
        guard let name = path.type else {
            throw RecordError(
                .invalidArgument, "the path names no record type. Write DATABASE/ZONE/TYPE/NAME.")
        }
        guard let type = try model.shownType(zone.id, name) else {
            throw RecordError(.notFound, "there is no record type \"\(name)\" in this zone.")
        }
        return type
    }

    /// Returns the record of a path that names one, or names an asset of one. A record that waits
    /// for its deletion counts as deleted.
    package func record(at path: RecordPath) throws(RecordError) -> RecordEntry {
        guard let stem = path.stem else {
            throw RecordError(.isDirectory, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let type = try type(at: path)
        guard let entry = try record(type.id, stem), entry.state != .waitingDelete else {
            throw RecordError(.notFound, "there is no such record.")
        }
        if entry.isAwaited, case .record = path.item {
            throw RecordError(.notFound, RecordError.missingRecord(stem).message)
        }
        return entry
    }

    /// Returns the large field of a path. A path with an ending means the file with that name, as
    /// the mount shows it. A path without one means the field.
    package func asset(at path: RecordPath) throws(RecordError) -> AssetEntry {
        let record = try record(at: path)
        guard case .asset(_, let field, let index, let fileExtension) = path.item,
            let asset = try assets.asset(record.id, field, index), !asset.isLeaving
        else { throw RecordError(.notFound, "the record has no such field.") }
        guard fileExtension.isEmpty || fileExtension == asset.fileExtension else {
            throw RecordError(
                .notFound,
                "the file of this field is \(String(decoding: asset.fileName, as: UTF8.self)).")
        }
        return asset
    }

    /// Returns the versions of the record at a path, oldest first, also of a deleted one. The list
    /// is empty when this machine has never had any.
    ///
    /// Records are distinguished by name and type: two types of a zone can each have had one with
    /// the same file name.
    package func versions(at path: RecordPath) throws(RecordError) -> [Version] {
        let zone = try keptZone(at: path)
        guard let type = path.type, let stem = path.stem else {
            throw RecordError(.isDirectory, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        for name in try possibleNames(of: stem, type, in: zone.id) {
            let versions = try past.history(of: name, in: zone.id).filter { $0.type == type }
            if !versions.isEmpty { return versions }
        }
        return []
    }

    /// Checks that an object was at the path at some time.
    ///
    /// Errors: `notFound` when it never was in this store, or when nothing of it is kept.
    package func checkWasThere(_ path: RecordPath) throws(RecordError) {
        guard path.zone != nil else { return }
        let zone = try keptZone(at: path)
        guard let type = path.type else { return }
        var isKnown = try self.type(zone.id, type) != nil
        for kept in [Kept.history, .trash] where !isKnown {
            isKnown = try past.types(in: zone.id, with: kept).contains(type)
        }
        guard isKnown else {
            throw RecordError(.notFound, "there never was a record type \"\(type)\" in this zone.")
        }
        guard let stem = path.stem else { return }
        if try past.lastTrashed(in: zone.id, type: type, stem) != nil { return }
        guard try versions(at: path).isEmpty else { return }
        throw RecordError(.notFound, "there never was such a record, or its versions are gone.")
    }

    /// Returns the names that the record of a file name can have, the most certain first.
    package func possibleNames(
        of stem: Stem, _ type: RecordTypeName, at path: RecordPath
    ) throws(RecordError) -> [RecordName] {
        guard let database = path.database, let name = path.zone else {
            return Self.plainNames(of: stem, type)
        }
        var zone = try past.keptZone(database, path.owner, name)
        if zone == nil { zone = try self.zone(database, path.owner, name) }
        guard let zone else { return Self.plainNames(of: stem, type) }
        return try possibleNames(of: stem, type, in: zone.id)
    }

    func possibleNames(
        of stem: Stem, _ type: RecordTypeName, in zone: ZoneID
    ) throws(RecordError) -> [RecordName] {
        if let info = try self.type(zone, type), let entry = try record(info.id, stem),
            let meta = try meta(of: entry.id)
        {
            return [meta.name]
        }
        if let trashed = try past.lastTrashed(in: zone, type: type, stem) {
            return [trashed.name]
        }
        return Self.plainNames(of: stem, type)
    }

    /// Returns the names that a record with a file of this name can have.
    private static func plainNames(of stem: Stem, _ type: RecordTypeName) -> [RecordName] {
        let plain = stem.decoded ?? RecordName(bytes: stem.bytes)
        // The name of a record whose plain name another type of the zone already has.
        return [plain, RecordName(bytes: plain.bytes + [UInt8(ascii: ":")] + type.bytes)]
    }
}

extension Transaction {
    /// Returns the TYPE directory of a path. It and its zone are created when missing.
    func makeType(at path: RecordPath) throws(RecordError) -> TypeInfo {
        guard let database = path.database, let zone = path.zone, let type = path.type else {
            throw RecordError(
                .invalidArgument, "the path names no record type. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let place = try makeZone(database, path.owner, zone)
        return try makeType(place.id, type)
    }
}
