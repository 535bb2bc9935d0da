package import RecordModel

/// How long a store keeps what is not there any more.
package struct Retention: Hashable, Sendable {
    /// How long each version of a record stays.
    package var versionAge = Duration.seconds(90 * 24 * 3600)
    /// How many of a record that is there stay, however old.
    package var versions = 10
    /// How long a deleted record can be restored.
    package var trashAge = Duration.seconds(30 * 24 * 3600)

    package init() {}
}

/// What a collection has removed, or would remove.
package struct CollectedGarbage: Hashable, Sendable {
    package var deletedRecords = 0
    package var versions = 0
    package var assetFiles = 0
    /// The size of the store on the disk before and after.
    package var bytesBefore: Int64 = 0
    package var bytesAfter: Int64 = 0
}

/// How far the walk through history has come that removes old versions.
struct RetentionWalk: Sendable {
    /// How long after its end the next one begins.
    static let rest = Duration.seconds(24 * 3600)

    var token: Int64 = 0
    /// By the uptime; nil while a walk is under way.
    var next: Duration?
}
