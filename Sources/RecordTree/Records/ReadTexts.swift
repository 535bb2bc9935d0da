import RecordModel
import RecordStore

extension OpenRecords {
    /// Returns the versions of an existing record that programs have read. When an edit of another
    /// machine has restored a removed record, the text of its removed file counts as read earlier.
    ///
    /// - Returns: also the time since which such a file is removed.
    func known(
        _ name: Readings.Name, by programs: Set<Int32>, of current: RecordEntry,
        with transaction: Transaction
    ) throws(RecordError) -> (Readings.Known, goneSince: Timestamp?) {
        var known = read(name, by: programs)
        var since: Timestamp?
        for gone in known.gone {
            if try transaction.merging.hasNews(of: current.id, since: gone.version) {
                known.texts.append(gone.text)
                since = min(since ?? gone.time, gone.time)
            } else {
                known.files.append(gone.file)
            }
        }
        return (known, since)
    }

    /// Indicates whether edits of other machines may have arrived that `unseenEdits` returns. Mostly
    /// none have.
    func mayHaveNews(_ transaction: Transaction) -> Bool {
        transaction.store.hasSynced(since: options.now - UnseenEdits.age)
    }

    /// Returns what has just arrived from other machines in a record that a program replaces as a
    /// whole, where the program was running before and has not read the record.
    func unseenEdits(
        _ name: Readings.Name, by programs: Set<Int32>, of current: RecordEntry,
        with transaction: Transaction
    ) throws(RecordError) -> UnseenEdits? {
        guard mayHaveNews(transaction), current.statusChanged >= options.now - UnseenEdits.age,
            !read(name, by: programs).hasRead(current.file),
            let began = options.began(programs), began <= current.statusChanged
        else { return nil }
        return try transaction.merging.unseenEdits(of: current, since: began)
    }
}
