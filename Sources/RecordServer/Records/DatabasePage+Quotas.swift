import RecordModel
import RecordWire

/// How much room there is, as the feed of a database tells it.
///
/// Owners are told what they may have and what is left. What others write into a zone counts for its
/// owner, so that those who may write there have to know whether there is room; but how much an owner
/// has elsewhere, and when that changes, is nobody else's business. So participants are told what is left
/// and nothing more, in steps, and only those who were invited: by a link for everybody, anybody could
/// watch.
extension DatabasePage {
    /// Nil where nothing limits the user.
    static func quota(
        of user: UserName, _ settings: ServiceSettings, _ reader: any StorageReader
    ) throws(ServerError) -> QuotaAnswer? {
        let total = try reader.quotaBytes(.user(user), settings)
        guard total < .max else { return nil }
        return QuotaAnswer(
            owner: user, totalBytes: total, freeBytes: total - (try reader.usedBytes(.user(user))))
    }

    /// One for each owner.
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

    /// The greatest number up to `bytes` that has three binary digits and zeros: at most a quarter less. It
    /// is exact where there is next to nothing left, and tells little of what the owner does where there
    /// is much.
    static func step(_ bytes: Int64) -> Int64 {
        let zeros = max(Int64.bitWidth - bytes.leadingZeroBitCount - 3, 0)
        return (bytes >> zeros) << zeros
    }
}
