package import RecordModel
package import RecordWire

package protocol ShareReader {
    func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow?
    func shares(_ zone: ZoneKey) throws(ServerError) -> [ShareRow]
    /// The share with this short GUID in any database of the container.
    func share(_ container: ContainerKey, shortGUID: Text) throws(ServerError) -> ShareRow?
    func sharedZone(_ viewer: UserName, _ zone: ZoneKey) throws(ServerError) -> SharedZoneRow?
    /// What others share with `viewer` in this container, by owner and zone.
    func sharedZones(_ viewer: UserName, _ container: ContainerKey) throws(ServerError)
        -> [SharedZoneRow]
    /// Everybody who has this zone in the shared database.
    func viewers(_ zone: ZoneKey) throws(ServerError) -> [SharedZoneRow]
    /// Shared zones that `viewer` had and has no more.
    func sharedZoneTombstones(_ viewer: UserName, _ container: ContainerKey) throws(ServerError)
        -> [ZoneTombstone]
}

package protocol ShareWriter {
    /// Inserts or replaces the share with all its participants.
    func putShare(_ share: ShareRow) throws(ServerError)
    func deleteShare(_ zone: ZoneKey, _ name: RecordName) throws(ServerError)
    /// Inserts or replaces; takes away the tombstone.
    func putSharedZone(_ row: SharedZoneRow) throws(ServerError)
    /// Leaves a tombstone if `viewer` had the zone.
    func deleteSharedZone(
        _ viewer: UserName, _ zone: ZoneKey, reason: DeletionReason) throws(ServerError)
}
