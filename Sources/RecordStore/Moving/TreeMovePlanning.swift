import RecordModel
import RecordObjects
import RecordSQL

/// Finds out the steps of moving a tree, and whether the move is permitted, only by reading.
///
/// It reads the records of the zone once, because nothing stores which records are children of
/// which.
struct TreeMovePlanning {
    private let connection: SQLConnection
    private let move: TreeMove
    private let roots: [RecordName]
    private let privateTypes: Set<RecordTypeName>
    private var plan: TreeMovePlan
    private var links: ZoneLinks
    /// The objects of the zone. Nil without a model.
    private var graph: ObjectGraph?
    private var tree: Set<RecordName> = []

    /// Returns the plan of a move. Errors: invalidArgument, which names the obstacle; notFound;
    /// accessDenied.
    static func plan(
        _ connection: SQLConnection, _ move: TreeMove, _ model: AttachedModel?
    ) throws(RecordError) -> TreeMovePlan {
        var planning = try TreeMovePlanning(connection, move, model)
        try planning.checkSource()
        try planning.gather()
        try planning.checkTree()
        try planning.checkLinks()
        try planning.checkTarget()
        return planning.plan
    }

    private init(
        _ connection: SQLConnection, _ move: TreeMove, _ model: AttachedModel?
    ) throws(RecordError) {
        self.connection = connection
        self.move = move
        var rows: [StoredRow] = []
        for root in move.roots {
            guard let row = try connection.records.stored(root), row.state == .saved,
                row.name != nil
            else {
                throw RecordError(.notFound, "it is not saved yet. Correct the draft first.")
            }
            rows.append(row)
        }
        guard let zone = rows.first?.zone, let source = try connection.records.zone(zone) else {
            throw RecordError(.notFound, "The zone is gone.")
        }
        if let other = rows.first(where: { $0.zone != zone }) {
            throw RecordError(
                .invalidArgument,
                "\(other.entry.stem) is in another zone than \(rows[0].entry.stem). Records of one "
                    + "zone move together.")
        }
        guard source.database == .private else {
            throw RecordError(
                .invalidArgument, "only records of private can move to a new zone.")
        }
        guard (source.database, source.owner, source.name) != (move.database, move.owner, move.zone)
        else {
            throw RecordError(.invalidArgument, "it is in the zone \(source.name) already.")
        }
        roots = rows.compactMap(\.name)
        plan = TreeMovePlan(source: source)
        links = try ZoneLinks(connection, source)
        let staying = try Self.isShared(connection, move) ? model?.privateTypes ?? [] : []
        privateTypes = staying
        graph = model.map { ObjectGraph(connection, zone, $0, without: staying) }
    }

    /// Returns whether others see what is in the target zone.
    private static func isShared(
        _ connection: SQLConnection, _ move: TreeMove
    ) throws(RecordError) -> Bool {
        if move.isShared || move.database == .shared { return true }
        guard let zone = try connection.records.zone(move.database, move.owner, move.zone) else {
            return false
        }
        return try connection.exists(
            "SELECT 1 FROM share WHERE zone_id = ?", [.integer(zone.id.rawValue)])
    }

    /// Adds the roots and everything that hangs on them, directly or not.
    private mutating func gather() throws(RecordError) {
        var names: [RecordName] = []
        for root in roots where tree.insert(root).inserted { names.append(root) }
        var next = 0
        while next < names.count {
            let name = names[next]
            let others = try (links.children[name] ?? []) + (graph?.neighbours(of: name) ?? [])
            names += others.filter { tree.insert($0).inserted }
            next += 1
        }
        // The records that link objects come last: no other record needs them.
        for link in graph?.links ?? [] where tree.insert(link).inserted { names.append(link) }
        var added: Set<RecordName> = []
        for name in names {
            for name in links.line(from: name).reversed()
            where tree.contains(name) && added.insert(name).inserted {
                try add(name)
            }
        }
        plan.torn = try torn()
    }

    private func torn() throws(RecordError) -> [TreeMovePlan.Torn] {
        var found: [TreeMovePlan.Torn] = []
        for torn in graph?.torn ?? [] {
            guard let object = try self.object(torn.record),
                let staying = try self.object(torn.edge.other)
            else { continue }
            found.append(
                TreeMovePlan.Torn(
                    object: object, relationship: torn.edge.relationship, staying: staying,
                    side: torn))
        }
        return found
    }

    private mutating func add(_ name: RecordName) throws(RecordError) {
        let row = try connection.first(
            """
            SELECT r.id, t.name, r.stem, r.size + (SELECT coalesce(sum(size), 0) FROM asset
                WHERE record_id = r.id)
            FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.zone_id = ? AND r.name = ?
            """, [.integer(plan.source.id.rawValue), .name(name)]
        ) { row in
            (
                TreeMovePlan.Step(
                    record: RecordID(row.int64(0)), type: RecordTypeName(bytes: row.bytes(1)),
                    stem: Stem(bytes: row.bytes(2)), name: name), row.int64(3)
            )
        }
        guard let row else { return }
        plan.steps.append(row.0)
        plan.bytes += row.1
    }

    /// Checks that objects do not leave a share for another one: those who have the first would lose
    /// them.
    private func checkSource() throws(RecordError) {
        guard move.isShared, graph != nil, try connection.sync.isSharedWhole(plan.source.id) else {
            return
        }
        throw RecordError(
            .invalidArgument,
            "it is shared already, with the zone \(plan.source.name). Move it to another zone first "
                + "(recordfs mv) to share it with other people.")
    }

    private func checkTree() throws(RecordError) {
        for step in plan.steps {
            if let parent = links.parents[step.name], !tree.contains(parent) {
                throw RecordError(
                    .invalidArgument,
                    "\(step.path) is a child of \(try shown(parent)), which stays. Remove its "
                        + "\"$parent\" first, or share that record.")
            }
            if privateTypes.contains(step.type) {
                throw RecordError(
                    .invalidArgument,
                    "\(step.path) stays with you: the model has \(EntityPrivacy.key) for "
                        + "\(step.type).")
            }
            let record = try connection.records.stored(step.record)
            guard try connection.records.permission(of: step.record, in: plan.source) == .readWrite
            else {
                throw RecordError.readOnlyRecord(step.stem)
            }
            if record?.entry.hasDraft == true {
                throw RecordError(
                    .invalidArgument,
                    "\(step.path) has a draft. Correct or discard it first.")
            }
            if try hasConflict(step) {
                throw RecordError(
                    .invalidArgument,
                    "\(step.path) has a conflict. Settle it first: recordfs conflicts.")
            }
            if try isShared(step) {
                throw RecordError(
                    .invalidArgument,
                    "\(step.path) is shared already, and its link would end. recordfs share stop "
                        + "ends it.")
            }
        }
    }

    private func hasConflict(_ step: TreeMovePlan.Step) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM conflict WHERE record_id = ? AND settled IS NULL",
            [.integer(step.record.rawValue)])
    }

    private func isShared(_ step: TreeMovePlan.Step) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM share WHERE zone_id = ? AND root = ?",
            [.integer(plan.source.id.rawValue), .name(step.name)])
    }

    /// Checks that records with references to each other stay together: a reference does not lead
    /// from one share into another.
    private func checkLinks() throws(RecordError) {
        for link in links.references {
            switch (tree.contains(link.from), tree.contains(link.to)) {
            case (true, true), (false, false): continue
            case (true, false):
                // A target that does not exist now would not exist there either.
                let target = try connection.records.stored(named: link.to, plan.source.id)
                guard target != nil else { continue }
                throw RecordError(
                    .invalidArgument,
                    "\(try shown(link.from)) names \(try shown(link.to)) in \(link.field), which is "
                        + "no child of it and would stay. Make it a child with \"$parent\", or remove "
                        + "the reference.")
            case (false, true):
                throw RecordError(
                    .invalidArgument,
                    "\(try shown(link.from)), which stays, names \(try shown(link.to)) in "
                        + "\(link.field). Remove that reference first.")
            }
        }
    }

    private func checkTarget() throws(RecordError) {
        guard let target = try connection.records.zone(move.database, move.owner, move.zone) else {
            return
        }
        guard target.permission != .readOnly else { throw RecordError.readOnlyZone(target) }
        for step in plan.steps {
            if try isTaken(step, in: target) {
                throw RecordError(
                    .alreadyExists,
                    "the zone \(target.name) has a record with the name of \(step.path) already.")
            }
        }
        guard let parent = move.parent else { return }
        guard let record = try connection.records.stored(named: parent, target.id),
            record.state == .saved
        else {
            throw RecordError(.notFound, "there is no record \(parent) in \(target.name).")
        }
        guard try connection.records.permission(of: record.id, in: target) == .readWrite else {
            throw RecordError.readOnlyRecord(record.entry.stem)
        }
    }

    /// Returns whether the name is taken by a record, or by a record of another type whose changes
    /// are not all sent.
    private func isTaken(
        _ step: TreeMovePlan.Step, in target: ZoneInfo
    ) throws(RecordError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.zone_id = ?1 AND r.state != 2
                AND (r.name = ?2 OR r.name IS NULL AND t.name = ?3 AND r.stem = ?4)
            UNION ALL
            SELECT 1 FROM outbox WHERE zone_id = ?1 AND name = ?2 AND type != ?3
            """,
            [
                .integer(target.id.rawValue), .name(step.name), .name(step.type),
                .name(step.stem),
            ])
    }

    private func shown(_ name: RecordName) throws(RecordError) -> String {
        try object(name).map { "\($0.type)/\($0.stem)" } ?? "\(name)"
    }

    private func object(_ name: RecordName) throws(RecordError) -> TreeMovePlan.Object? {
        try connection.first(
            """
            SELECT t.name, r.stem FROM record r JOIN record_type t ON t.id = r.type_id
            WHERE r.zone_id = ? AND r.name = ?
            """, [.integer(plan.source.id.rawValue), .name(name)]
        ) {
            TreeMovePlan.Object(
                type: RecordTypeName(bytes: $0.bytes(0)), stem: Stem(bytes: $0.bytes(1)))
        }
    }
}

extension TreeMovePlan.Step {
    /// The path by which people name it within the zone.
    package var path: String { "\(type)/\(stem)" }
}
