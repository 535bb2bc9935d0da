import RecordModel
package import RecordWire

package protocol ZoneReader {
    func zone(_ key: ZoneKey) throws(ServerError) -> ZoneRow?
    /// Returns the zones in the order of their names.
    func zones(_ database: DatabaseKey) throws(ServerError) -> [ZoneRow]
    /// Returns the tombstones of zones of this database that were deleted and do not exist now.
    func zoneTombstones(_ database: DatabaseKey) throws(ServerError) -> [ZoneTombstone]
    /// Returns the ends of the feed of the database: the order in which its zones last changed.
    /// Returns nil when there was never a zone.
    func zoneFeed(_ database: DatabaseKey) throws(ServerError) -> ZoneFeed?
    /// Returns the zones whose last change is after `position`, and the tombstones of zones that
    /// were deleted after both `position` and `start`, in the order of the feed.
    func zoneChanges(_ database: DatabaseKey, after position: Int64, start: Int64, limit: Int)
        throws(ServerError) -> [ZoneChange]
    /// Returns the first zone after this one that has tombstones of records, among all zones. The
    /// storage chooses the order.
    func zoneWithTombstones(after handle: ZoneHandle?) throws(ServerError) -> ZoneRow?
    /// Returns the position of the last of the first `limit` tombstones that come before any
    /// tombstone made at or after `milliseconds`. Returns nil for none.
    func lastTombstone(_ zone: ZoneHandle, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Int64?
    /// Returns the position of the last of the first `limit` tombstones that come before the newest
    /// `count`. Returns nil for none.
    func lastTombstone(_ zone: ZoneHandle, beforeNewest count: Int, limit: Int)
        throws(ServerError) -> Int64?
}

package protocol ZoneWriter {
    /// Makes a zone with a random incarnation. Its positions begin at the setting `firstPosition`,
    /// and behind those of all zones of the database that were deleted. Removes the tombstone of
    /// the zone. The zone must not exist.
    func createZone(_ key: ZoneKey, incarnation: UInt64) throws(ServerError) -> ZoneRow
    /// Keeps other writers of the zone out until the commit, and reads the zone. A storage with one
    /// writer only reads.
    func lockZone(_ key: ZoneKey) throws(ServerError) -> ZoneRow?
    /// Stores position, horizon and counts. When the position changes, the zone becomes the last
    /// one of the feed of its database.
    func updateZone(_ zone: ZoneRow) throws(ServerError)
    /// Removes the zone with its records, references, index entries and shares, at once for
    /// readers. `sweep` frees the space and gives asset references back later. Leaves a tombstone,
    /// and one for everybody who had the zone in the shared database. The cost does not depend on
    /// the content of the zone.
    func deleteZone(_ zone: ZoneRow, reason: DeletionReason) throws(ServerError)
    /// Removes tombstones of zones from before `milliseconds`. Each tombstone is as old as the
    /// first sweep that met it, whose time is `now`. Removes at most `limit` in each list. Returns
    /// false when nothing is left.
    func sweepZoneTombstones(now: Int64, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Bool
    /// Frees at most `limit` rows of deleted zones. Returns false when nothing is left.
    func sweepDeletedZones(limit: Int) throws(ServerError) -> Bool
}
