import RecordModel

/// HMAC-SHA256 (RFC 2104).
enum HMAC {
    private static let blockBytes = 64

    /// Returns 32 bytes that only a holder of the key can make.
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var block = key.count > blockBytes ? SHA256.digest(of: key) : key
        block += Array(repeating: 0, count: blockBytes - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
