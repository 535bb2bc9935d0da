import RecordModel
import RecordWire

/// The free room in the feed of a database.
///
/// Owners learn their quota and the room that is left. Everything that others write into a zone
/// counts for its owner, so participants with write access have to know whether there is room. But
/// the use of the owner's other zones, and the time when it changes, are private. Participants
/// therefore learn only the room that is left, in steps, and only participants who were invited:
/// with a link for everybody, anybody could watch.
extension DatabasePage {
    /// Returns the quota of a user. Returns nil where nothing limits the user.
    static func quota(
        of user: UserName, _ settings: ServiceSettings, _ reader: any StorageReader
    ) throws(ServerError) -> QuotaAnswer? {
        let total = try reader.quotaBytes(.user(user), settings)
        guard total < .max else { return nil }
        return QuotaAnswer(
            owner: user, totalBytes: total, freeBytes: total - (try reader.usedBytes(.user(user))))
    }

    /// Returns one answer for each owner.
    static func quotas(
        ofShared zones: [ZoneAccess], _ settings: ServiceSettings, _ reader: any StorageReader
    ) throws(ServerError) -> [QuotaAnswer] {
        var asked: Set<UserName> = []
        var quotas: [QuotaAnswer] = []
        for access in zones {
            guard case .participant(let row, let permissions) = access.view,
                permissions.values.contains(.readWrite)
            else { continue }
            let owner = row.zone.database.owner
            guard !asked.contains(owner), try isInvited(row, reader) else { continue }
            asked.insert(owner)
            guard let quota = try quota(of: owner, settings, reader) else { continue }
            quotas.append(
                QuotaAnswer(owner: owner, totalBytes: nil, freeBytes: step(quota.freeBytes)))
        }
        return quotas
    }

    /// Returns the greatest number up to `bytes` that has three binary digits and then zeros: at
    /// most a quarter less. It is exact when almost nothing is left, and when much is left it tells
    /// little of the owner's activity.
    static func step(_ bytes: Int64) -> Int64 {
        let zeros = max(Int64.bitWidth - bytes.leadingZeroBitCount - 3, 0)
        return (bytes >> zeros) << zeros
    }
}
