import RecordModel
import RecordSQL

/// Finds the steps for restoring many records, only by reading.
struct RestorePlanning {
    private struct Key: Hashable {
        let zone: ZoneID
        let type: RecordTypeName
        let name: RecordName
        var inZone: NameInZone { NameInZone(zone: zone, name: name) }
    }

    private struct NameInZone: Hashable {
        let zone: ZoneID
        let name: RecordName
    }

    private struct Trashed {
        let id: Int64
        let stem: Stem
        let deleted: Timestamp
        let author: String
    }

    private struct Waiting {
        let id: RecordID
        let stem: Stem
        let since: Timestamp
    }

    private let connection: SQLConnection
    private let scope: RestoreScope
    private let zones: [ZoneID: ZoneInfo]
    private let waiting: [(key: Key, value: Waiting)]
    /// The newest entry of each record.
    private let trash: [Key: Trashed]
    private var types: [TypeID: RecordTypeName] = [:]
    /// The names that records get by the steps so far. A name is unique in its zone, over all types.
    private var planned: Set<NameInZone> = []
    private var plan = RestorePlan()

    private init(_ connection: SQLConnection, _ scope: RestoreScope) throws(RecordError) {
        self.connection = connection
        self.scope = scope
        // This includes removed zones, which come back with their records, except zones that are
        // no longer shared: their records can come back only to another place. A user who names
        // such a zone is told so.
        let all = try connection.all(
            "SELECT \(Columns.zone) FROM zone WHERE removed = 0 OR database != ?1 OR name IS ?2",
            [
                .integer(Database.shared.rawValue), scope.zone.map { .name($0) } ?? .null,
            ]
        ) { $0.zone() }
        zones = Dictionary(
            all.filter(scope.contains).map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        waiting = try Self.waiting(connection)
        trash = try Self.trash(connection)
    }

    static func plan(
        _ connection: SQLConnection, _ scope: RestoreScope, _ point: RestorePoint
    ) throws(RecordError) -> RestorePlan {
        var planning = try RestorePlanning(connection, scope)
        switch point {
        case .deletion: try planning.addDeleted()
        case .token(let token): try planning.addChanged(after: token, waitingAfter: nil)
        case .time(let time):
            let token = try connection.lastToken(by: time)
            try planning.addChanged(after: token, waitingAfter: time)
        }
        return planning.plan
    }

    private static func waiting(
        _ connection: SQLConnection
    ) throws(RecordError) -> [(key: Key, value: Waiting)] {
        try connection.all(
            """
            SELECT r.id, r.zone_id, t.name, r.name, r.stem, r.waiting_since
            FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.waiting_since IS NOT NULL AND r.name IS NOT NULL ORDER BY r.id
            """
        ) { row in
            (
                Key(
                    zone: ZoneID(row.int64(1)), type: RecordTypeName(bytes: row.bytes(2)),
                    name: RecordName(bytes: row.bytes(3))),
                Waiting(
                    id: RecordID(row.int64(0)), stem: Stem(bytes: row.bytes(4)),
                    since: row.time(5))
            )
        }
    }

    /// Returns the newest entry of each record. Leaves out texts that were refused and are no
    /// records: each would make the whole restore fail.
    private static func trash(_ connection: SQLConnection) throws(RecordError) -> [Key: Trashed] {
        let refused = try refusedTexts(connection)
        let entries = try connection.all(
            "SELECT zone_id, type, name, id, stem, deleted, author FROM trash ORDER BY id"
        ) { row in
            (
                Key(
                    zone: ZoneID(row.int64(0)), type: RecordTypeName(bytes: row.bytes(1)),
                    name: RecordName(bytes: row.bytes(2))),
                Trashed(
                    id: row.int64(3), stem: Stem(bytes: row.bytes(4)), deleted: row.time(5),
                    author: row.string(6))
            )
        }
        return Dictionary(
            entries.filter { !refused.contains($0.1.id) }, uniquingKeysWith: { $1 })
    }

    /// Returns the entries of the trash with a text that is no record of its type. Only a text that
    /// this user has written beside a record can be one.
    private static func refusedTexts(
        _ connection: SQLConnection
    ) throws(RecordError) -> Set<Int64> {
        let own = try connection.all("SELECT id, type, text FROM trash WHERE is_own = 1") {
            (id: $0.int64(0), type: RecordTypeName(bytes: $0.bytes(1)), text: $0.bytes(2))
        }
        var refused: Set<Int64> = []
        for entry in own {
            do throws(RecordError) {
                _ = try RecordDocument(
                    parsing: entry.text, schema: SchemaRows.read(connection, entry.type),
                    limits: .received)
            } catch  where error.isAboutContent {
                refused.insert(entry.id)
            }
        }
        return refused
    }

    // MARK: Deleted records

    private mutating func addDeleted() throws(RecordError) {
        for (key, waiting) in waiting { addWaiting(key, waiting) }
        let waiting = Set(waiting.map(\.key))
        let first = plan.steps.count
        // Records of two types may have had one name, one after the other. The last one has it now.
        for (key, trashed) in trash.sorted(by: { $0.value.id > $1.value.id })
        where !waiting.contains(key) {
            guard scope.contains(key.type), scope.contains(trashed.stem) else { continue }
            if try mayOnlyBeRead(key, { () throws(RecordError) in try textOfTrash(trashed.id) }) {
                continue
            }
            var step = step(
                key, stem: trashed.stem, wasDeleted: true, at: trashed.deleted,
                by: trashed.author)
            step?.trash = trashed.id
            try add(step, key)
        }
        plan.steps[first...].reverse()
    }

    private mutating func addWaiting(_ key: Key, _ waiting: Waiting) {
        guard scope.contains(key.type), scope.contains(waiting.stem) else { return }
        var step = step(
            key, stem: waiting.stem, wasDeleted: true, at: waiting.since,
            by: Author.mount.rawValue)
        step?.waiting = waiting.id
        guard let step else { return }
        planned.insert(key.inZone)
        plan.steps.append(step)
    }

    // MARK: Changed records

    private mutating func addChanged(
        after token: Int64, waitingAfter time: Timestamp?
    ) throws(RecordError) {
        let changes = try connection.all(
            """
            SELECT zone_id, type, name, COUNT(*), MAX(token), at, author FROM history
            WHERE token > ? GROUP BY zone_id, type, name
            """, [.integer(token)]
        ) { row in
            (
                key: Key(
                    zone: ZoneID(row.int64(0)), type: RecordTypeName(bytes: row.bytes(1)),
                    name: RecordName(bytes: row.bytes(2))),
                count: row.int64(3), token: row.int64(4), at: row.time(5), author: row.string(6)
            )
        }
        let waiting = Dictionary(waiting.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        for change in changes.sorted(by: { $0.token < $1.token })
        where zones[change.key.zone] != nil && scope.contains(change.key.type) {
            try addChange(
                change.key, before: token, waiting[change.key], count: change.count,
                at: change.at, by: change.author)
        }
        let changed = Set(changes.map(\.key))
        for (key, waiting) in self.waiting where !changed.contains(key) {
            if let time, waiting.since <= time { continue }
            addWaiting(key, waiting)
        }
    }

    private mutating func addChange(
        _ key: Key, before token: Int64, _ waiting: Waiting?, count: Int64, at: Timestamp,
        by author: String
    ) throws(RecordError) {
        let current = try connection.records.stored(named: key.name, key.zone)
        let stem =
            current?.entry.stem ?? trash[key]?.stem
            ?? Stem(encoding: key.name)
        guard scope.contains(stem) else { return }
        guard let then = try version(of: key, upTo: token), then.kind != .deleted else {
            // A record that was not made since and does not exist is not counted.
            if current?.state == .saved { plan.madeSince += 1 }
            return
        }
        if try mayOnlyBeRead(key, { then.text }) { return }
        guard
            var step = step(
                key, stem: stem, wasDeleted: current?.state != .saved, laterVersions: count,
                at: at, by: author)
        else { return }
        step.waiting = waiting?.id
        if let current {
            guard try typeName(of: current.entry.type) == key.type else {
                plan.inTheWay += 1
                return
            }
            if try connection.records.savedText(of: current.id) != then.text {
                step.version = then.token
            }
            step.keepsDraft = current.entry.showsText
            if step.version != nil || step.waiting != nil { plan.steps.append(step) }
            return
        }
        step.trash = trash[key]?.id
        if try step.trash.map(textOfTrash) != then.text { step.version = then.token }
        try add(step, key)
    }

    /// Returns the state of the record then. Returns nil for a time before it was made.
    private func version(
        of key: Key, upTo token: Int64
    ) throws(RecordError) -> (token: Int64, kind: ChangeKind?, text: [UInt8])? {
        try connection.first(
            """
            SELECT token, kind, text FROM history
            WHERE zone_id = ? AND name = ? AND type = ? AND token <= ?
            ORDER BY token DESC LIMIT 1
            """,
            [.integer(key.zone.rawValue), .name(key.name), .name(key.type), .integer(token)]
        ) { ($0.int64(0), ChangeKind(rawValue: $0.string(1)), $0.bytes(2)) }
    }

    private func textOfTrash(_ id: Int64) throws(RecordError) -> [UInt8]? {
        try connection.first("SELECT text FROM trash WHERE id = ?", [.integer(id)]) {
            $0.bytes(0)
        }
    }

    // MARK: Steps

    /// Returns whether a record is read-only in a zone where the user may change other records.
    /// Such a record is not included unless it is named.
    private func mayOnlyBeRead(
        _ key: Key, _ text: () throws(RecordError) -> [UInt8]?
    ) throws(RecordError) -> Bool {
        guard zones[key.zone]?.permission == .mixed, scope.stem == nil else { return false }
        let permissions = try RecordPermissions(connection, key.zone)
        if try permissions.permission(of: key.name) == .readOnly { return true }
        guard let text = try text() else { return false }
        return try permissions.permission(of: key.name, saying: text) == .readOnly
    }

    private func step(
        _ key: Key, stem: Stem, wasDeleted: Bool, laterVersions: Int64 = 0, at: Timestamp,
        by author: String
    ) -> RestoreStep? {
        guard let zone = zones[key.zone] else { return nil }
        return RestoreStep(
            zone: zone, type: key.type, stem: stem, wasDeleted: wasDeleted,
            laterVersions: laterVersions, lastChange: at, lastAuthor: author)
    }

    /// Adds the step for a record that is made again, unless another record has its name or its
    /// file's name, or comes back with that name.
    private mutating func add(_ step: RestoreStep?, _ key: Key) throws(RecordError) {
        guard let step else { return }
        let isTaken = try connection.records.isTaken(key.name, key.type, step.stem, key.zone)
        if isTaken || !planned.insert(key.inZone).inserted {
            plan.inTheWay += 1
        } else {
            plan.steps.append(step)
        }
    }

    private mutating func typeName(of id: TypeID) throws(RecordError) -> RecordTypeName? {
        if let name = types[id] { return name }
        let name = try connection.first(
            "SELECT name FROM record_type WHERE id = ?", [.integer(id.rawValue)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
        types[id] = name
        return name
    }
}
