package import RecordModel

/// Secrets that are shown once and stored as their SHA-256. They are random, so that the hash
/// needs no salt and no cost.
package enum Secret {
    /// Returns 256 bits in 64 hexadecimal digits.
    package static func make() -> Text { Text(Hexadecimal.encode(SecureRandom.bytes(32))) }

    /// Returns the SHA-256 in hexadecimal digits.
    package static func hash(_ secret: Text) -> Text {
        Text(Hexadecimal.encode(SHA256.digest(of: secret.utf8)))
    }

    /// Returns whether the text can be a secret at all.
    static func isWellFormed(_ secret: Text) -> Bool {
        Hexadecimal.isHexadecimal(secret, digits: 64)
    }
}
