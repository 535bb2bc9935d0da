package import RecordModel
package import RecordWire

/// A state that a record of a private database has had, with the change that ended it.
package struct FormerRecord: Hashable, Sendable {
    /// The state. Its tree and share are not kept.
    package let record: StoredRecord
    /// The position of the change that ended it. No other change of the zone has it.
    package let position: Int64
    /// The write that ended it.
    package let replaced: WriteStamp
    /// The origin of that write, as its client has told it.
    package let gesture: Text?
    /// Indicates whether the write was a deletion.
    package let isDeletion: Bool

    package init(
        _ record: StoredRecord, endedAt position: Int64, by replaced: WriteStamp,
        gesture: Text?, isDeletion: Bool
    ) {
        (self.record, self.position, self.replaced) = (record, position, replaced)
        (self.gesture, self.isDeletion) = (gesture, isDeletion)
    }
}

package protocol FormerReader {
    /// Returns former states of the records of a zone, or of one record, those that ended last first.
    ///
    /// - Parameters:
    ///   - position: only those that ended before it; all when nil.
    ///   - maximumBytes: the list ends after the state with which they have so many bytes.
    func formerRecords(
        _ zone: ZoneHandle, of name: RecordName?, before position: Int64?, limit: Int,
        maximumBytes: Int
    ) throws(ServerError) -> [FormerRecord]
}

package protocol FormerWriter {
    /// Keeps a former state, and of the name only the newest `count`.
    func putFormer(
        _ zone: ZoneHandle, _ former: FormerRecord, keeping count: Int) throws(ServerError)
    /// Removes at most `limit` states that ended before `milliseconds`. Returns false when none is
    /// left.
    func removeFormerRecords(
        before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> Bool
}
