import RecordModel
import RecordStore

/// The open files of large fields, and the files that have lost their names.
///
/// INVARIANTS
/// - `files[id]` has its bytes in the row `id`.
/// - Each record in `waiting` has a file.
struct AssetTable: CheckedState {
    /// The open files by the row of their bytes. The name would not identify them, because lists
    /// change.
    private(set) var files: [AssetID: OpenAsset] = [:]
    /// Increases with each content that a writer gives to a row of `asset`.
    var writes: UInt64 = 0
    /// Assets of records that wait for their delete. Their names stay until the delete is final, so
    /// that `rm -r` can remove them after the record. Assets that it has removed are hidden.
    private(set) var waiting: [RecordID: [AssetEntry]] = [:]
    private(set) var hidden: Set<AssetID> = []
    /// Open files that lost their name to a removal or a replacement, by the number that the kernel
    /// has for them.
    private(set) var detached: [NodeNumber: OpenAsset] = [:]

    var size: Int { files.count + waiting.count }

    var violations: [String] {
        var found: [String] = []
        if files.contains(where: { $0.value.id != $0.key }) {
            found.append("an open file of a field is under another row")
        }
        if waiting.values.contains(where: \.isEmpty) {
            found.append("a record without files waits")
        }
        return found
    }

    func open(_ id: AssetID) -> OpenAsset? { files[id] }
    func open(of record: RecordID) -> [OpenAsset] {
        files.values.filter { $0.place.record == record }
    }

    mutating func add(_ open: OpenAsset, at id: AssetID) { files[id] = open }

    /// Forgets an open file. Does nothing when its row has another one now.
    mutating func forget(_ open: OpenAsset) {
        if files[open.id] === open { files[open.id] = nil }
    }

    mutating func take(_ id: AssetID) -> OpenAsset? { files.removeValue(forKey: id) }

    /// Notes that the bytes of the open file belong to another row now.
    mutating func move(_ open: OpenAsset, to row: AssetEntry) {
        let old = open.id
        guard old != row.id, files[row.id] == nil else { return }
        if files[old] === open { files[old] = nil }
        open.setRow(row)
        files[row.id] = open
    }

    // MARK: Files without names

    func detached(_ number: NodeNumber) -> OpenAsset? { detached[number] }

    mutating func detach(_ open: OpenAsset, _ number: NodeNumber) { detached[number] = open }

    /// Notes that the number belongs to another file now.
    mutating func attach(_ number: NodeNumber) { detached[number] = nil }

    mutating func forgetDetached(_ open: OpenAsset) {
        guard !detached.isEmpty else { return }
        detached = detached.filter { $0.value !== open }
    }

    // MARK: Files of records that wait for their delete

    mutating func hide(_ id: AssetID) { hidden.insert(id) }

    /// Keeps the files of a record that begins to wait. Does nothing for a record without files.
    mutating func keepWaiting(_ record: RecordID, _ assets: [AssetEntry]) {
        if !assets.isEmpty { waiting[record] = assets }
    }

    mutating func endWait(of record: RecordID) -> [AssetEntry] {
        guard let assets = waiting.removeValue(forKey: record) else { return [] }
        for asset in assets { hidden.remove(asset.id) }
        return assets
    }
}
