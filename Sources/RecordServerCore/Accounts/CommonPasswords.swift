import RecordModel

/// The passwords that an attacker tries first.
enum CommonPasswords {
    private static let digests: Set<UInt64> = {
        let bytes = Base64.decode(Array(CommonPasswordTable.base64.utf8)) ?? []
        let size = CommonPasswordTable.digestBytes
        return Set(
            stride(from: 0, through: bytes.count - size, by: size).map { start in
                number(bytes[start..<start + size])
            })
    }()

    /// The number of passwords in the list.
    static var count: Int { digests.count }

    /// Returns whether the password is in the list, in upper or lower case, also with digits and
    /// signs after it, or is one character repeated.
    static func contains(_ password: String) -> Bool {
        let folded = password.lowercased()
        if Set(folded).count < 2 { return true }
        var word = Substring(folded)
        while let last = word.last, !last.isLetter { word.removeLast() }
        return isListed(folded[...]) || isListed(word)
    }

    private static func isListed(_ word: Substring) -> Bool {
        let digest = SHA256.digest(of: Array(word.utf8))
        return digests.contains(number(digest.prefix(CommonPasswordTable.digestBytes)))
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
