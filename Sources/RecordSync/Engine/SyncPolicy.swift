package import RecordModel

/// What a store keeps of its account, as its user has written it down.
package struct SyncPolicy: Hashable, Sendable {
    /// How much of a zone is here.
    package enum Extent: String, CaseIterable, Sendable {
        /// Its records and all their large fields.
        case full
        /// Its records; a large field when it is read.
        case onDemand
        /// Nothing.
        case none
    }

    /// Of those that the account has.
    package var databases: Set<Database> = [.private, .shared, .public]
    /// Of zones that are named.
    package var zones: [ZoneName: Extent] = [:]
    /// Of all others; nil leaves them as they are.
    package var otherZones: Extent?
    /// Types of the public database; nil for those that have a directory.
    package var publicTypes: [RecordTypeName]?
    /// Between two looks at the public database.
    package var publicInterval = Duration.seconds(60)

    package init() {}

    /// Nil where nothing is said.
    package func extent(of zone: ZoneName) -> Extent? { zones[zone] ?? otherZones }

    /// The same text for what says the same of zones.
    var zonesText: String {
        let zones = zones.map { "\($0) \($1.rawValue)" }.sorted().joined(separator: "\n")
        return "* \(otherZones?.rawValue ?? "")\n\(zones)"
    }
}
