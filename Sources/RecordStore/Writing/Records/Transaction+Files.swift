import RecordModel
import RecordSQL

/// The files that show records, apart from the records: which change takes a file's name away.
extension Transaction {
    /// The record's file loses its name, to another file or for good, unless the effect says that
    /// it is only written into. To be called before the rows change: who has the file open goes on
    /// with what it shows now.
    ///
    /// - Parameter newText: what the name will show; nil for something else in any case.
    func replaceFile(
        of record: StoredRecord, _ effect: FileEffect, newText: [UInt8]? = nil
    ) throws(RecordError) {
        guard try noteReplacedFile(of: record, effect, newText: newText) else { return }
        try connection.run(
            "UPDATE record SET flags = flags + ?2 WHERE id = ?1",
            [.integer(record.id.rawValue), .integer(RecordFlags.incarnation)])
    }

    /// Does the same for a row that the caller changes or removes itself.
    ///
    /// - Returns: whether the record's next file is another one: its incarnation has to grow by one.
    func noteReplacedFile(
        of record: StoredRecord, _ effect: FileEffect, newText: [UInt8]? = nil
    ) throws(RecordError) -> Bool {
        guard effect != .inPlace, replaced[record.id] == nil else { return false }
        let (text, version): ([UInt8], Int64?)
        do throws(RecordError) {
            let shown = try connection.shown(record.id)
            (text, version) = (shown?.text ?? [], shown?.version)
        } catch  where error.code == .corrupt {
            // Nobody can be reading a text that is damaged.
            return false
        }
        if effect == .replaced, text == newText { return false }
        replaced[record.id] = ReplacedFile(
            entry: record.entry, text: text, author: author, effect: effect,
            version: effect == .removed ? version : nil)
        return true
    }

    /// Of a record as this transaction leaves it.
    func incarnation(of record: StoredRecord) -> UInt32 {
        let before = record.entry.incarnation
        return replaced[record.id] == nil ? before : (before &+ 1) % RecordFile.incarnations
    }
}
