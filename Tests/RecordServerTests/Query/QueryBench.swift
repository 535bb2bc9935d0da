import RecordModel
import RecordWire

@testable import RecordServerCore
@testable import RecordServerSQLite

/// A zone with records of one type that has a field of every kind, for tests that compare what a
/// query finds with what it should find.
struct QueryBench {
    static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)
    static let owner = UserName("_owner")
    static let type = RecordTypeName("Thing")
    static let schemaText = """
        DEFINE SCHEMA
            RECORD TYPE Thing (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___createdBy" REFERENCE QUERYABLE SORTABLE,
                "___modTime" TIMESTAMP QUERYABLE SORTABLE,
                "___modifiedBy" REFERENCE QUERYABLE SORTABLE,
                "___recordID" REFERENCE QUERYABLE SORTABLE,
                s STRING QUERYABLE SORTABLE SEARCHABLE,
                i INT64 QUERYABLE SORTABLE,
                d DOUBLE QUERYABLE SORTABLE,
                n NUMBER QUERYABLE SORTABLE,
                t TIMESTAMP QUERYABLE SORTABLE,
                b BYTES QUERYABLE SORTABLE,
                l LOCATION QUERYABLE SORTABLE,
                r REFERENCE QUERYABLE SORTABLE,
                ls LIST<STRING> QUERYABLE SEARCHABLE,
                li LIST<INT64> QUERYABLE,
                lr LIST<REFERENCE> QUERYABLE
            );
        """

    let storage: any Storage
    let schema: ContainerSchema
    let access: ZoneAccess

    init(_ zone: String = "Work", storage: (any Storage)? = nil) async throws {
        let storage = try storage ?? SQLiteStorage.open(path: nil)
        self.storage = storage
        let document = try SchemaDocument(parsing: Array(Self.schemaText.utf8))
        schema = ContainerSchema(container: Self.container, version: 1, document: document)
        let key = ZoneKey(
            database: DatabaseKey(container: Self.container, owner: Self.owner),
            zone: ZoneName(zone))
        let row = try await storage.write { transaction throws(ServerError) in
            try transaction.createZone(key, incarnation: 7)
        }
        access = ZoneAccess(zone: row, view: .owner, user: nil)
    }

    func put(_ records: [BenchRecord]) async throws {
        let (schema, zone) = (schema, access.zone)
        try await storage.write { transaction throws(ServerError) in
            for record in records {
                let stored = record.stored
                try transaction.putTestTree(zone.handle, stored.share)
                try transaction.put(zone.handle, stored)
                try transaction.putIndex(
                    zone.handle, type: stored.type, stored.name,
                    schema.indexEntries(stored, fields: record.fields))
            }
        }
    }

    func remove(_ record: BenchRecord) async throws {
        let zone = access.zone
        try await storage.write { transaction throws(ServerError) in
            var stored = record.stored
            stored.fields = []
            stored.isDeleted = true
            try transaction.put(zone.handle, stored)
            try transaction.putIndex(zone.handle, type: stored.type, stored.name, [])
        }
    }

    /// One page: names, and where the next one begins.
    func page(
        _ query: WireQuery, after marker: QueryPosition?, count: Int, limits: QueryLimits,
        zones: [ZoneAccess]? = nil
    ) async throws -> (names: [String], next: QueryPosition?) {
        let (schema, accesses) = (schema, zones ?? [access])
        return try await storage.read { reader throws(ServerError) in
            try Self.page(query, schema, accesses, marker, count, limits, reader)
        }
    }

    /// All pages in one read transaction.
    func all(
        _ query: WireQuery, count: Int, limits: QueryLimits, zones: [ZoneAccess]? = nil
    ) async throws -> [String] {
        let (schema, accesses) = (schema, zones ?? [access])
        return try await storage.read { reader throws(ServerError) in
            var names: [String] = []
            var marker: QueryPosition?
            var pages = 0
            repeat {
                let page = try Self.page(query, schema, accesses, marker, count, limits, reader)
                names += page.names
                marker = page.next
                pages += 1
            } while marker != nil && pages < 10_000
            return pages < 10_000 ? names : ["no end"]
        }
    }

    private static func page(
        _ query: WireQuery, _ schema: ContainerSchema, _ accesses: [ZoneAccess],
        _ marker: QueryPosition?, _ count: Int, _ limits: QueryLimits, _ reader: any StorageReader
    ) throws(ServerError) -> (names: [String], next: QueryPosition?) {
        let context = OperationContext(
            endpoint: .recordsQuery, container: container, scope: .private, caller: .anonymous,
            requestID: "", now: Timestamp(seconds: 0), baseURL: "")
        var zones: [RecordVisibility] = []
        for access in accesses {
            zones.append(try RecordVisibility(access, context, reader))
        }
        let page = try QueryPage.search(
            try QueryEvaluator(query: query, schema: schema), zones: zones, after: marker,
            count: count, limits: limits, reader)
        let several = accesses.count > 1
        return (
            page.items.map { item in
                let name = item.record.name.description
                return several ? "\(accesses[item.zone].zone.key.zone)/\(name)" : name
            }, page.next
        )
    }
}

extension QueryLimits {
    /// So small that every way of searching is taken, and left in the middle.
    static var tiny: QueryLimits {
        var limits = QueryLimits()
        (limits.candidates, limits.examined, limits.group) = (0, 9, 2)
        limits.examinedInZone = 3
        return limits
    }
}

/// A record as the tests know it.
struct BenchRecord: Sendable {
    var name: String
    var values: [String: WireValue]
    var created: Int64
    var modified: Int64
    var creator: String
    var modifier: String
    var parent: String?
    var share: String?

    var fields: [WireField] {
        values.sorted { $0.key < $1.key }.map { name, value in
            WireField(name: FieldName(name), value: value, type: Self.type(of: value))
        }
    }

    private static func type(of value: WireValue) -> FieldType? {
        switch value {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .timestamp: .timestamp
        case .bytes: .bytes
        case .location: .location
        case .reference: .reference
        case .asset: .asset
        case .list(let elements): elements.first.flatMap { type(of: $0) }.map { .list($0) }
        }
    }

    var stored: StoredRecord {
        var record = StoredRecord(
            name: RecordName(name), type: QueryBench.type, tag: 1, position: 1,
            fields: FieldsCodec.encode(fields),
            created: WriteStamp(milliseconds: created, user: UserName(creator), device: ""),
            modified: WriteStamp(milliseconds: modified, user: UserName(modifier), device: ""))
        record.parent = parent.map { RecordName($0) }
        record.share = share.map { RecordName($0) }
        record.tree = record.share.map { TreeNumber(of: $0) }
        return record
    }
}
