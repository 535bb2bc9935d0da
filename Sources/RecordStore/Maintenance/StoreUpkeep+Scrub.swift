import FoundationEssentials
import Logging
package import RecordModel
import RecordSQL

extension StoreUpkeep {
    /// Removes the remains of shares from the disk: files of large fields, local files, words of
    /// the search index, the tables of `recordfs sql`, free pages, the log. This is due from the transaction that erased the
    /// share on, even if the process has ended meanwhile.
    ///
    /// - Returns: whether all of it is done; false while another process reads.
    @discardableResult
    package func scrub() throws(RecordError) -> Bool {
        let due = try store.read { connection throws(RecordError) in
            try connection.all("SELECT value FROM meta WHERE \(Self.scrubKeys)") { $0.string(0) }
        }
        guard !due.isEmpty else { return true }
        removeMirror()
        for directory in due where !directory.isEmpty {
            try removeLocalFiles("\(store.places.scratch)/\(directory)")
        }
        _ = try store.assets.collectAssets()
        try store.write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            try transaction.upkeep.scrubSearch()
            try transaction.sharing.forgetWordsOfOthers()
        }
        guard rebuild(), shortenLog() else { return false }
        try store.write(author: .sync, isFreeing: true) { transaction throws(RecordError) in
            try transaction.connection.run("DELETE FROM meta WHERE \(Self.scrubKeys)")
        }
        return true
    }

    /// Writes all data into new pages. `secure_delete` clears deleted data, but not the copies of
    /// rows that SQLite leaves between the rows of a page when it moves them to another page.
    ///
    /// Others can read meanwhile; saves wait as long as the copy takes.
    ///
    /// - Returns: whether it is done; false while another process writes, or without space for a
    ///   copy.
    private func rebuild() -> Bool {
        guard let writer = store.writer else { return false }
        do throws(RecordError) {
            try writer.use { connection throws(RecordError) in
                try connection.run("VACUUM")
            }
            return true
        } catch {
            store.options.logger.warning(
                "The rest of an ended share is removed later", metadata: ["error": "\(error)"])
            return false
        }
    }

    private static let scrubKeys = "key = 'scrub' OR key LIKE 'scrub %'"

    private func removeLocalFiles(_ directory: String) throws(RecordError) {
        guard FileManager.default.fileExists(atPath: directory) else { return }
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            throw RecordError(.ioFailure, "\(directory) cannot be removed: \(error)")
        }
    }
}

extension UpkeepWriting {
    /// Removes the gestures of others without a version here, and empties the search index: until it is made again, it keeps the words of deleted records.
    fileprivate func scrubSearch() throws(RecordError) {
        try transaction.emptySearchIndex()
        // What others did it with is a trace of what they wrote.
        try transaction.connection.run(
            """
            DELETE FROM gesture WHERE origin IS NOT NULL
                AND id NOT IN (SELECT gesture FROM history WHERE gesture IS NOT NULL)
            """)
        try transaction.connection.run(
            "DELETE FROM query_value WHERE record_id NOT IN (SELECT id FROM record)")
    }
}
