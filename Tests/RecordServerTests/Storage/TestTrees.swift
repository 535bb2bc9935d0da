import RecordModel
import RecordServerCore
import RecordWire

extension TreeNumber {
    /// The tree that tests give to the members of a share, where they write rows themselves.
    init(of share: RecordName) {
        let hash = share.bytes.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        self.init(Int64(hash >> 1))
    }
}

extension StorageTransaction {
    /// The tree of that number.
    func putTestTree(
        _ zone: ZoneHandle, _ share: RecordName?, top: RecordName = RecordName("root")
    ) throws(ServerError) {
        guard let share else { return }
        try putTree(
            zone, TreeRow(number: TreeNumber(of: share), top: top, outer: nil, share: share))
    }
}
