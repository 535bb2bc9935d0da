package import RecordModel

/// A zone as the engine sees it. It may also be a zone that was removed here, as long as that
/// removal or its last records have to be sent to the server.
///
/// The token of the zone's feed shows whether the server has the zone, as far as it is known here:
/// there is a token from the first page on until the zone is removed on the server.
package struct SyncedZone: Hashable, Sendable {
    package let id: ZoneID
    package let database: Database
    /// The owner, as the server names them. Empty for your own zones.
    package let owner: OwnerName
    package let name: ZoneName
    /// The owner, as paths name them.
    package let shownOwner: OwnerName
    /// Indicates whether the zone was removed on this machine.
    package let isRemoved: Bool

    package init(
        id: ZoneID, database: Database, owner: OwnerName, name: ZoneName, shownOwner: OwnerName,
        isRemoved: Bool
    ) {
        (self.id, self.database, self.owner) = (id, database, owner)
        (self.name, self.shownOwner, self.isRemoved) = (name, shownOwner, isRemoved)
    }
}
