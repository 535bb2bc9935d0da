import RecordModel

/// The times for which a store keeps data that is no longer current.
package struct Retention: Hashable, Sendable {
    /// The time for which each version of a record stays.
    package var versionAge = Duration.seconds(90 * 24 * 3600)
    /// The number of versions of an existing record that stay, however old.
    package var versions = 10
    /// The time for which a deleted record can be restored.
    package var trashAge = Duration.seconds(30 * 24 * 3600)

    /// The time for which a reader of the history keeps what it has not read, since its last use.
    package var readerAge = Duration.seconds(90 * 24 * 3600)
    /// The time for which a version stays that was not sent to the server.
    package var unsentAge = Duration.seconds(180 * 24 * 3600)

    package init() {}
}

/// The data that a collection has removed, or would remove.
package struct CollectedGarbage: Hashable, Sendable {
    package var deletedRecords = 0
    package var versions = 0
    package var assetFiles = 0
    /// The readers of the history, with the old versions that each of them keeps.
    package var readers: [HeldVersions] = []
    /// The size of the store on the disk before and after.
    package var bytesBefore: Int64 = 0
    package var bytesAfter: Int64 = 0
}

/// The progress of the walk through history that removes old versions.
struct RetentionWalk: Sendable {
    /// The time between the end of a walk and the beginning of the next.
    static let rest = Duration.seconds(24 * 3600)

    var token: Int64 = 0
    /// The uptime at which the next walk begins. Nil while a walk is running.
    var next: Duration?
}
