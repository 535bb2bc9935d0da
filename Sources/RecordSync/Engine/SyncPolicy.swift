package import RecordModel

/// The part of an account that a store keeps, as its user has configured it.
package struct SyncPolicy: Hashable, Sendable {
    /// The part of a zone that is on this machine.
    package enum Extent: String, CaseIterable, Sendable {
        /// Its records and all their large fields.
        case full
        /// Its records. A large field is downloaded when it is read.
        case onDemand
        /// Nothing.
        case none
    }

    /// The databases to keep, of those that the account has.
    package var databases: Set<Database> = [.private, .shared, .public]
    /// The extents of zones that are named.
    package var zones: [ZoneName: Extent] = [:]
    /// The extent of all other zones. Nil leaves them unchanged.
    package var otherZones: Extent?
    /// The types of the public database to mirror. Nil for those that have a directory.
    package var publicTypes: [RecordTypeName]?
    /// The time between two looks at the public database.
    package var publicInterval = Duration.seconds(60)

    package init() {}

    /// Returns the extent of a zone, or nil when the policy says nothing about it.
    package func extent(of zone: ZoneName) -> Extent? { zones[zone] ?? otherZones }

    /// A text that is equal for policies that say the same about zones.
    var zonesText: String {
        let zones = zones.map { "\($0) \($1.rawValue)" }.sorted().joined(separator: "\n")
        return "* \(otherZones?.rawValue ?? "")\n\(zones)"
    }
}
