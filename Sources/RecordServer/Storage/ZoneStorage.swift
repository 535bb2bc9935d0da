import RecordModel
package import RecordWire

package protocol ZoneReader {
    func zone(_ key: ZoneKey) throws(ServerError) -> ZoneRow?
    /// By name.
    func zones(_ database: DatabaseKey) throws(ServerError) -> [ZoneRow]
    /// Zones of this database that were deleted and do not exist now.
    func zoneTombstones(_ database: DatabaseKey) throws(ServerError) -> [ZoneTombstone]
    /// From where to where the feed of the database goes: the order in which its zones last
    /// changed. Nil where there was never a zone.
    func zoneFeed(_ database: DatabaseKey) throws(ServerError) -> ZoneFeed?
    /// Zones by their last change after `position`, and tombstones of zones that were made at or
    /// before it and deleted after `start`, in the order of the feed.
    func zoneChanges(_ database: DatabaseKey, after position: Int64, start: Int64, limit: Int)
        throws(ServerError) -> [ZoneChange]
    /// Of all zones with tombstones of records, in an order of the storage's own, the first after
    /// this one.
    func zoneWithTombstones(after handle: ZoneHandle?) throws(ServerError) -> ZoneRow?
    /// The position of the last of the first `limit` tombstones that come before any tombstone
    /// made at or after `milliseconds`; nil for none.
    func lastTombstone(_ zone: ZoneHandle, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Int64?
    /// The same of the tombstones that come before the newest `count`.
    func lastTombstone(_ zone: ZoneHandle, beforeNewest count: Int, limit: Int)
        throws(ServerError) -> Int64?
}

package protocol ZoneWriter {
    /// A new zone with a random incarnation, whose positions begin at the setting `firstPosition`, and
    /// behind those of all zones of the database that were deleted; takes away its tombstone. The zone must not exist.
    func createZone(_ key: ZoneKey, incarnation: UInt64) throws(ServerError) -> ZoneRow
    /// Keeps other writers of the zone out until the commit, and reads it. A storage with one
    /// writer just reads.
    func lockZone(_ key: ZoneKey) throws(ServerError) -> ZoneRow?
    /// Stores position, horizon and counts. With another position the zone is the last one of the
    /// feed of its database.
    func updateZone(_ zone: ZoneRow) throws(ServerError)
    /// Takes the zone away with its records, references, index entries and shares, at once for
    /// readers; `sweep` frees the space and gives asset references back. Leaves a tombstone, and
    /// one for everybody who had the zone in the shared database. Costs the same whatever is in
    /// the zone.
    func deleteZone(_ zone: ZoneRow, reason: DeletionReason) throws(ServerError)
    /// Forgets tombstones of zones from before `milliseconds`. Each is as old as the first sweep
    /// that met it, whose time is `now`. At most `limit` in each list; false when nothing is left.
    func sweepZoneTombstones(now: Int64, before milliseconds: Int64, limit: Int)
        throws(ServerError) -> Bool
    /// Frees at most `limit` rows of deleted zones; false when nothing is left.
    func sweepDeletedZones(limit: Int) throws(ServerError) -> Bool
}
