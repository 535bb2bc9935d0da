import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    func records(
        _ zone: ZoneHandle, _ names: [RecordName]
    ) throws(ServerError) -> [RecordName: StoredRecord] {
        try records(zone, first: names[...], maximumBytes: .max).found
    }

    func records(
        _ zone: ZoneHandle, first names: ArraySlice<RecordName>, maximumBytes: Int
    ) throws(ServerError) -> (found: [RecordName: StoredRecord], count: Int) {
        var found: [RecordName: StoredRecord] = [:]
        found.reserveCapacity(names.count)
        let sql = "SELECT \(Self.recordColumns) FROM records r WHERE r.zone = ? AND r.name = ?"
        var room = ReadingRoom(maximumBytes)
        var count = 0
        for name in names where !room.isFull {
            count += 1
            let key = RecordKey(zone: zone, name: name)
            let row = try first(sql, [.zone(zone), .name(name)]) {
                (row) throws(ServerError) in
                let record = try record(row)
                if keepsPlaces {
                    places[key] = RecordPlace(
                        id: row.int64(16), type: row.int64(1), isDeleted: record.isDeleted,
                        parent: record.parent, tree: record.tree)
                }
                return record
            }
            if let row { room.take(row) }
            if keepsPlaces, row == nil { places[key] = .some(nil) }
            found[name] = row
        }
        return (found, count)
    }

    func records(
        _ zone: ZoneHandle, type: RecordTypeName, after name: RecordName?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [StoredRecord] {
        guard let type = try number(type.bytes) else { return [] }
        var sql = """
            SELECT \(Self.recordColumns) FROM records r
            WHERE r.zone = ? AND r.type = ? AND r.deleted = 0
            """
        var values: [SQLValue] = [.zone(zone), .integer(type)]
        if let name {
            sql += descending ? " AND r.name < ?" : " AND r.name > ?"
            values.append(.name(name))
        }
        sql += " ORDER BY r.name \(descending ? "DESC" : "ASC") LIMIT ?"
        var room = ReadingRoom(maximumBytes)
        return try all(sql, values + [.limit(limit)], room: &room) {
            (row, room) throws(ServerError) in
            let record = try record(row)
            room.take(record)
            return record
        }
    }

    func children(
        _ zone: ZoneHandle, of parent: RecordName, limit: Int
    ) throws(ServerError) -> [RecordName] {
        try all(
            "SELECT name FROM records WHERE zone = ? AND parent = ? ORDER BY id LIMIT ?",
            [.zone(zone), .name(parent), .limit(limit)]
        ) { $0.name(0) }
    }

    func members(
        _ zone: ZoneHandle, of share: RecordName, limit: Int
    ) throws(ServerError) -> [RecordName] {
        var names: [RecordName] = []
        for tree in try trees(zone, of: share) where names.count < limit {
            names += try all(
                "SELECT name FROM records WHERE zone = ? AND tree = ? ORDER BY position LIMIT ?",
                [.zone(zone), .tree(tree), .limit(limit - names.count)]
            ) { $0.name(0) }
        }
        return names
    }

    func sources(
        _ zone: ZoneHandle, of target: RecordName, action: Reference.Action, limit: Int
    ) throws(ServerError) -> [RecordName] {
        try all(
            """
            SELECT source FROM record_references WHERE zone = ? AND target = ? AND action = ?
            ORDER BY source LIMIT ?
            """, [.zone(zone), .name(target), .integer(action.number), .limit(limit)]
        ) { $0.name(0) }
    }

    func operationResult(
        _ database: DatabaseKey, _ user: UserName, operationID: Text
    ) throws(ServerError) -> [UInt8]? {
        guard let database = try number(of: database), let user = try number(user.bytes) else {
            return nil
        }
        return try first(
            "SELECT result FROM operations WHERE database = ? AND user = ? AND operation = ?",
            [.integer(database), .integer(user), .text(operationID)]
        ) { $0.bytes(0) }
    }

    func scan(_ zone: ZoneHandle, _ scan: IndexScan) throws(ServerError) -> [IndexedRecord] {
        try IndexStatements(access: self).scan(zone, scan)
    }

    func countUnindexed(
        _ zone: ZoneHandle, type: RecordTypeName, field: FieldName
    ) throws(ServerError) -> Int64 {
        try IndexStatements(access: self).countUnindexed(zone, type: type, field: field)
    }
}

extension Reference.Action {
    /// The number as stored; never renumber.
    var number: Int64 {
        switch self {
        case .none: 0
        case .deleteSelf: 1
        case .validate: 2
        }
    }
}
