package import RecordModel
package import RecordSQL

extension Columns {
    static let gesture = "id, at, author, program, tool, reverts, name, origin"
    /// The number of columns in `gesture`.
    static let gestureCount: Int32 = 8
}

extension SQLStatement {
    func gesture() -> Gesture {
        Gesture(
            id: GestureID(int64(0)), name: isNull(6) ? nil : GestureName(string(6)), at: time(1),
            author: Author(rawValue: string(2)) ?? .mount,
            program: isNull(3) ? nil : AuthorName(stored: string(3)),
            tool: isNull(4) ? nil : string(4), reverts: int64IfPresent(5).map { GestureID($0) },
            origin: isNull(7) ? nil : Author(rawValue: string(7)))
    }
}

extension SyncRows {
    /// Returns what other machines are told of a gesture. Returns nil for one without a name.
    package func origin(of id: GestureID) throws(RecordError) -> GestureOrigin? {
        guard let gesture = try GestureRows(connection: connection).gesture(id),
            let name = gesture.name
        else { return nil }
        return GestureOrigin(
            name: name, at: gesture.at, author: gesture.author, tool: gesture.tool,
            program: gesture.program)
    }
}

/// Reads what each gesture has done.
struct GestureRows {
    let connection: SQLConnection

    func gesture(_ id: GestureID) throws(RecordError) -> Gesture? {
        try gestureWithFirstToken(id)?.0
    }

    /// Returns a gesture with the first token that a change of it can have.
    func gestureWithFirstToken(
        _ id: GestureID
    ) throws(RecordError) -> (Gesture, first: Int64)? {
        try connection.first(
            "SELECT \(Columns.gesture), first_token FROM gesture WHERE id = ?",
            [.integer(id.rawValue)]
        ) { ($0.gesture(), $0.int64(Columns.gestureCount)) }
    }

    /// Returns the gesture that has the version with a token.
    ///
    /// - Throws: notFound for no version, and for one that no gesture has made.
    func gesture(ofToken token: Int64) throws(RecordError) -> Gesture {
        let row = try connection.first(
            "SELECT gesture, author FROM history WHERE token = ?", [.integer(token)]
        ) { ($0.int64IfPresent(0), $0.string(1)) }
        guard let (id, author) = row else {
            throw RecordError(
                .notFound, "there is no version @\(token). recordfs log lists what was done.")
        }
        guard let id, let gesture = try gesture(GestureID(id)), gesture.origin == nil else {
            throw RecordError(
                .notFound,
                author == Author.sync.rawValue
                    ? "@\(token) came from elsewhere. Only what was done on this machine is undone "
                        + "here; recordfs restore --since changes records back."
                    : "@\(token) is older than what can be undone. Use recordfs restore --since.")
        }
        return gesture
    }

    /// Returns the latest gesture that is in force, has changed something, and takes back none.
    func latestInForce() throws(RecordError) -> Gesture? {
        try latest("reverts IS NULL AND origin IS NULL") { _ throws(RecordError) in true }
    }

    /// Returns the latest undo that is in force.
    func latestUndo() throws(RecordError) -> Gesture? {
        try latest("reverts IS NOT NULL") { (gesture) throws(RecordError) in try isUndo(gesture) }
    }

    private func latest(
        _ condition: String, _ isWanted: (Gesture) throws(RecordError) -> Bool
    ) throws(RecordError) -> Gesture? {
        var before = GestureID(.max)
        while let gesture = try newest(condition, before: before) {
            if try isWanted(gesture), try isInForce(gesture), try hasChanges(gesture.id) {
                return gesture
            }
            before = gesture.id
        }
        return nil
    }

    private func newest(
        _ condition: String, before: GestureID
    ) throws(RecordError) -> Gesture? {
        try connection.first(
            """
            SELECT \(Columns.gesture) FROM gesture WHERE id < ? AND \(condition)
            ORDER BY id DESC LIMIT 1
            """, [.integer(before.rawValue)]
        ) { $0.gesture() }
    }

    /// Returns what an undo or a redo is about: the gesture that itself takes back none.
    func original(of gesture: Gesture) throws(RecordError) -> Gesture {
        guard let reverts = gesture.reverts, let target = try self.gesture(reverts) else {
            return gesture
        }
        return try original(of: target)
    }

    /// Returns whether a gesture takes back what was not itself an undo. Otherwise it is a redo.
    func isUndo(_ gesture: Gesture) throws(RecordError) -> Bool {
        guard let reverts = gesture.reverts, let target = try self.gesture(reverts) else {
            return false
        }
        return try !isUndo(target)
    }

    /// Returns whether nothing that is in force has taken the gesture back.
    func isInForce(_ gesture: Gesture) throws(RecordError) -> Bool {
        let reverting = try connection.all(
            "SELECT \(Columns.gesture) FROM gesture WHERE reverts = ?",
            [.integer(gesture.id.rawValue)]
        ) { $0.gesture() }
        for gesture in reverting where try isInForce(gesture) { return false }
        return true
    }

    private func hasChanges(_ id: GestureID) throws(RecordError) -> Bool {
        try connection.exists(
            """
            SELECT 1 FROM record WHERE waiting_since IS NOT NULL AND gesture = ?1
            UNION ALL
            SELECT 1 FROM history WHERE gesture = ?1
                AND token >= (SELECT first_token FROM gesture WHERE id = ?1) LIMIT 1
            """, [.integer(id.rawValue)])
    }

    /// The changes of a gesture to one record.
    struct Change {
        let gesture: GestureID
        let place: RecordPlace
        /// The first and the last version that the gesture has made. Nil when its only change is a
        /// deletion that waits.
        var first: (token: Int64, kind: ChangeKind)?
        var last: (token: Int64, kind: ChangeKind)?
        /// The fields that it has changed, in their order.
        var fields: [FieldName] = []
        /// The record, while the gesture's deletion of it waits.
        var waiting: RecordID?

        /// Indicates whether the gesture has left no record.
        var isRemoval: Bool { waiting != nil || last?.kind == .deleted }
        /// Indicates whether the gesture has done nothing else to it.
        var isOnlyRemoval: Bool { isRemoval && first?.token == last?.token }
    }

    /// Returns what a gesture has done, record by record, in the order of their first changes.
    func changes(of id: GestureID) throws(RecordError) -> [Change] {
        var indexes: [RecordPlace: Int] = [:]
        var changes: [Change] = []
        func index(_ place: RecordPlace) -> Int {
            if let index = indexes[place] { return index }
            indexes[place] = changes.count
            changes.append(Change(gesture: id, place: place))
            return changes.count - 1
        }
        try connection.each(
            """
            SELECT zone_id, type, name, token, kind, fields FROM history
            WHERE gesture = ?1 AND token >= (SELECT first_token FROM gesture WHERE id = ?1)
            ORDER BY token
            """, [.integer(id.rawValue)]
        ) { row in
            let index = index(row.recordPlace(0))
            let version = (row.int64(3), ChangeKind(rawValue: row.string(4)) ?? .updated)
            if changes[index].first == nil { changes[index].first = version }
            changes[index].last = version
            let known = Set(changes[index].fields)
            changes[index].fields += FieldNameList.decode(row.bytes(5)).filter {
                !known.contains($0)
            }
        }
        for waiting in try connection.records.waitingDeletions() where waiting.gesture == id {
            changes[index(waiting.place)].waiting = waiting.id
        }
        return changes
    }
}
