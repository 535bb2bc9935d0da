import RecordModel
import RecordServerCore
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

    @Test("a token of a body is standard base64, one of a URL is URL-safe, and both open in both")
    func alphabets() {
        let seal = Seal(key: [UInt8](repeating: 7, count: 32))
        for purpose in Seal.Purpose.allCases {
            let isForBodies = [.zoneToken, .databaseToken, .continuation, .receipt].contains(
                purpose)
            // Every payload gives another MAC, so that all digits occur.
            for payload in (0..<64).map({
                [UInt8](repeating: 0xFB, count: 1 + $0 % 3) + [UInt8($0)]
            }) {
                let token = seal.seal(payload, for: purpose).utf8
                #expect((Base64.decode(token) != nil) == isForBodies || token.count % 4 == 0)
                let special = Set(token).intersection(Set((isForBodies ? "-_" : "+/=").utf8))
                #expect(special.isEmpty, "\(purpose)")
                for other in Self.spellings(token) {
                    #expect(seal.open(Text(utf8: other), for: purpose) == payload)
                }
            }
        }
    }

    /// The token in both alphabets, with and without padding.
    private static func spellings(_ token: [UInt8]) -> [[UInt8]] {
        let bare = token.filter { $0 != UInt8(ascii: "=") }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - bare.count % 4) % 4)
        let standard = Array(
            String(decoding: bare, as: UTF8.self)
                .replacing("-", with: "+").replacing("_", with: "/").utf8)
        let safe = Array(
            String(decoding: bare, as: UTF8.self)
                .replacing("+", with: "-").replacing("/", with: "_").utf8)
        return [standard, standard + padding, safe, safe + padding]
    }

    @Test("in another incarnation of the server tokens of sessions open, and no others")
    func incarnations() {
        let key = [UInt8](repeating: 7, count: 32)
        let (before, after) = (Seal(key: key, incarnation: [1]), Seal(key: key, incarnation: [2]))
        let kept = Seal.Purpose.allCases.filter { purpose in
            let token = before.seal([1], for: purpose)
            #expect(before.open(token, for: purpose) == [1])
            return after.open(token, for: purpose) != nil
        }
        #expect(kept == [.webAuthToken, .browser, .device])
    }
}
