package import RecordModel

/// The names and secrets of one request, drawn before its transaction.
///
/// A storage may run the body of a transaction twice. Everything here follows from one random
/// seed, so that a copy made inside the body gives the same names in both runs.
package struct RandomIDs: Sendable {
    private let seed: [UInt8]
    private var count: UInt64 = 0

    package init() { seed = SecureRandom.bytes(32) }

    /// Returns 128 bits as 32 lower-case hexadecimal digits.
    package mutating func hex128() -> Text {
        Text(
            next(16).map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined())
    }

    /// Returns 128 bits in URL-safe base64: 22 characters.
    package mutating func shortGUID() -> Text { Text(URLSafeBase64.encode(next(16))) }

    /// Returns the incarnation of a zone or of a view. It is never 0, which stands for none.
    package mutating func incarnation() -> UInt64 {
        let value = next(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return max(value, 1)
    }

    /// Returns the number of a tree of records.
    package mutating func treeNumber() -> TreeNumber {
        TreeNumber(Int64(incarnation() >> 1))
    }

    /// Returns a name for a record that its request does not name: a UUID in upper case (version 4,
    /// RFC 9562).
    package mutating func recordName() -> RecordName {
        RecordName(bytes: UUIDText.version4(of: next(16), uppercase: true))
    }

    private mutating func next(_ length: Int) -> [UInt8] {
        count += 1
        let message = withUnsafeBytes(of: count.littleEndian) { Array($0) }
        return Array(HMAC.code(of: message, key: seed).prefix(length))
    }
}
