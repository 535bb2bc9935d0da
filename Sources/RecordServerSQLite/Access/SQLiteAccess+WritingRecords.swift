import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    func putIndexes(_ zone: ZoneHandle, _ records: [IndexKeys]) throws(ServerError) {
        try IndexStatements(access: self).putIndexes(zone, records)
    }

    func put(_ zone: ZoneHandle, _ record: StoredRecord) throws(ServerError) {
        let key = RecordKey(zone: zone, name: record.name)
        let type = try makeNumber(record.type.bytes)
        guard var place = try place(key) else { return try insert(key, record, type) }
        if place.isDeleted, !record.isDeleted { try keepDeparture(of: place, key) }
        let isMoved =
            place.type != type || place.isDeleted != record.isDeleted
            || place.parent != record.parent || place.tree != record.tree
        if isMoved {
            place.type = type
            place.isDeleted = record.isDeleted
            place.parent = record.parent
            place.tree = record.tree
        }
        try update(place, record, isMoved: isMoved)
        if record.isDeleted { try clear(zone, &place, record.name) }
        if let share = record.share { try removeExit(zone, record.name, share) }
        places[key] = place
    }

    /// Returns the place of a record. Returns nil when there is neither a record nor a tombstone of
    /// this name.
    func place(_ key: RecordKey) throws(ServerError) -> RecordPlace? {
        if let place = places[key] { return place }
        let place = try first(
            """
            SELECT id, type, deleted, parent, tree FROM records WHERE zone = ? AND name = ?
            """, [.integer(key.zone), .name(key.name)]
        ) {
            RecordPlace(
                id: $0.int64(0), type: $0.int64(1), isDeleted: $0.bool(2),
                parent: $0.nameIfPresent(3), tree: $0.treeNumber(4))
        }
        places[key] = .some(place)
        return place
    }

    /// Keeps the place where the record of a tombstone has gone, for clients that first hear of the
    /// next record of its name.
    private func keepDeparture(
        of tombstone: RecordPlace, _ key: RecordKey
    ) throws(ServerError) {
        try run(
            """
            INSERT INTO departures (zone, name, position, target)
            SELECT zone, name, position, file_text FROM records
            WHERE id = ? AND deleted = 1 AND file_text IS NOT NULL
            """, [.integer(tombstone.id)])
        if changedRows > 0 { try boundDepartures(of: key) }
    }

    func putDeparture(_ zone: ZoneHandle, _ departure: Departure) throws(ServerError) {
        try run(
            "INSERT INTO departures (zone, name, position, target) VALUES (?, ?, ?, ?)",
            [
                .zone(zone), .name(departure.name), .integer(departure.position),
                .blob(departure.target.stored),
            ])
        try boundDepartures(of: RecordKey(zone: zone, name: departure.name))
    }

    /// The most departures of a name, so that their number is bounded for each record.
    private static let departuresOfName = 8

    private func boundDepartures(of key: RecordKey) throws(ServerError) {
        try run(
            """
            DELETE FROM departures WHERE zone = ?1 AND name = ?2 AND position <= (
                SELECT position FROM departures WHERE zone = ?1 AND name = ?2
                ORDER BY position DESC LIMIT 1 OFFSET ?3)
            """,
            [.integer(key.zone), .name(key.name), .limit(Self.departuresOfName)])
    }

    /// Returns the values that every version of a record has new.
    private func content(_ record: StoredRecord) throws(ServerError) -> [SQLValue] {
        [
            .integer(record.tag), .integer(record.position), .bool(record.hasAssets),
            .integer(record.created.milliseconds),
            .integer(try makeNumber(record.created.user.bytes)),
            .integer(try makeClientNumber(record.created)),
            .integer(record.modified.milliseconds),
            .integer(try makeNumber(record.modified.user.bytes)),
            .integer(try makeClientNumber(record.modified)),
            .optional(record.shortGUID), .blob(record.fields),
            record.isDeleted
                ? .optional(record.movedTo.map { Text(utf8: $0.stored) })
                : .optional(record.fileText),
            .optional(record.gesture),
        ]
    }

    /// The most names of clients that each user can add.
    private static let clientNames = 100

    /// Returns the number of the name that a client gives itself, or of the empty name for a user
    /// with too many names. The names are for people only, and a stored name is never removed.
    func makeClientNumber(_ stamp: WriteStamp) throws(ServerError) -> Int64 {
        if let number = try number(stamp.device.utf8) { return number }
        let user = try makeNumber(stamp.user.bytes)
        let count = try first(
            "SELECT count(*) FROM client_names WHERE user = ?", [.integer(user)]
        ) { $0.int64(0) }
        guard !stamp.device.isEmpty, (count ?? 0) < Self.clientNames else {
            return try makeNumber([])
        }
        let number = try makeNumber(stamp.device.utf8)
        try run(
            "INSERT INTO client_names (user, name) VALUES (?, ?)",
            [.integer(user), .integer(number)])
        return number
    }

    private func insert(
        _ key: RecordKey, _ record: StoredRecord, _ type: Int64
    ) throws(ServerError) {
        try run(
            .insertRecord,
            """
            INSERT INTO records (tag, position, has_assets, created, created_by, created_on,
                modified, modified_by, modified_on, short_guid, fields, file_text,
                gesture, zone, name, type, deleted, parent, tree)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            try content(record) + [
                .integer(key.zone), .name(key.name), .integer(type), .bool(record.isDeleted),
                .optional(record.parent), .optional(record.tree),
            ])
        places[key] = RecordPlace(
            id: lastInsertedRow, type: type, isDeleted: record.isDeleted, parent: record.parent,
            tree: record.tree, hasIndex: false, hasReferences: false, hasAssets: false)
    }

    /// Updates a row. An UPDATE writes every index that has one of its columns, changed or not. The
    /// columns of most indexes are therefore left out when they stay the same.
    private func update(
        _ place: RecordPlace, _ record: StoredRecord, isMoved: Bool
    ) throws(ServerError) {
        let columns = """
            tag = ?, position = ?, has_assets = ?, created = ?, created_by = ?, created_on = ?,
            modified = ?, modified_by = ?, modified_on = ?, short_guid = ?, fields = ?,
            file_text = ?, gesture = ?
            """
        guard isMoved else {
            return try run(
                "UPDATE records SET \(columns) WHERE id = ?",
                try content(record) + [.integer(place.id)])
        }
        try run(
            """
            UPDATE records SET \(columns), type = ?, deleted = ?, parent = ?, tree = ?
            WHERE id = ?
            """,
            try content(record) + [
                .integer(place.type), .bool(place.isDeleted), .optional(place.parent),
                .optional(place.tree), .integer(place.id),
            ])
    }

    /// Removes the rows that other tables have of a record.
    func clear(
        _ zone: ZoneHandle, _ place: inout RecordPlace, _ name: RecordName
    ) throws(ServerError) {
        try IndexStatements(access: self).replaceIndex(zone, &place, name, type: place.type, [])
        try replaceReferences(zone, &place, name, [])
        try replaceAssets(zone, &place, [])
    }

    /// Returns the place of a record that has been put.
    func requirePlace(_ key: RecordKey) throws(ServerError) -> RecordPlace {
        guard let place = try place(key) else {
            throw ServerError(.internalError, "A record that was not put cannot be indexed.")
        }
        return place
    }

    func putReferences(_ zone: ZoneHandle, _ sources: [RecordReferences]) throws(ServerError) {
        for item in sources {
            let key = RecordKey(zone: zone, name: item.source)
            if item.references.isEmpty, try place(key) == nil { continue }
            var place = try requirePlace(key)
            try replaceReferences(zone, &place, item.source, item.references)
            places[key] = place
        }
    }

    private func replaceReferences(
        _ zone: ZoneHandle, _ place: inout RecordPlace, _ source: RecordName,
        _ references: [StoredReference]
    ) throws(ServerError) {
        if place.hasReferences {
            try run("DELETE FROM record_references WHERE record = ?", [.integer(place.id)])
        }
        for reference in references {
            try run(
                """
                INSERT OR IGNORE INTO record_references (zone, target, action, source, record)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .zone(zone), .name(reference.target), .integer(reference.action.number),
                    .name(source), .integer(place.id),
                ])
        }
        place.hasReferences = !references.isEmpty
    }

    func putExit(
        _ zone: ZoneHandle, share: RecordName, _ record: RecordName, position: Int64
    ) throws(ServerError) {
        try run(
            "INSERT OR REPLACE INTO exits (zone, name, share, position) VALUES (?, ?, ?, ?)",
            [.zone(zone), .name(record), .name(share), .integer(position)])
    }

    func removeTombstones(
        _ zone: ZoneHandle, upTo position: Int64, limit: Int
    ) throws(ServerError) -> Bool {
        let range: [SQLValue] = [.zone(zone), .integer(position)]
        try run(
            """
            DELETE FROM records WHERE id IN (
                SELECT id FROM records WHERE zone = ? AND deleted = 1 AND position <= ? LIMIT ?)
            """, range + [.limit(limit)])
        let removed = changedRows
        places.removeAll()
        let rest = SQLValue.limit(limit - removed)
        try run(
            """
            DELETE FROM exits WHERE (zone, name, share) IN (
                SELECT zone, name, share FROM exits WHERE zone = ? AND position <= ? LIMIT ?)
            """, range + [rest])
        try run(
            """
            DELETE FROM departures WHERE (zone, name, position) IN (
                SELECT zone, name, position FROM departures WHERE zone = ? AND position <= ? LIMIT ?)
            """, range + [.limit(limit)])
        for rows in ["records WHERE deleted = 1 AND", "exits WHERE", "departures WHERE"] {
            let isMore = try exists(
                "SELECT 1 FROM \(rows) zone = ? AND position <= ? LIMIT 1", range)
            if isMore { return true }
        }
        return false
    }

    func putOperationResult(
        _ database: DatabaseKey, _ user: UserName, operationID: Text, result: [UInt8],
        milliseconds: Int64, keeping count: Int
    ) throws(ServerError) {
        let place: [SQLValue] = [
            .integer(try makeNumber(of: database)), .integer(try makeNumber(user.bytes)),
        ]
        try run(
            """
            INSERT OR REPLACE INTO operations (database, user, operation, at, result)
            VALUES (?, ?, ?, ?, ?)
            """,
            place + [.text(operationID), .integer(milliseconds), .blob(result)])
        try run(
            """
            DELETE FROM operations WHERE rowid IN (
                SELECT rowid FROM operations WHERE database = ? AND user = ?
                ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)
            """, place + [.limit(count)])
    }

    func removeOperationResults(before milliseconds: Int64) throws(ServerError) {
        try run("DELETE FROM operations WHERE at < ?", [.integer(milliseconds)])
    }
}
