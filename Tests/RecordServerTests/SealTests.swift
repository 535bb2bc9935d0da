import RecordModel
import RecordServer
import Testing

@Suite("Seal") struct SealTests {
    @Test("a token opens only for its purpose, and with no bit flipped")
    func opens() {
        let seal = Seal(key: [UInt8](repeating: 7, count: 32))
        let token = seal.seal([1, 2, 3], for: .receipt)
        #expect(seal.open(token, for: .receipt) == [1, 2, 3])
        #expect(seal.open(token, for: .zoneToken) == nil)
        for index in token.utf8.indices {
            for bit in 0..<8 {
                var flipped = token.utf8
                flipped[index] ^= 1 << bit
                #expect(seal.open(Text(utf8: flipped), for: .receipt) == nil)
            }
        }
    }
}
