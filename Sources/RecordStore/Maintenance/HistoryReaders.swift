package import RecordModel
import RecordSQL

extension RecordHistory {
    /// Returns the readers, in the order of their names.
    package func readers() throws(RecordError) -> [HistoryReader] {
        try store.read { connection throws(RecordError) in try connection.readers(store) }
    }

    /// Returns the reader with this name.
    package func reader(_ name: HistoryReader.Name) throws(RecordError) -> HistoryReader? {
        try readers().first { $0.name == name }
    }
}

extension UpkeepWriting {
    /// Saves how far a reader has read. A reader without a saved token is made.
    ///
    /// - Parameter known: the token that the program knows of; nil for a reader that is new.
    /// - Throws: stale when another program has saved a token meanwhile; invalidArgument when there
    ///   are too many readers.
    package func saveReader(
        _ name: HistoryReader.Name, token: Int64, known: Int64?
    ) throws(RecordError) {
        let readers = try transaction.connection.readers(transaction.store)
        let saved = readers.first { $0.name == name }
        guard saved?.token == known else {
            throw RecordError(
                .stale,
                "another program uses the reader \(name) at the same time. Give each its own name.")
        }
        guard saved != nil || readers.count < HistoryReader.most else {
            throw RecordError(
                .invalidArgument,
                "there are \(HistoryReader.most) readers. recordfs readers list shows them, and "
                    + "recordfs readers remove NAME removes one.")
        }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO history_reader (name, token, used) VALUES (?, ?, ?)",
            [.text(name.text), .integer(token), .time(transaction.now)])
    }

    /// Removes a reader. Errors: notFound.
    package func removeReader(_ name: HistoryReader.Name) throws(RecordError) {
        let isThere = try transaction.connection.exists(
            "SELECT 1 FROM history_reader WHERE name = ?", [.text(name.text)])
        guard isThere else { throw RecordError(.notFound, "there is no reader \(name).") }
        try transaction.connection.run(
            "DELETE FROM history_reader WHERE name = ?", [.text(name.text)])
    }
}

extension SQLConnection {
    func readers(_ store: RecordStore) throws(RecordError) -> [HistoryReader] {
        let now = store.options.clock.now
        let (first, last) = (now - store.options.retention.readerAge, now + ClockWatch.jump)
        return try all("SELECT name, token, used FROM history_reader ORDER BY name") { row in
            let used = row.time(2)
            // A time that lies in the future was noted by a clock that was wrong.
            return HistoryReader(
                name: HistoryReader.Name(stored: row.string(0)), token: row.int64(1), used: used,
                isExpired: used < first || used > last)
        }
    }

    /// Returns the token after which readers need all versions.
    func heldToken(_ store: RecordStore) throws(RecordError) -> Int64 {
        try readers(store).filter { !$0.isExpired }.map(\.token).min() ?? .max
    }
}
