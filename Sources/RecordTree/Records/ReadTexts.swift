import RecordModel
import RecordStore

extension [UInt8] {
    /// The text from which a program has begun that made a record before another one of the name
    /// arrived: none, which is no record.
    static var beforeArrival: [UInt8] { [] }
}

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
}
