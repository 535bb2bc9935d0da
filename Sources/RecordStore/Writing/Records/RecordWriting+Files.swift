package import RecordModel
import RecordSQL

/// The files that show records, as distinct from the records: a change may take a file's name away.
extension RecordWriting {
    /// Notes that the record's file loses its name, to another file or for good, unless the effect
    /// says that the file is only written into. Call this before the rows change: a program that
    /// has the file open still sees its present content.
    ///
    /// - Parameter newText: the text that the name will show; nil if it differs in any case.
    func replaceFile(
        of record: StoredRow, _ effect: FileEffect, newText: [UInt8]? = nil
    ) throws(RecordError) {
        guard try noteReplacedFile(of: record, effect, newText: newText) else { return }
        try transaction.connection.run(
            "UPDATE record SET flags = flags + ?2 WHERE id = ?1",
            [.integer(record.id.rawValue), .integer(RecordFlags.incarnation)])
    }

    /// Does the same for a row that the caller changes or removes itself.
    ///
    /// - Returns: whether the record's next file is another one, so that its incarnation has to
    ///   grow by one.
    func noteReplacedFile(
        of record: StoredRow, _ effect: FileEffect, newText: [UInt8]? = nil
    ) throws(RecordError) -> Bool {
        guard effect != .inPlace, transaction.replaced[record.id] == nil else { return false }
        let (text, version): ([UInt8], Int64?)
        do throws(RecordError) {
            let shown = try transaction.connection.records.shown(record.id)
            (text, version) = (shown?.text ?? [], shown?.version)
        } catch  where error.code == .corrupt {
            // No program can be reading a damaged text.
            return false
        }
        if effect == .replaced, text == newText { return false }
        transaction.replaced[record.id] = ReplacedFile(
            entry: record.entry, text: text, author: transaction.author, effect: effect,
            version: effect == .removed ? version : nil)
        return true
    }

    /// Returns the incarnation of a record as this transaction leaves it.
    func incarnation(of record: StoredRow) -> UInt32 {
        let before = record.entry.incarnation
        return transaction.replaced[record.id] == nil
            ? before : (before &+ 1) % RecordFile.incarnations
    }

    /// Stores the time of a large field's file, on this machine only, until other bytes arrive.
    package func setModified(_ id: AssetID, _ modified: Timestamp) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE asset SET modified = ?1, \(Columns.changed("?2")) WHERE id = ?3",
            [.time(modified), .time(transaction.changed), .integer(id.rawValue)])
    }
}
