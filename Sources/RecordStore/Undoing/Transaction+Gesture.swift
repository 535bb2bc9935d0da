import RecordModel
import RecordSQL
import Synchronization

extension Transaction {
    /// Returns the gesture to which the changes of this transaction belong, and makes its row with
    /// the first of them. Returns nil for what came from elsewhere and for the store's own work.
    func gesture() throws(RecordError) -> GestureID? {
        if let ownGesture { return ownGesture }
        guard author != .sync, let caller else { return nil }
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
            INSERT INTO gesture (at, author, program, tool, first_token, reverts)
            VALUES (?1, ?2, ?3, ?4, 1 + coalesce((SELECT max(token) FROM history), 0), ?5)
            """,
            [
                .time(now), .text(author.rawValue), .optional(program?.text),
                .optional(caller?.name()), .optional(reverts?.rawValue),
            ])
        return GestureID(connection.lastInsertedRow)
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
