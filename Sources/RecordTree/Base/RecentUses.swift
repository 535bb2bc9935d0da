/// Keys in the order of their last use, for a memory that forgets the oldest. Each operation takes
/// the same time for any number of keys.
///
/// INVARIANT: each key of `numbers` is in `uses` from `first` on, with its number.
struct RecentUses<Key: Hashable & Sendable>: Sendable {
    /// The number of each key's last use.
    private var numbers: [Key: UInt64] = [:]
    /// The uses in their order. Those before `first`, and those with another number than their
    /// key's, no longer count.
    private var uses: [(key: Key, number: UInt64)] = []
    private var first = 0
    private var lastNumber: UInt64 = 0

    var keys: Dictionary<Key, UInt64>.Keys { numbers.keys }

    /// The number of uses that no longer count, at which they are dropped.
    private static var spareUses: Int { 64 }

    mutating func use(_ key: Key) {
        if let last = uses.last, last.key == key, numbers[key] == last.number { return }
        lastNumber += 1
        numbers[key] = lastNumber
        uses.append((key, lastNumber))
        guard uses.count - numbers.count > numbers.count + Self.spareUses else { return }
        uses = uses[first...].filter { numbers[$0.key] == $0.number }
        first = 0
    }

    mutating func remove(_ key: Key) { numbers[key] = nil }

    /// Returns the key to forget when there are more than `limit`.
    mutating func oldest(over limit: Int) -> Key? {
        guard numbers.count > limit else { return nil }
        while first < uses.count {
            let use = uses[first]
            if numbers[use.key] == use.number { return use.key }
            first += 1
        }
        return nil
    }
}
