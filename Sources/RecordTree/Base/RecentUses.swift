/// Keys in the order of their last use, for a memory that forgets the oldest. It is meant for few
/// keys: a use takes time in proportion to their number.
struct RecentUses<Key: Equatable & Sendable>: Sendable {
    /// The keys, the last used one at the end.
    private(set) var keys: [Key] = []

    /// Notes the first use of a key that the caller knows to be new.
    mutating func add(_ key: Key) { keys.append(key) }

    mutating func use(_ key: Key) {
        guard keys.last != key else { return }
        remove(key)
        keys.append(key)
    }

    mutating func remove(_ key: Key) { keys.removeAll { $0 == key } }

    /// Returns the key to forget when there are more than `limit`.
    func oldest(over limit: Int) -> Key? { keys.count > limit ? keys.first : nil }
}
