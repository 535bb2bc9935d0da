package import RecordModel
package import RecordWire

package protocol ShareReader {
    func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow?
    func shares(_ zone: ZoneKey) throws(ServerError) -> [ShareRow]
    /// Returns the share with this short GUID in any database of the container.
    func share(_ container: ContainerKey, shortGUID: Text) throws(ServerError) -> ShareRow?
    /// Returns the share in which a participant has this one-time link, in any database of the
    /// container.
    func share(_ container: ContainerKey, link: Text) throws(ServerError) -> ShareRow?
    /// Returns the shares in which the user, or an address of the account, is invited and nobody
    /// has accepted that invitation. The order is the newest of each owner first, then the second
    /// of each, so that no owner hides the invitations of others. Invitations of owners whom the
    /// user has blocked are left out.
    func invitations(
        of user: UserRow, _ container: ContainerKey, from offset: Int, limit: Int
    ) throws(ServerError) -> [ShareRow]
    /// Returns how many invitations of an owner to the same person are waiting.
    func invitationCount(by owner: UserName, to lookup: UserLookup) throws(ServerError) -> Int
    /// Returns whether a user does not want to see invitations of this owner.
    func blocksInvitations(_ user: UserName, of owner: UserName) throws(ServerError) -> Bool
    /// Returns the owners whose invitations a user does not want to see, the last blocked first.
    func blockedOwners(_ user: UserName) throws(ServerError) -> [UserName]
    /// Returns the reports, the newest first.
    func shareReports(limit: Int) throws(ServerError) -> [ShareReport]
    func sharedZone(_ viewer: UserName, _ zone: ZoneKey) throws(ServerError) -> SharedZoneRow?
    /// Returns the zones that others share with `viewer` in this container, in the order of owner
    /// and zone.
    func sharedZones(_ viewer: UserName, _ container: ContainerKey) throws(ServerError)
        -> [SharedZoneRow]
    /// Returns a row for everybody who has this zone in the shared database.
    func viewers(_ zone: ZoneKey) throws(ServerError) -> [SharedZoneRow]
    /// Returns shared zones that `viewer` had and does not have any more.
    func sharedZoneTombstones(_ viewer: UserName, _ container: ContainerKey) throws(ServerError)
        -> [ZoneTombstone]
}

package protocol ShareWriter {
    /// Inserts or replaces the share with all its participants.
    func putShare(_ share: ShareRow) throws(ServerError)
    func deleteShare(_ zone: ZoneKey, _ name: RecordName) throws(ServerError)
    /// Adds a report. Earlier reports by the same person about the same share stay.
    func putShareReport(_ report: ShareReport) throws(ServerError)
    func setBlocksInvitations(
        _ user: UserName, of owner: UserName, _ blocks: Bool, milliseconds: Int64
    ) throws(ServerError)
    /// Notes that a user has asked for access to something, which need not exist.
    func noteAccessRequest(_ user: UserName, milliseconds: Int64) throws(ServerError)
    /// Inserts or replaces the row and removes the tombstone.
    func putSharedZone(_ row: SharedZoneRow) throws(ServerError)
    /// Removes the row, and leaves a tombstone if `viewer` had the zone.
    func deleteSharedZone(
        _ viewer: UserName, _ zone: ZoneKey, reason: DeletionReason) throws(ServerError)
}
