/// A 64-bit checksum that tells whether a stored text is unchanged since it was stored.
///
/// Do not use it for secrets: it detects changes by a disk, a memory module or a stray write, not
/// changes by an attacker. Each step is a bijection of the state for a given word and of the word
/// for a given state, so that a change within any one aligned word of eight bytes always changes
/// the result. One in 2^64 of the other changes goes undetected.
package enum TextChecksum {
    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    package static func of(_ bytes: [UInt8]) -> Int64 {
        bytes.withUnsafeBytes { buffer in
            var state = mixed(UInt64(buffer.count), 0)
            let whole = buffer.count & ~7
            var offset = 0
            while offset < whole {
                let word = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                state = mixed(state, UInt64(littleEndian: word))
                offset += 8
            }
            var rest: UInt64 = 0
            for (index, byte) in buffer[whole...].enumerated() {
                rest |= UInt64(byte) << UInt64(index * 8)
            }
            return Int64(bitPattern: mixed(mixed(state, rest), 0))
        }
    }

    @inline(__always)
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* factor
        return (product ^ (product >> 29)) &+ 1
    }
}
