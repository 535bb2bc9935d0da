import RecordModel
import RecordStore

/// Rows of records that a listing or a lookup has just read. A program that lists usually opens
/// next, and that open then needs no query.
///
/// A row is kept only until a commit: `forget` is called for each commit, before its caller
/// returns. A row that was read before a commit and is added after it is refused because of its
/// `epoch`.
///
/// INVARIANT: `entries[id]` is the row `id`.
struct EntryCache: CheckedState {
    /// The limit of kept rows: more names than a shell's `*` gives to one command; about 2 MB.
    private static let countMax = 16_384

    private(set) var entries: [RecordID: RecordEntry] = [:]
    /// The last name that was not found, and the number of commits at that time: the kernel looks a
    /// name up before it makes it.
    private(set) var absent: (type: TypeID, stem: Stem, commits: Int)?
    private(set) var epoch: UInt64 = 0

    var size: Int { entries.count }

    var violations: [String] {
        entries.contains { $0.key != $0.value.id } ? ["a row is under another id"] : []
    }

    func entry(_ id: RecordID) -> RecordEntry? { entries[id] }

    /// - Parameter epoch: the epoch before the rows were read.
    mutating func keep(_ rows: some Sequence<RecordEntry>, readAt epoch: UInt64) {
        guard epoch == self.epoch else { return }
        if entries.count >= Self.countMax { entries.removeAll(keepingCapacity: true) }
        for row in rows { entries[row.id] = row }
    }

    /// Returns true when the store had no row with the name at the last lookup.
    /// - Parameter commits: the store's current count.
    func isAbsent(_ type: TypeID, _ stem: Stem, at commits: Int?) -> Bool {
        absent.map { $0.type == type && $0.stem == stem && $0.commits == commits } ?? false
    }

    /// - Parameter commits: the store's count before the lookup.
    mutating func keepAbsence(of stem: Stem, in type: TypeID, readAt commits: Int?) {
        absent = commits.map { (type, stem, $0) }
    }

    mutating func forget(_ id: RecordID) {
        epoch &+= 1
        entries[id] = nil
    }

    mutating func forget(_ changes: [StoreChange]) {
        epoch &+= 1
        guard !entries.isEmpty else { return }
        for change in changes {
            if let record = change.record { entries[record] = nil } else { entries = [:] }
        }
    }
}
