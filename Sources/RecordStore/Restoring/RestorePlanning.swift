import RecordModel
import RecordSQL

/// Finds the steps for restoring many records, only by reading.
struct RestorePlanning {
    private struct Trashed {
        let id: Int64
        let stem: Stem
        let deleted: Timestamp
        let author: String
    }

    private let connection: SQLConnection
    private let scope: RestoreScope
    private let isExact: Bool
    private let zones: [ZoneID: ZoneInfo]
    private let waiting: [WaitingDeletion]
    /// The newest entry of each record.
    private let trash: [RecordPlace: Trashed]
    private var types: [TypeID: RecordTypeName] = [:]
    /// The records that are removed.
    private var removals: Set<RecordID> = []
    /// The names that records get by the steps so far. A name is unique in its zone, over all types.
    private var planned: Set<RecordKey> = []
    private var plan = RestorePlan()

    private init(
        _ connection: SQLConnection, _ scope: RestoreScope, isExact: Bool
    ) throws(RecordError) {
        self.connection = connection
        self.scope = scope
        self.isExact = isExact
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
        waiting = try connection.records.waitingDeletions()
        trash = try Self.trash(connection)
    }

    static func plan(
        _ connection: SQLConnection, _ scope: RestoreScope, _ point: RestorePoint, isExact: Bool
    ) throws(RecordError) -> RestorePlan {
        var planning = try RestorePlanning(connection, scope, isExact: isExact)
        switch point {
        case .deletion: try planning.addDeleted()
        case .token, .time, .named, .gesture:
            try planning.addChanged(
                after: try connection.completeToken(at: point), waitingAfter: point.time)
        }
        return planning.plan
    }

    /// Returns the newest entry of each record. Leaves out texts that were refused and are no
    /// records: each would make the whole restore fail.
    private static func trash(_ connection: SQLConnection) throws(RecordError) -> [RecordPlace:
        Trashed]
    {
        let refused = try refusedTexts(connection)
        let entries = try connection.all(
            "SELECT zone_id, type, name, id, stem, deleted, author FROM trash ORDER BY id"
        ) { row in
            (
                row.recordPlace(0),
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
        for waiting in waiting { addWaiting(waiting) }
        let waiting = Set(waiting.map(\.place))
        let first = plan.steps.count
        // Records of two types may have had one name, one after the other. The last one has it now.
        for (place, trashed) in trash.sorted(by: { $0.value.id > $1.value.id })
        where !waiting.contains(place) {
            guard scope.contains(place.type), scope.contains(trashed.stem) else { continue }
            if try mayOnlyBeRead(place, { () throws(RecordError) in try textOfTrash(trashed.id) }) {
                continue
            }
            var step = step(
                place, stem: trashed.stem, wasDeleted: true, at: trashed.deleted,
                by: trashed.author)
            step?.trash = trashed.id
            try add(step, place)
        }
        plan.steps[first...].reverse()
    }

    private mutating func addWaiting(_ waiting: WaitingDeletion) {
        let place = waiting.place
        guard scope.contains(place.type), scope.contains(waiting.stem) else { return }
        var step = step(
            place, stem: waiting.stem, wasDeleted: true, at: waiting.since,
            by: Author.mount.rawValue)
        step?.waiting = waiting.id
        guard let step else { return }
        planned.insert(place.key)
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
                place: row.recordPlace(0),
                count: row.int64(3), token: row.int64(4), at: row.time(5), author: row.string(6)
            )
        }
        .sorted { $0.token < $1.token }
        .filter { zones[$0.place.zone] != nil && scope.contains($0.place.type) }
        let waiting = Dictionary(waiting.map { ($0.place, $0) }, uniquingKeysWith: { $1 })
        if isExact {
            for change in changes {
                try addRemoval(
                    change.place, after: token, count: change.count, at: change.at,
                    by: change.author)
            }
        }
        for change in changes {
            try addChange(
                change.place, before: token, waiting[change.place], count: change.count,
                at: change.at, by: change.author)
        }
        let changed = Set(changes.map(\.place))
        for waiting in self.waiting where !changed.contains(waiting.place) {
            if let time, waiting.since <= time { continue }
            addWaiting(waiting)
        }
    }

    private mutating func addChange(
        _ place: RecordPlace, before token: Int64, _ waiting: WaitingDeletion?, count: Int64,
        at: Timestamp,
        by author: String
    ) throws(RecordError) {
        let current = try connection.records.stored(named: place.name, place.zone)
        let stem =
            current?.entry.stem ?? trash[place]?.stem
            ?? Stem(encoding: place.name)
        guard scope.contains(stem) else { return }
        guard let then = try version(of: place, upTo: token), then.kind != .deleted else {
            // A record that was not made since and does not exist is not counted.
            if let current, current.state == .saved, !removals.contains(current.id) {
                plan.madeSince += 1
            }
            return
        }
        if try mayOnlyBeRead(place, { then.text }) { return }
        guard
            var step = step(
                place, stem: stem, wasDeleted: current?.state != .saved, laterVersions: count,
                at: at, by: author)
        else { return }
        step.waiting = waiting?.id
        if let current {
            guard try typeName(of: current.entry.type) == place.type else {
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
        step.trash = trash[place]?.id
        if try step.trash.map(textOfTrash) != then.text { step.version = then.token }
        try add(step, place)
    }

    /// Adds the removal of a record that was made since. One that the user may only read stays, and
    /// so does one whose file shows a text that is nowhere else.
    private mutating func addRemoval(
        _ place: RecordPlace, after token: Int64, count: Int64, at: Timestamp, by author: String
    ) throws(RecordError) {
        guard let current = try connection.records.stored(named: place.name, place.zone),
            current.state == .saved, !current.entry.showsText,
            scope.contains(current.entry.stem),
            try typeName(of: current.entry.type) == place.type,
            try connection.records.version(of: place, upTo: token) == nil,
            try !mayOnlyBeRead(
                place,
                { () throws(RecordError) in try connection.records.savedText(of: current.id) }),
            var step = step(
                place, stem: current.entry.stem, wasDeleted: false, laterVersions: count, at: at,
                by: author)
        else { return }
        step.removal = current.id
        removals.insert(current.id)
        plan.steps.append(step)
    }

    /// Returns the state of the record then. Returns nil for a time before it was made.
    private func version(
        of place: RecordPlace, upTo token: Int64
    ) throws(RecordError) -> (token: Int64, kind: ChangeKind?, text: [UInt8])? {
        try connection.first(
            """
            SELECT token, kind, text FROM history
            WHERE zone_id = ? AND name = ? AND type = ? AND token <= ?
            ORDER BY token DESC LIMIT 1
            """,
            [.integer(place.zone.rawValue), .name(place.name), .name(place.type), .integer(token)]
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
        _ place: RecordPlace, _ text: () throws(RecordError) -> [UInt8]?
    ) throws(RecordError) -> Bool {
        guard zones[place.zone]?.permission == .mixed, scope.stem == nil else { return false }
        let permissions = try RecordPermissions(connection, place.zone)
        if try permissions.permission(of: place.name) == .readOnly { return true }
        guard let text = try text() else { return false }
        return try permissions.permission(of: place.name, saying: text) == .readOnly
    }

    private func step(
        _ place: RecordPlace, stem: Stem, wasDeleted: Bool, laterVersions: Int64 = 0, at: Timestamp,
        by author: String
    ) -> RestoreStep? {
        guard let zone = zones[place.zone] else { return nil }
        return RestoreStep(
            zone: zone, type: place.type, stem: stem, wasDeleted: wasDeleted,
            laterVersions: laterVersions, lastChange: at, lastAuthor: author)
    }

    /// Adds the step for a record that is made again, unless another record has its name or its
    /// file's name, or comes back with that name.
    private mutating func add(_ step: RestoreStep?, _ place: RecordPlace) throws(RecordError) {
        guard let step else { return }
        let takers = try connection.records.takers(of: place, step.stem)
        if !removals.isSuperset(of: takers) || !planned.insert(place.key).inserted {
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
