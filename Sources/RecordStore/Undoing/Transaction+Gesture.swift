import RecordModel
import RecordSQL
import Synchronization

extension Transaction {
    /// Returns the gesture to which the changes of this transaction belong, and makes its row with
    /// the first of them; for what came from elsewhere, the gesture of its origin. Returns nil for
    /// what came without one, and for the store's own work.
    func gesture() throws(RecordError) -> GestureID? {
        if let ownGesture { return ownGesture }
        guard author != .sync else { return try origin.flatMap(foreignGesture) }
        guard let caller else { return nil }
        let key = GestureBook.Key(program: caller.program, author: author, authorName: program)
        gestureKey = key
        let running = store.gestures.withLock { $0.running(key, at: now, caller) }
        if let running {
            ownGesture = running
        } else {
            ownGesture = try makeGesture()
        }
        return ownGesture
    }

    /// Makes what follows in this transaction a gesture of its own, which takes another one back.
    func beginGesture(reverting other: GestureID) throws(RecordError) {
        reverts = other
        ownGesture = try makeGesture()
    }

    private func makeGesture() throws(RecordError) -> GestureID {
        try connection.run(
            """
            INSERT INTO gesture (at, author, program, tool, first_token, reverts, name)
            VALUES (?1, ?2, ?3, ?4, 1 + coalesce((SELECT max(token) FROM history), 0), ?5, ?6)
            """,
            [
                .time(now), .text(author.rawValue), .optional(program?.text),
                .optional(caller?.name()), .optional(reverts?.rawValue),
                .text(GestureName.random().text),
            ])
        return GestureID(connection.lastInsertedRow)
    }

    /// Returns the gesture of another machine, and makes its row with its first change. Returns nil
    /// for a gesture of this machine that comes back: what the merge has made is not what it did.
    private func foreignGesture(_ origin: GestureOrigin) throws(RecordError) -> GestureID? {
        if let known = foreignGestures[origin.name] { return known }
        let known = try connection.first(
            "SELECT id, origin FROM gesture WHERE name = ?", [.text(origin.name.text)]
        ) { (id: GestureID($0.int64(0)), isForeign: !$0.isNull(1)) }
        var id = known.flatMap { $0.isForeign ? $0.id : nil }
        if known == nil {
            try connection.run(
                """
                INSERT INTO gesture (at, author, program, tool, first_token, name, origin)
                VALUES (?1, ?2, ?3, ?4, 1 + coalesce((SELECT max(token) FROM history), 0), ?5, ?6)
                """,
                [
                    .time(origin.at), .text(Author.sync.rawValue),
                    .optional(origin.program?.text), .optional(origin.tool),
                    .text(origin.name.text), .text(origin.author.rawValue),
                ])
            id = GestureID(connection.lastInsertedRow)
        }
        foreignGestures[origin.name] = .some(id)
        return id
    }

    /// Notes after the commit that the gesture goes on. After an undo, whatever follows is another
    /// gesture.
    func publishGesture() {
        guard let ownGesture else { return }
        store.gestures.withLock { book in
            if reverts != nil {
                book.endAll()
            } else if let gestureKey, let caller {
                book.note(ownGesture, gestureKey, at: now, caller)
            }
        }
    }
}
