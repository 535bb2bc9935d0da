package import RecordModel

/// A zone as the engine sees it: also one that was removed here, as long as the server has to be
/// told of that or of its last records.
///
/// Whether the server has the zone, as far as known here, its feed's token tells: there is one from
/// the first page on until the zone is gone there.
package struct SyncedZone: Hashable, Sendable {
    package let id: ZoneID
    package let database: Database
    /// As the server names him; empty for one's own zones.
    package let owner: OwnerName
    package let name: ZoneName
    /// As paths name him.
    package let shownOwner: OwnerName
    /// Removed here.
    package let isRemoved: Bool
}
