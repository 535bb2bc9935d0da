package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns what was done, the last first.
    package func log(_ query: LogQuery) throws(RecordError) -> [LogEntry] {
        try store.read { connection throws(RecordError) in
            var reading = try LogReading(connection, query)
            return try reading.entries()
        }
    }

    /// Returns the entry that has the version with a token; the last one without a token. Returns nil
    /// when there is none.
    package func logEntry(with token: Int64?) throws(RecordError) -> LogEntry? {
        var query = LogQuery()
        guard let token else {
            query.limit = 1
            return try log(query).first
        }
        let place = try store.read { connection throws(RecordError) in
            try LogReading.ends(connection, ofEntryWith: token)
        }
        guard let place else { return nil }
        (query.since, query.until) = (.token(place.first - 1), .token(place.last))
        return try log(query).first { entry in entry.changes.contains { $0.token == token } }
    }

    /// Returns the token of the last version of a gesture. Errors: notFound.
    package func token(ofGesture name: GestureName) throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.token(at: .gesture(name))
        }
    }

    /// Returns the token of a record's version before another one. Nil when there was no record then.
    package func versionBefore(
        _ token: Int64?, of place: RecordPlace
    ) throws(RecordError) -> Int64? {
        try store.read { connection throws(RecordError) in
            try connection.records.version(of: place, upTo: token.map { $0 - 1 } ?? .max)
        }
    }
}

/// Reads the log from its end, and joins what belongs together.
private struct LogReading {
    /// The origin of a change.
    private enum Key: Hashable {
        case gesture(GestureID)
        /// The token of the first change of a transaction.
        case transaction(Int64)
    }

    /// A version, or a record whose deletion waits.
    private struct Row {
        let key: Key
        let at: Timestamp
        let author: Author
        let program: AuthorName?
        /// The author on the machine that made the change, where that is another one.
        var origin: Author?
        let change: LogEntry.Change
    }

    /// A record of one entry. An entry counts it once, by its last change.
    private struct Counted: Hashable {
        let place: Int
        let record: RecordKey
    }

    /// The number of rows that are read at once.
    private static let pageRows: Int64 = 2_000

    private let connection: SQLConnection
    private let query: LogQuery
    private let zones: Set<ZoneID>
    /// The tokens of the versions that are meant: after the first one, up to the second one.
    private let after: Int64
    private let upTo: Int64
    private var found: [LogEntry] = []
    private var places: [Key: Int] = [:]
    private var counted: Set<Counted> = []
    /// The smallest token that a version of the entries so far can have.
    private var oldest = Int64.max

    init(_ connection: SQLConnection, _ query: LogQuery) throws(RecordError) {
        (self.connection, self.query) = (connection, query)
        zones = Set(
            try connection.all("SELECT \(Columns.zone) FROM zone") { $0.zone() }
                .filter(query.scope.reaches).map(\.id))
        after = try connection.token(at: query.since)
        upTo =
            try query.until.map { (point) throws(RecordError) in
                try connection.token(at: point)
            } ?? .max
    }

    /// Returns the first and the last token that the versions of an entry can have.
    static func ends(
        _ connection: SQLConnection, ofEntryWith token: Int64
    ) throws(RecordError) -> (first: Int64, last: Int64)? {
        let row = try connection.first(
            "SELECT gesture, coalesce(batch, token) FROM history WHERE token = ?",
            [.integer(token)]
        ) { (gesture: $0.int64IfPresent(0), first: $0.int64(1)) }
        guard let row else { return nil }
        guard let gesture = row.gesture,
            let (_, first) = try GestureRows(connection: connection)
                .gestureWithFirstToken(GestureID(gesture))
        else {
            let last = try connection.first(
                "SELECT min(token) - 1 FROM history WHERE token > ?1 AND coalesce(batch, token) != ?2",
                [.integer(token), .integer(row.first)]
            ) { $0.int64IfPresent(0) }
            return (row.first, (last ?? nil) ?? .max)
        }
        let last = try connection.first(
            "SELECT max(token) FROM history WHERE token >= ?1 AND gesture = ?2",
            [.integer(first), .integer(gesture)]
        ) { $0.int64(0) }
        return (first, last ?? token)
    }

    mutating func entries() throws(RecordError) -> [LogEntry] {
        if query.until == nil { for row in try waiting() { try add(row) } }
        if let records = query.records {
            for row in try versions(of: records) { try add(row) }
            return found
        }
        var last = upTo
        while true {
            let rows = try page(upTo: last)
            // It goes back: each part ends at a smaller token.
            if let end = rows.last?.change.token, end > last { throw .disorder("history") }
            for row in rows {
                // All versions of the entries are read when no earlier one can be theirs.
                if found.count == query.limit, row.change.token ?? 0 < oldest { return found }
                try add(row)
            }
            guard rows.count == Self.pageRows, let token = rows.last?.change.token else {
                return found
            }
            last = token - 1
        }
    }

    private mutating func add(_ row: Row) throws(RecordError) {
        let change = row.change
        guard zones.contains(change.place.zone), query.scope.contains(change.place.type),
            query.records?.contains(change.place.key) ?? true
        else { return }
        let shown = row.program?.text ?? (row.origin ?? row.author).rawValue
        if let author = query.author, author != shown { return }
        guard let place = try place(of: row) else { return }
        found[place].changes.append(change)
        if found[place].token == nil { found[place].token = change.token }
        let record = Counted(place: place, record: change.place.key)
        guard counted.insert(record).inserted else { return }
        found[place].counts.add(change.kind)
    }

    /// Returns the place of the entry to which a row belongs. Returns nil when it belongs to none of
    /// those that are wanted.
    private mutating func place(of row: Row) throws(RecordError) -> Int? {
        if let place = places[row.key] { return place }
        guard found.count < query.limit else { return nil }
        places[row.key] = found.count
        found.append(try entry(row))
        return found.count - 1
    }

    private mutating func entry(_ row: Row) throws(RecordError) -> LogEntry {
        let rows = GestureRows(connection: connection)
        switch row.key {
        case .gesture(let id):
            guard let (gesture, first) = try rows.gestureWithFirstToken(id) else { break }
            oldest = min(oldest, first)
            return LogEntry(
                gesture: gesture, isUndone: try !rows.isInForce(gesture),
                isUndo: try rows.isUndo(gesture), at: gesture.at, author: gesture.author,
                program: gesture.program)
        case .transaction(let first): oldest = min(oldest, first)
        }
        return LogEntry(
            gesture: nil, isUndone: false, isUndo: false, at: row.at, author: row.author,
            program: row.program)
    }

    /// Returns the versions up to a token, the last first.
    private func page(upTo token: Int64) throws(RecordError) -> [Row] {
        try connection.all(
            """
            SELECT \(Self.columns) FROM history WHERE token <= ? AND token > ?
            ORDER BY token DESC LIMIT ?
            """, [.integer(token), .integer(after), .integer(Self.pageRows)]
        ) { Self.row($0) }
    }

    /// Returns the versions of a few records, the last first.
    private func versions(of records: Set<RecordKey>) throws(RecordError) -> [Row] {
        var rows: [Row] = []
        for record in records {
            rows += try connection.all(
                """
                SELECT \(Self.columns) FROM history
                WHERE zone_id = ? AND name = ? AND token <= ? AND token > ?
                """,
                [
                    .integer(record.zone.rawValue), .name(record.name), .integer(upTo),
                    .integer(after),
                ]
            ) { Self.row($0) }
        }
        return rows.sorted { $0.change.token ?? 0 > $1.change.token ?? 0 }
    }

    private static let columns = """
        coalesce(gesture, 0), coalesce(batch, token), at, author, program, zone_id, type, name,
        token, kind, fields, (SELECT origin FROM gesture g WHERE g.id = history.gesture)
        """

    /// Returns the deletions that wait, the last first.
    private func waiting() throws(RecordError) -> [Row] {
        var since = Int64.min
        if case .time(let time) = query.since { since = time.nanoseconds }
        return try connection.records.waitingDeletions()
            .filter { $0.since.nanoseconds > since }
            .sorted { ($0.since, $0.id) > ($1.since, $1.id) }
            .map { waiting in
                Row(
                    key: waiting.gesture.map { .gesture($0) } ?? .transaction(0),
                    at: waiting.since, author: .mount, program: nil,
                    change: LogEntry.Change(
                        place: waiting.place, token: nil, kind: .waiting, fields: []))
            }
    }

    private static func row(_ row: SQLStatement) -> Row {
        let gesture = row.int64(0)
        return Row(
            key: gesture == 0 ? .transaction(row.int64(1)) : .gesture(GestureID(gesture)),
            at: row.time(2), author: Author(rawValue: row.string(3)) ?? .sync,
            program: row.isNull(4) ? nil : AuthorName(stored: row.string(4)),
            origin: row.isNull(11) ? nil : Author(rawValue: row.string(11)),
            change: LogEntry.Change(
                place: row.recordPlace(5), token: row.int64(8),
                kind: ChangeKind(rawValue: row.string(9)) ?? .updated,
                fields: FieldNameList.decode(row.bytes(10))))
    }
}
