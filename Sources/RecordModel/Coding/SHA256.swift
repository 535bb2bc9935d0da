/// SHA-256 (FIPS 180-4). It uses the CPU's instructions for it when the CPU has them.
package struct SHA256: Sendable {
    package static let digestBytes = 32

    private let isPortable: Bool
    private var state: State = State()
    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    /// Creates an empty hash.
    ///
    /// - Parameter isPortable: true to compute without the CPU's instructions.
    package init(isPortable: Bool = false) {
        self.isPortable = isPortable
        pending.reserveCapacity(64)
    }

    /// Adds bytes; any number of calls, of any size.
    package mutating func update(_ data: UnsafeRawBufferPointer) {
        byteCount &+= UInt64(data.count)
        var rest = data[...]
        if !pending.isEmpty {
            let taken = rest.prefix(64 - pending.count)
            pending += taken
            rest = rest.dropFirst(taken.count)
            guard pending.count == 64 else { return }
            pending.withUnsafeBytes { state.compress($0, isPortable: isPortable) }
            pending.removeAll(keepingCapacity: true)
        }
        let whole = rest.count & ~63
        if whole > 0 {
            state.compress(
                UnsafeRawBufferPointer(rebasing: rest.prefix(whole)), isPortable: isPortable)
        }
        pending += rest.dropFirst(whole)
    }

    package mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Returns the 32 bytes of the digest. Call it once, as the last call.
    package mutating func finalize() -> [UInt8] {
        let bitCount = byteCount &* 8
        var tail: [UInt8] = [0x80]
        while (pending.count + tail.count) % 64 != 56 { tail.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            tail.append(UInt8(truncatingIfNeeded: bitCount >> UInt64(shift)))
        }
        update(tail)
        return state.words.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    /// Returns the 32 bytes of the digest.
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    package static func hash(_ bytes: [UInt8]) -> ContentHash {
        ContentHash(digest: digest(of: bytes))
    }
}

extension ContentHash {
    /// Creates the hash from the 32 bytes that `SHA256.finalize` returns.
    package init(digest: [UInt8]) {
        var hex: [UInt8] = []
        for byte in digest {
            hex.append(HexadecimalDigit.lowercase[Int(byte >> 4)])
            hex.append(HexadecimalDigit.lowercase[Int(byte & 15)])
        }
        self.init(hex: String(decoding: hex, as: UTF8.self))
    }
}
