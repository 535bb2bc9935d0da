import RecordModel
import RecordSQL
import RecordWire

extension SQLiteAccess {
    func records(
        _ zone: ZoneHandle, _ names: [RecordName]
    ) throws(ServerError) -> [RecordName: StoredRecord] {
        var found: [RecordName: StoredRecord] = [:]
        found.reserveCapacity(names.count)
        let sql = "SELECT \(Self.recordColumns) FROM records r WHERE r.zone = ? AND r.name = ?"
        for name in names {
            let key = RecordKey(zone: zone, name: name)
            found[name] = try first(sql, [.zone(zone), .name(name)]) {
                (row) throws(ServerError) in
                let record = try record(row)
                if keepsPlaces {
                    places[key] = RecordPlace(
                        id: row.int64(16), type: row.int64(1), isDeleted: record.isDeleted,
                        parent: record.parent, share: record.share)
                }
                return record
            }
            if keepsPlaces, found[name] == nil { places[key] = .some(nil) }
        }
        return found
    }

    func records(
        _ zone: ZoneHandle, type: RecordTypeName, after name: RecordName?, descending: Bool,
        limit: Int
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
        return try all(sql, values + [.limit(limit)]) { (row) throws(ServerError) in
            try record(row)
        }
    }

    func children(
        _ zone: ZoneHandle, of parent: RecordName, limit: Int
    ) throws(ServerError) -> [RecordName] {
        try all(
            "SELECT name FROM records WHERE zone = ? AND parent = ? ORDER BY name LIMIT ?",
            [.zone(zone), .name(parent), .limit(limit)]
        ) { $0.name(0) }
    }

    func members(
        _ zone: ZoneHandle, of share: RecordName, limit: Int
    ) throws(ServerError) -> [RecordName] {
        try all(
            "SELECT name FROM records WHERE zone = ? AND share = ? ORDER BY position LIMIT ?",
            [.zone(zone), .name(share), .limit(limit)]
        ) { $0.name(0) }
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
}

extension Reference.Action {
    /// As stored; never renumber.
    var number: Int64 {
        switch self {
        case .none: 0
        case .deleteSelf: 1
        case .validate: 2
        }
    }
}
