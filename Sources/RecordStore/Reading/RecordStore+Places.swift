package import RecordModel
import RecordSQL
import Synchronization

extension RecordStore {
    /// Returns the zones of a database in the order of their names.
    package func zones(in database: Database) throws(RecordError) -> [ZoneInfo] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.zone) FROM zone WHERE database = ? AND removed = 0
                ORDER BY owner, name
                """, [.integer(database.rawValue)]
            ) { $0.zone() }
        }
    }

    package func zone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo? {
        try read { connection throws(RecordError) in
            try connection.records.zone(database, owner, name)
        }
    }

    package func zone(_ id: ZoneID) throws(RecordError) -> ZoneInfo? {
        try read { connection throws(RecordError) in try connection.records.zone(id) }
    }

    /// Returns the record types of a zone in the order of their names.
    package func types(in zone: ZoneID) throws(RecordError) -> [TypeInfo] {
        let times = latestTimes
        return try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.type) FROM record_type WHERE zone_id = ? AND removed = 0
                ORDER BY name
                """,
                [.integer(zone.rawValue)]
            ) { times.latest($0.type()) }
        }
    }

    /// The times of directories that are newer than their rows. Taken before the rows are read,
    /// because they are forgotten once the rows have them.
    private var latestTimes: DirectoryTimes { directoryTimes.withLock { $0 } }

    package func type(
        _ zone: ZoneID, _ name: RecordTypeName
    ) throws(RecordError) -> TypeInfo? {
        let times = latestTimes
        return try read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.type) FROM record_type
                WHERE zone_id = ? AND name = ? AND removed = 0
                """,
                [.integer(zone.rawValue), .name(name)]
            ) { times.latest($0.type()) }
        }
    }

    package func type(_ id: TypeID) throws(RecordError) -> TypeInfo? {
        let times = latestTimes
        return try read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.type) FROM record_type WHERE id = ? AND removed = 0",
                [.integer(id.rawValue)]
            ) { times.latest($0.type()) }
        }
    }

    /// Returns the types that any zone or the schema knows, in the order of their names.
    package func schemaTypes() throws(RecordError) -> [RecordTypeName] {
        try read { connection throws(RecordError) in
            try connection.all(
                "SELECT type FROM schema_field UNION SELECT name FROM record_type ORDER BY 1"
            ) { RecordTypeName(bytes: $0.bytes(0)) }
        }
    }

    /// Returns the development schema of a type, which is the same for all zones. Empty for a type
    /// that nobody has used.
    package func schema(of type: RecordTypeName) throws(RecordError) -> RecordSchema {
        if let schema = cache.withLock({ $0.schemas[type] }) { return schema }
        let model = attachedModel.withLock { $0 }
        let schema = try read { connection throws(RecordError) in
            var schema = try SchemaRows.read(connection, type)
            schema.mapping = model?.members(of: type)
            return schema
        }
        // Another process may change the schema of a store that is only read here.
        guard writer != nil else { return schema }
        // A transaction that committed meanwhile has published its changes; keep those.
        return cache.withLock { cache in
            if let newer = cache.schemas[type] { return newer }
            cache.schemas[type] = schema
            return schema
        }
    }
}

extension RecordRows {
    /// Returns a zone that was not removed. The same applies to the next function.
    package func zone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo? {
        try connection.first(
            """
            SELECT \(Columns.zone) FROM zone
            WHERE database = ? AND owner = ? AND name = ? AND removed = 0
            """, [.integer(database.rawValue), .name(owner), .name(name)]
        ) { $0.zone() }
    }

    package func zone(_ id: ZoneID) throws(RecordError) -> ZoneInfo? {
        try connection.first(
            "SELECT \(Columns.zone) FROM zone WHERE id = ? AND removed = 0",
            [.integer(id.rawValue)]
        ) { $0.zone() }
    }
}

extension RecordStore {
    /// Returns how often each zone was removed and so became, or will become, another directory.
    package func zoneIncarnations() throws(RecordError) -> [(zone: ZoneID, incarnation: UInt32)] {
        try read { connection throws(RecordError) in
            try connection.all("SELECT id, incarnation FROM zone WHERE incarnation > 0") {
                (ZoneID($0.int64(0)), UInt32(truncatingIfNeeded: $0.int64(1)))
            }
        }
    }
}
