import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The place of a reader in a directory, and the parts that were fixed when the listing began.
///
/// Offsets stay valid while entries are added and removed. For rows the cursor is the row's id,
/// which never changes. Scratch names and first saves are a snapshot from the beginning of the
/// listing.
final class DirectoryCursor: Sendable {
    struct Snapshot {
        var pending: [(stem: Stem, file: RecordFile)] = []
        var names: [[UInt8]] = []
        var controls: [ControlName] = []
        var past = PastCursor()
        /// Rows read ahead, so that one query serves many calls of the kernel, and the row before
        /// them.
        var records: ArraySlice<RecordEntry> = []
        var recordsFollow = RecordID(0)
        /// The store's count of commits before these rows were read.
        var commits: Int?
    }
    /// The directory. Nil for one that was removed: it has no entries.
    let node: Node?
    let snapshot = Mutex(Snapshot())
    init(_ node: Node?) { self.node = node }
}
