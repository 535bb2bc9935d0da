import TestSupport
import Testing

@testable import RecordTree

/// The memory of last uses beside a plain list of keys in the order of their last use.
@Suite struct RecentUsesTests {
    @Test("it forgets the key whose last use is the oldest", arguments: UInt64(1)...4)
    func random(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var uses = RecentUses<Int>()
        var expected: [Int] = []
        // Few keys and many, so that used keys come first, last and in between.
        let keys = [3, 40, 400][Int(seed) % 3]
        for _ in 0..<20_000 {
            let key = random.below(keys)
            if random.below(5) == 0 {
                uses.remove(key)
                expected.removeAll { $0 == key }
            } else {
                uses.use(key)
                expected.removeAll { $0 == key }
                expected.append(key)
            }
            #expect(uses.oldest(over: 20) == (expected.count > 20 ? expected[0] : nil))
            if random.below(2) == 0, let oldest = uses.oldest(over: 20) {
                uses.remove(oldest)
                expected.removeFirst()
            }
        }
        #expect(Set(uses.keys) == Set(expected))
        for _ in expected {
            #expect(uses.oldest(over: 0) == expected[0])
            uses.remove(expected.removeFirst())
        }
        #expect(uses.oldest(over: 0) == nil)
    }
}
