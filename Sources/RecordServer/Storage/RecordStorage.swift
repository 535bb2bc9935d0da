package import RecordModel
package import RecordWire

package protocol RecordReader {
    /// Those of `names` that exist or have a tombstone.
    func records(
        _ zone: ZoneHandle, _ names: [RecordName]
    ) throws(ServerError) -> [RecordName: StoredRecord]

    /// The same of the first of `names`: of so many of them that the records have about
    /// `maximumBytes` together, and of one at least. `count` says of how many.
    func records(
        _ zone: ZoneHandle, first names: ArraySlice<RecordName>, maximumBytes: Int
    ) throws(ServerError) -> (found: [RecordName: StoredRecord], count: Int)

    /// The changes after `position` in the order of the feed, each record once at its latest
    /// state. With `shares`, only records of those hierarchies, and `gone` for records that left
    /// them. At most `limit`; `descending` starts at the newest and ignores `position` as a start
    /// but not as an end. Ends after the entry with which they have `maximumBytes`.
    func changes(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [FeedEntry]

    /// Where records went after `position`, of names that have had others since, in the order of the feed.
    /// Of names without a record, `changes` has the tombstones.
    func departures(
        _ zone: ZoneHandle, after position: Int64, limit: Int
    ) throws(ServerError) -> [Departure]

    /// How many entries `changes` would give in all, counted up to `limit` (for progress).
    func countChanges(
        _ zone: ZoneHandle, after position: Int64, shares: [RecordName]?, limit: Int
    ) throws(ServerError) -> Int

    /// Names of the records whose parent is `parent`, the oldest first.
    func children(_ zone: ZoneHandle, of parent: RecordName, limit: Int) throws(ServerError)
        -> [RecordName]

    /// Names of the records of the hierarchy of `share`.
    func members(_ zone: ZoneHandle, of share: RecordName, limit: Int) throws(ServerError)
        -> [RecordName]

    /// The records with a reference of this kind to `target`.
    func sources(
        _ zone: ZoneHandle, of target: RecordName, action: Reference.Action, limit: Int
    ) throws(ServerError) -> [RecordName]

    /// Entries of an index, in its order, with their records. Ties are in the order of names. A
    /// descending scan is exactly the reverse, ties included.
    func scan(_ zone: ZoneHandle, _ scan: IndexScan) throws(ServerError) -> [IndexedRecord]

    /// How many records of a type have no entry of kind `value` of the field. Each has one at most.
    func countUnindexed(_ zone: ZoneHandle, type: RecordTypeName, field: FieldName)
        throws(ServerError) -> Int64

    /// Records of one type in the order of their names (in that of `descending`), after `name`.
    /// Ends after the record with which they have `maximumBytes`.
    func records(
        _ zone: ZoneHandle, type: RecordTypeName, after name: RecordName?, descending: Bool,
        limit: Int, maximumBytes: Int
    ) throws(ServerError) -> [StoredRecord]

    /// What was put of an operation of this user in this database.
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
    /// Inserts or replaces a record or a tombstone by its name. A tombstone takes away the
    /// references, index entries and asset references that go out from its name.
    func put(_ zone: ZoneHandle, _ record: StoredRecord) throws(ServerError)
    /// Replaces all references with consequences that go out from each of these records, which have
    /// been put.
    func putReferences(_ zone: ZoneHandle, _ sources: [RecordReferences]) throws(ServerError)
    /// Replaces all index entries of each of these records, which have been put.
    func putIndexes(_ zone: ZoneHandle, _ records: [RecordIndex]) throws(ServerError)
    /// Notes that a record left a hierarchy at `position`, by a change or by its deletion: a
    /// tombstone has no share, so that the feed of a share knows of it by this only. The next
    /// `put` of the record with this `share` takes the note away.
    func putExit(
        _ zone: ZoneHandle, share: RecordName, _ record: RecordName, position: Int64)
        throws(ServerError)
    /// Notes where the record of a name has gone that has another one now. Of a tombstone that is put over,
    /// `put` does so. Of a name the oldest ones are forgotten.
    func putDeparture(_ zone: ZoneHandle, _ departure: Departure) throws(ServerError)
    /// Removes at most `limit` tombstones, exits and departures at or before `position`; false when none is
    /// left.
    func removeTombstones(_ zone: ZoneHandle, upTo position: Int64, limit: Int)
        throws(ServerError) -> Bool
    /// Keeps what became of an operation; of this user and database only the newest `count`.
    func putOperationResult(
        _ database: DatabaseKey, _ user: UserName, operationID: Text, result: [UInt8],
        milliseconds: Int64, keeping count: Int) throws(ServerError)
    /// Forgets operations from before `milliseconds`.
    func removeOperationResults(before milliseconds: Int64) throws(ServerError)
}
