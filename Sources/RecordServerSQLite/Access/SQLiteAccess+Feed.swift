import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    func changes(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [FeedEntry] {
        var room = ReadingRoom(maximumBytes)
        guard let shares else {
            return try all(
                """
                SELECT \(Self.recordColumns) FROM records r WHERE r.zone = ? AND r.position > ?
                ORDER BY r.position \(descending ? "DESC" : "ASC") LIMIT ?
                """, [.zone(zone), .integer(position), .limit(limit)], room: &room
            ) { (row, room) throws(ServerError) in
                let record = try record(row)
                room.take(record)
                return Self.entry(record)
            }
        }
        var feed = try SharedFeed(
            zone, after: position, shares: shares, descending: descending, self)
        var entries: [FeedEntry] = []
        while entries.count < limit, !room.isFull,
            let item = try feed.next(self, atMost: limit)
        {
            switch item.content {
            case .gone(let name): entries.append(.gone(name: name, position: item.position))
            case .record(let id):
                let record = try record(id: id)
                room.take(record)
                entries.append(.record(record))
            }
        }
        return entries
    }

    func departures(
        _ zone: ZoneHandle, after position: Int64, limit: Int
    ) throws(ServerError) -> [Departure] {
        try all(
            """
            SELECT name, position, target FROM departures WHERE zone = ? AND position > ?
            ORDER BY position LIMIT ?
            """, [.zone(zone), .integer(position), .limit(limit)]
        ) { row in
            RecordAddress(stored: row.bytes(2)).map {
                Departure(name: row.name(0), position: row.int64(1), target: $0)
            }
        }.compactMap(\.self)
    }

    /// Returns the feed entry of a record. A tombstone is more than a name only when its record has
    /// gone elsewhere, or when its client has told the origin of the deletion.
    private static func entry(_ record: StoredRecord) -> FeedEntry {
        record.isDeleted && record.movedTo == nil && record.gesture == nil
            ? .gone(name: record.name, position: record.position) : .record(record)
    }

    private func record(id: Int64) throws(ServerError) -> StoredRecord {
        let found = try first(
            "SELECT \(Self.recordColumns) FROM records r WHERE r.id = ?", [.integer(id)]
        ) { (row) throws(ServerError) in try record(row) }
        guard let found else { throw damaged("an index names a record that is not there") }
        return found
    }

    func countChanges(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, limit: Int
    ) throws(ServerError) -> Int {
        guard let shares else {
            return try first(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM records WHERE zone = ? AND position > ? LIMIT ?)
                """, [.zone(zone), .integer(position), .limit(limit)]
            ) { Int($0.int64(0)) } ?? 0
        }
        var feed = try SharedFeed(
            zone, after: position, shares: shares, descending: false, self)
        var count = 0
        while count < limit, try feed.next(self, atMost: limit) != nil { count += 1 }
        return count
    }
}

/// The feed of a zone as the given shares see it: their records and the records that left them,
/// merged by position. It reads positions from indexes only, in small portions of each share.
struct SharedFeed {
    enum Content {
        case record(id: Int64)
        case gone(RecordName)
    }

    struct Item {
        let position: Int64
        let content: Content
    }

    /// The records of one tree, or the records that left one share.
    fileprivate struct Source {
        enum Kind {
            case records(TreeNumber)
            case exits(RecordName)
        }

        let kind: Kind
        /// The items in the order of the feed, with the next one last.
        var items: [Item] = []
        /// The position after which the next portion begins. It is nil before the first.
        var last: Int64?
        var isDone = false
    }

    private let zone: ZoneHandle
    private let start: Int64
    private let shares: Set<RecordName>
    private let descending: Bool
    private var sources: [Source] = []

    init(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName], descending: Bool,
        _ access: SQLiteAccess
    ) throws(ServerError) {
        self.zone = zone
        start = position
        self.shares = Set(shares)
        self.descending = descending
        for share in self.shares {
            sources.append(Source(kind: .exits(share)))
            for tree in try access.trees(zone, of: share) {
                sources.append(Source(kind: .records(tree)))
            }
        }
    }

    /// Returns the next entry, or nil at the end. `limit` is the most entries that the caller may
    /// want in all.
    mutating func next(_ access: SQLiteAccess, atMost limit: Int) throws(ServerError) -> Item? {
        while true {
            guard let index = try nextSource(access, limit) else { return nil }
            guard let item = sources[index].items.popLast() else { continue }
            guard case .gone(let name) = item.content else { return item }
            if try isLatest(name, item.position, access) { return item }
        }
    }

    /// Returns the source with the first entry of all.
    private mutating func nextSource(
        _ access: SQLiteAccess, _ limit: Int
    ) throws(ServerError) -> Int? {
        var best: (index: Int, position: Int64)?
        for index in sources.indices {
            if sources[index].items.isEmpty, !sources[index].isDone {
                try refill(index, access, limit)
            }
            guard let item = sources[index].items.last else { continue }
            let isFirst = best.map { (best) in
                descending ? item.position > best.position : item.position < best.position
            }
            if isFirst ?? true { best = (index, item.position) }
        }
        return best?.index
    }

    private mutating func refill(
        _ index: Int, _ access: SQLiteAccess, _ limit: Int
    ) throws(ServerError) {
        let portion = max(8, min(limit, 2_000) / sources.count)
        let source = sources[index]
        var bounds = "position > ?"
        var values: [SQLValue] = [.zone(zone), source.kind.value, .integer(start)]
        if let last = source.last {
            if descending {
                bounds += " AND position < ?"
                values.append(.integer(last))
            } else {
                values[2] = .integer(last)
            }
        }
        let items = try access.all(
            """
            SELECT position, \(source.kind.content) AND \(bounds)
            ORDER BY position \(descending ? "DESC" : "ASC") LIMIT ?
            """, values + [.limit(portion)]
        ) { row in
            let content: Content =
                switch source.kind {
                case .exits: .gone(row.name(1))
                case .records: .record(id: row.int64(1))
                }
            return Item(position: row.int64(0), content: content)
        }
        sources[index].items = items.reversed()
        sources[index].last = items.last?.position
        sources[index].isDone = items.count < portion
    }

    /// Returns whether the record has not come back into one of the shares, and has not left one of
    /// them later.
    private func isLatest(
        _ name: RecordName, _ position: Int64, _ access: SQLiteAccess
    ) throws(ServerError) -> Bool {
        let place: [SQLValue] = [.zone(zone), .name(name)]
        let tree = try access.first(
            "SELECT tree FROM records WHERE zone = ? AND name = ?", place
        ) { $0.treeNumber(0) }
        let share = try access.share(inZone: zone.number, of: tree ?? nil)
        if let share, shares.contains(share) {
            return false
        }
        let later = try access.all(
            "SELECT share FROM exits WHERE zone = ? AND name = ? AND position > ?",
            place + [.integer(position)]
        ) { $0.name(0) as RecordName }
        return !later.contains { shares.contains($0) }
    }
}

extension SharedFeed.Source.Kind {
    fileprivate var content: String {
        switch self {
        case .records: "id FROM records WHERE zone = ? AND tree = ?"
        case .exits: "name FROM exits WHERE zone = ? AND share = ?"
        }
    }

    fileprivate var value: SQLValue {
        switch self {
        case .records(let tree): .tree(tree)
        case .exits(let share): .name(share)
        }
    }
}
