import RecordModel

/// Removed entries of the trash that are reported to the store together. Otherwise `rm -r` of many
/// entries would need a transaction for each. A removal without a flush promises nothing more.
struct TrashRemovals: Sendable {
    static let limit = 200

    private(set) var ids: Set<Int64> = []

    /// Adds an entry. Returns true when there are as many entries as one transaction takes.
    mutating func add(_ id: Int64) -> Bool {
        ids.insert(id)
        return ids.count >= Self.limit
    }

    mutating func remove(_ done: Set<Int64>) { ids.subtract(done) }
}
