package import RecordModel
package import RecordWire

package protocol RecordReader {
    /// Returns those of `names` that exist or have a tombstone.
    func records(
        _ zone: ZoneHandle, _ names: [RecordName]
    ) throws(ServerError) -> [RecordName: StoredRecord]

    /// Returns the records of the first of `names`, at least of one: of so many that the records
    /// have about `maximumBytes` together. `count` is the number of names that were looked up.
    func records(
        _ zone: ZoneHandle, first names: ArraySlice<RecordName>, maximumBytes: Int
    ) throws(ServerError) -> (found: [RecordName: StoredRecord], count: Int)

    /// Returns the changes after `position` in the order of the feed, each record once in its
    /// latest state. With `shares`, returns only records of those hierarchies, and `gone` for
    /// records that left them. Returns at most `limit` entries. With `descending`, it starts at the
    /// newest change, so that `position` is only the end. Ends after the entry with which the
    /// entries have `maximumBytes`.
    func changes(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [FeedEntry]

    /// Returns where records went after `position`, for names that have had other records since, in
    /// the order of the feed. For names without a record, `changes` has the tombstones.
    func departures(
        _ zone: ZoneHandle, after position: Int64, limit: Int
    ) throws(ServerError) -> [Departure]

    /// Returns how many entries `changes` would return in all, counted up to `limit` (for
    /// progress).
    func countChanges(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, limit: Int
    ) throws(ServerError) -> Int

    /// Returns the names of the records whose parent is `parent`, the oldest first.
    func children(_ zone: ZoneHandle, of parent: RecordName, limit: Int) throws(ServerError)
        -> [RecordName]

    /// Returns the names of the records in the hierarchy of `share`.
    func members(_ zone: ZoneHandle, of share: RecordName, limit: Int) throws(ServerError)
        -> [RecordName]

    /// Returns the records with a reference of this kind to `target`.
    func sources(
        _ zone: ZoneHandle, of target: RecordName, action: Reference.Action, limit: Int
    ) throws(ServerError) -> [RecordName]

    /// Returns the entries of an index, in its order, with their records. Entries with equal keys
    /// are in the order of names. A descending scan is exactly the reverse, equal keys included.
    func scan(_ zone: ZoneHandle, _ scan: IndexScan) throws(ServerError) -> [IndexedRecord]

    /// Returns how many records of a type have no entry of kind `value` for the field. Each record
    /// has at most one.
    func countUnindexed(_ zone: ZoneHandle, type: RecordTypeName, field: FieldName)
        throws(ServerError) -> Int64

    /// Returns records of one type in the order of their names, after `name`; `descending` reverses
    /// the order. Ends after the record with which they have `maximumBytes`.
    func records(
        _ zone: ZoneHandle, type: RecordTypeName, after name: RecordName?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [StoredRecord]

    /// Returns the stored result of an operation of this user in this database.
    func operationResult(
        _ database: DatabaseKey, _ user: UserName, operationID: Text
    ) throws(ServerError) -> [UInt8]?
}

extension RecordReader {
    package func changes(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, descending: Bool,
        limit: Int
    ) throws(ServerError) -> [FeedEntry] {
        try changes(
            zone, after: position, shares: shares, descending: descending, limit: limit,
            maximumBytes: .max)
    }

    package func records(
        _ zone: ZoneHandle, type: RecordTypeName, after name: RecordName?, descending: Bool,
        limit: Int
    ) throws(ServerError) -> [StoredRecord] {
        try records(
            zone, type: type, after: name, descending: descending, limit: limit,
            maximumBytes: .max)
    }
}

package protocol RecordWriter {
    /// Inserts or replaces a record or a tombstone by its name. A tombstone removes the references,
    /// index entries and asset references that go out from its name.
    func put(_ zone: ZoneHandle, _ record: StoredRecord) throws(ServerError)
    /// Replaces all references with consequences that go out from each of these records, which have
    /// been put.
    func putReferences(_ zone: ZoneHandle, _ sources: [RecordReferences]) throws(ServerError)
    /// Replaces all index entries of each of these records, which have been put.
    func putIndexes(_ zone: ZoneHandle, _ records: [IndexKeys]) throws(ServerError)
    /// Notes that a record left a hierarchy at `position`, by a change or by its deletion. A
    /// tombstone has no share, so this note is the only way in which the feed of a share learns of
    /// it. The next `put` of the record with this `share` removes the note.
    func putExit(
        _ zone: ZoneHandle, share: RecordName, _ record: RecordName, position: Int64)
        throws(ServerError)
    /// Notes where the earlier record of a name has gone, when the name has another record now.
    /// When a record replaces a tombstone, `put` does this itself. Only the newest notes of a name
    /// are kept.
    func putDeparture(_ zone: ZoneHandle, _ departure: Departure) throws(ServerError)
    /// Removes at most `limit` tombstones, exits and departures at or before `position`. Returns
    /// false when none is left.
    func removeTombstones(_ zone: ZoneHandle, upTo position: Int64, limit: Int)
        throws(ServerError) -> Bool
    /// Stores the result of an operation. Keeps only the newest `count` of this user and database.
    func putOperationResult(
        _ database: DatabaseKey, _ user: UserName, operationID: Text, result: [UInt8],
        milliseconds: Int64, keeping count: Int) throws(ServerError)
    /// Removes results of operations from before `milliseconds`.
    func removeOperationResults(before milliseconds: Int64) throws(ServerError)
}
