import CLinux

extension SHA256 {
    /// The chaining value and the compression function.
    ///
    /// INVARIANT: it holds only the eight words, in their order. The CPU's instructions read them
    /// in the order in which they lie in memory.
    struct State {
        private var h0: UInt32 = 0x6a09_e667
        private var h1: UInt32 = 0xbb67_ae85
        private var h2: UInt32 = 0x3c6e_f372
        private var h3: UInt32 = 0xa54f_f53a
        private var h4: UInt32 = 0x510e_527f
        private var h5: UInt32 = 0x9b05_688c
        private var h6: UInt32 = 0x1f83_d9ab
        private var h7: UInt32 = 0x5be0_cd19

        var words: [UInt32] { [h0, h1, h2, h3, h4, h5, h6, h7] }

        /// Processes whole blocks of 64 bytes.
        mutating func compress(_ blocks: UnsafeRawBufferPointer, isPortable: Bool) {
            guard !isPortable, SHA256.hasInstructions,
                let data = blocks.assumingMemoryBound(to: UInt8.self).baseAddress
            else { return compress(blocks) }
            withUnsafeMutableBytes(of: &self) { state in
                guard let state = state.assumingMemoryBound(to: UInt32.self).baseAddress else {
                    return
                }
                linux_sha256_compress(state, data, blocks.count / 64, SHA256.roundConstants)
            }
        }

        /// Processes blocks in plain Swift. It uses pointers, because the bounds checks of arrays
        /// halve the speed. The pointers do not leave this function.
        private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
            SHA256.roundConstants.withUnsafeBufferPointer { constants in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                    for start in stride(from: 0, to: blocks.count, by: 64) {
                        expand(blocks, start, schedule)
                        rounds(constants, schedule)
                    }
                }
            }
        }

        @inline(__always)
        private func expand(
            _ blocks: UnsafeRawBufferPointer, _ start: Int,
            _ w: UnsafeMutableBufferPointer<UInt32>
        ) {
            for index in 0..<16 {
                w[index] = UInt32(
                    bigEndian: blocks.loadUnaligned(
                        fromByteOffset: start &+ index &* 4, as: UInt32.self))
            }
            for index in 16..<64 {
                let a = w[index &- 15]
                let b = w[index &- 2]
                let s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)
                let s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10)
                w[index] = w[index &- 16] &+ s0 &+ w[index &- 7] &+ s1
            }
        }

        @inline(__always)
        private mutating func rounds(
            _ k: UnsafeBufferPointer<UInt32>, _ w: UnsafeMutableBufferPointer<UInt32>
        ) {
            var (a, b, c, d) = (h0, h1, h2, h3)
            var (e, f, g, h) = (h4, h5, h6, h7)
            var index = 0
            while index < 64 {
                round(a, b, c, &d, e, f, g, &h, k[index] &+ w[index])
                round(h, a, b, &c, d, e, f, &g, k[index &+ 1] &+ w[index &+ 1])
                round(g, h, a, &b, c, d, e, &f, k[index &+ 2] &+ w[index &+ 2])
                round(f, g, h, &a, b, c, d, &e, k[index &+ 3] &+ w[index &+ 3])
                round(e, f, g, &h, a, b, c, &d, k[index &+ 4] &+ w[index &+ 4])
                round(d, e, f, &g, h, a, b, &c, k[index &+ 5] &+ w[index &+ 5])
                round(c, d, e, &f, g, h, a, &b, k[index &+ 6] &+ w[index &+ 6])
                round(b, c, d, &e, f, g, h, &a, k[index &+ 7] &+ w[index &+ 7])
                index &+= 8
            }
            (h0, h1, h2, h3) = (h0 &+ a, h1 &+ b, h2 &+ c, h3 &+ d)
            (h4, h5, h6, h7) = (h4 &+ e, h5 &+ f, h6 &+ g, h7 &+ h)
        }

        @inline(__always)
        private func round(
            _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
            _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
        ) {
            let s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
            let choice = g ^ (e & (f ^ g))
            let t1 = h &+ s1 &+ choice &+ input
            let s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
            let majority = (a & b) | (c & (a | b))
            d = d &+ t1
            h = t1 &+ s0 &+ majority
        }

        @inline(__always)
        private func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
            value >> count | value << (32 &- count)
        }
    }

    /// Indicates whether this CPU has instructions for SHA-256.
    private static let hasInstructions = linux_sha256_is_here() != 0

    private static let roundConstants: [UInt32] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
    ]
}
