package import RecordModel
import RecordSQL

extension RecordUndoing {
    var rows: GestureRows { GestureRows(connection: transaction.connection) }

    /// Takes gestures back, in the order in which the result has them.
    ///
    /// - Throws: notFound when there is nothing to take back, or the chosen gesture was taken back
    ///   already. Otherwise the error of one record, with its name; then nothing is taken back.
    package func undo(_ choice: GestureChoice) throws(RecordError) -> [UndoneGesture] {
        switch choice {
        case .ofToken(let token):
            let gesture = try rows.gesture(ofToken: token)
            guard try rows.isInForce(gesture) else {
                throw RecordError(.notFound, "@\(token) is undone already.")
            }
            return [try undo(gesture)]
        case .latest(let count):
            return try repeated(count, "There is nothing to undo.") {
                () throws(RecordError) in try rows.latestInForce()
            }
        case .latestUndone(let count):
            return try repeated(count, "There is nothing to redo.") {
                () throws(RecordError) in try latestToRedo()
            }
        }
    }

    private func repeated(
        _ count: Int, _ refusal: String, _ next: () throws(RecordError) -> Gesture?
    ) throws(RecordError) -> [UndoneGesture] {
        var done: [UndoneGesture] = []
        while done.count < count, let gesture = try next() {
            done.append(try undo(gesture))
        }
        guard !done.isEmpty else { throw RecordError(.notFound, refusal) }
        return done
    }

    /// Returns the undo that was made last.
    ///
    /// - Throws: notFound when something else was done after it.
    private func latestToRedo() throws(RecordError) -> Gesture? {
        guard let undo = try rows.latestUndo() else { return nil }
        if let later = try rows.latestInForce(), later.id > undo.id {
            throw RecordError(
                .notFound,
                "something was changed since the last undo. recordfs log lists what was undone; "
                    + "name it with recordfs redo @TOKEN.")
        }
        return undo
    }

    private func undo(_ gesture: Gesture) throws(RecordError) -> UndoneGesture {
        var changes = try rows.changes(of: gesture.id)
        // Deletions that wait become final, so that a redo finds what the undo has brought back.
        let waiting = changes.compactMap(\.waiting)
        for record in waiting { try transaction.records.finalizeDelete(record) }
        if !waiting.isEmpty { changes = try rows.changes(of: gesture.id) }
        // A gesture of which nothing can be taken back counts as taken back, so that the next undo
        // goes further back.
        try transaction.beginGesture(reverting: gesture.id)
        var result = UndoneGesture(gesture: try rows.original(of: gesture))
        let hasServer = try transaction.connection.owner() != nil
        // What the gesture has made goes first: its names may be those of what it has removed.
        for change in changes.filter({ !$0.isRemoval }) + changes.filter(\.isRemoval) {
            if let record = try undo(change, hasServer: hasServer) { result.records.append(record) }
        }
        return result
    }
}
