import CLinux
import Glibc
import RecordModel
import RecordStore

/// The end of the grace time of removed records.
final class FinalDeletes: Sendable {
    let followingFiles: FollowingFiles
    let records: OpenRecords
    let store: RecordStore

    init(_ ground: Ground, _ recordRooms: RecordRooms, followingFiles: FollowingFiles) {
        self.followingFiles = followingFiles
        records = recordRooms.records
        store = ground.store
    }

    /// Makes waiting deletes of at least this age final, except for names that exist again and wait
    /// for their first save. Returns the time when the next delete is due.
    @discardableResult
    func finish(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        guard store.isWritable else { return nil }
        let nextFollow = try followingFiles.followDue(olderThan: age)
        let next = try store.upkeep.finalizeWaitingDeletes(
            olderThan: age, except: records.pendingRecords, author: .mount)
        return [next, nextFollow].compactMap(\.self).min()
    }
}
