import CCrypto

/// scrypt (RFC 7914), by OpenSSL.
enum Scrypt {
    /// Returns the hash, `byteCount` bytes. Returns nil for parameters that the RFC does not allow,
    /// and when there is not enough memory: it takes `128 * r * (N + p)` bytes.
    static func hash(
        _ password: [UInt8], salt: [UInt8], cost: Password.Cost, byteCount: Int
    ) -> [UInt8]? {
        defer { ERR_clear_error() }
        // The memory that libcrypto counts, and a little more.
        let memory = 128 * cost.blockSize * (cost.rounds + cost.parallelism + 2) + 4096
        var hash = [UInt8](repeating: 0, count: byteCount)
        let isMade = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.bindMemory(to: CChar.self).baseAddress, password.count, salt, salt.count,
                UInt64(cost.rounds), UInt64(cost.blockSize), UInt64(cost.parallelism),
                UInt64(memory), &hash, byteCount)
        }
        return isMade == 1 ? hash : nil
    }
}
