import RecordModel
import RecordSQL
import RecordStore

/// Applies the server's changes of one zone. It merges them by field with the pending changes of
/// this machine.
///
/// A page of a first download has many new records of few types. Each record costs six statements:
/// one for the known state of its name, one for a free stem, and four rows.
struct RemoteApplication {
    let transaction: Transaction
    let zone: ZoneID
    /// The types that the page has named so far.
    private var types: [RecordTypeName: TypePlace] = [:]
    /// The restore point. It is nil for a server that is no recordfs-server, and until the server
    /// has sent it.
    let serverRestorePoint: ChangePosition?
    /// The number of the feed's pass, when the server is behind the state that this machine knows.
    let restoredPass: Int64?
    /// Indicates whether the zone belongs to other users, who share it.
    let isOfOthers: Bool

    /// Creates an application.
    ///
    /// Errors: invalidArgument for another author than sync.
    init(_ transaction: Transaction, _ zone: ZoneID) throws(RecordError) {
        guard transaction.author == .sync else {
            throw RecordError(.invalidArgument, "Remote changes are made by sync.")
        }
        self.transaction = transaction
        self.zone = zone
        let known = try transaction.connection.first(
            "SELECT restore_point, database FROM zone WHERE id = ?", [.integer(zone.rawValue)]
        ) { (restorePoint: $0.int64IfPresent(0), database: Database(rawValue: $0.int64(1))) }
        serverRestorePoint = known?.restorePoint.map(ChangePosition.init(_:))
        isOfOthers = known?.database == .shared
        restoredPass =
            serverRestorePoint == nil ? nil : try transaction.connection.sync.restoredPass(of: zone)
    }

    var connection: SQLConnection { transaction.connection }

    /// The state that this store has of a name.
    struct Known {
        let record: StoredRow?
        /// Indicates whether a change was not sent to the server, or is not answered yet.
        let isPending: Bool
        /// The generation of the last record with the name; 0 when there was none.
        let generation: Int64
    }

    /// The query of the known state. It is built once, because it runs for every record of a first
    /// download.
    private static let queryOfKnown = """
        SELECT \(StoredRow.joinedColumns),
            EXISTS (SELECT 1 FROM outbox WHERE zone_id = ?1 AND name = ?2),
            (SELECT generation FROM history WHERE zone_id = ?1 AND name = ?2
                ORDER BY token DESC LIMIT 1)
        FROM (SELECT 1) LEFT JOIN record r ON r.zone_id = ?1 AND r.name = ?2
        """

    func known(_ name: RecordName) throws(RecordError) -> Known {
        let known = try connection.first(
            Self.queryOfKnown, [.integer(zone.rawValue), .name(name)]
        ) { row in
            Known(
                record: row.isNull(0) ? nil : StoredRow(row),
                isPending: row.bool(StoredRow.columnCount),
                generation: row.int64IfPresent(StoredRow.columnCount + 1) ?? 0)
        }
        return known ?? Known(record: nil, isPending: false, generation: 0)
    }

    mutating func place(_ type: RecordTypeName) throws(RecordError) -> TypePlace {
        if let place = types[type] { return place }
        try transaction.feed.reviveZone(zone)
        let place = try transaction.place(try transaction.makeType(zone, type).id)
        types[type] = place
        return place
    }

}
