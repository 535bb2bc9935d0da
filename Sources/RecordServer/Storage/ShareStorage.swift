package import RecordModel
package import RecordWire

package protocol ShareReader {
    func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow?
    func shares(_ zone: ZoneKey) throws(ServerError) -> [ShareRow]
    /// The share with this short GUID in any database of the container.
    func share(_ container: ContainerKey, shortGUID: Text) throws(ServerError) -> ShareRow?
    /// The share of which a participant has this one-time link, in any database of the container.
    func share(_ container: ContainerKey, link: Text) throws(ServerError) -> ShareRow?
    /// The shares in which the user, or an address of the account, is invited and nobody has accepted
    /// that: the newest of each owner first, then the second of each, so that nobody buries those of
    /// others. Without those of owners whom the user has blocked.
    func invitations(
        of user: UserRow, _ container: ContainerKey, from offset: Int, limit: Int
    ) throws(ServerError) -> [ShareRow]
    /// How many invitations of an owner wait that say the same of the person.
    func invitationCount(by owner: UserName, to lookup: UserLookup) throws(ServerError) -> Int
    /// Whether a user wants to know of no invitation of this owner.
    func blocksInvitations(_ user: UserName, of owner: UserName) throws(ServerError) -> Bool
    /// Those whose invitations a user wants to know nothing of, the last blocked first.
    func blockedOwners(_ user: UserName) throws(ServerError) -> [UserName]
    /// The newest first.
    func shareReports(limit: Int) throws(ServerError) -> [ShareReport]
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
    /// Beside earlier ones of the same reporter and share.
    func putShareReport(_ report: ShareReport) throws(ServerError)
    func setBlocksInvitations(
        _ user: UserName, of owner: UserName, _ blocks: Bool, milliseconds: Int64
    ) throws(ServerError)
    /// Keeps that somebody has asked for access to something, which need not be there.
    func noteAccessRequest(_ user: UserName, milliseconds: Int64) throws(ServerError)
    /// Inserts or replaces; takes away the tombstone.
    func putSharedZone(_ row: SharedZoneRow) throws(ServerError)
    /// Leaves a tombstone if `viewer` had the zone.
    func deleteSharedZone(
        _ viewer: UserName, _ zone: ZoneKey, reason: DeletionReason) throws(ServerError)
}
