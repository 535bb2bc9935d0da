package import RecordModel
package import RecordWire

/// Passwords, stored as `scrypt$N$r$p$salt$hash` (RFC 7914), with salt and hash in base64.
package enum Password {
    /// The cost of a hash. It is stored with each hash, so that it can be raised for new ones.
    package struct Cost: Hashable, Sendable {
        /// The N of scrypt, a power of two.
        package let rounds: Int
        /// The r of scrypt. One hash takes 128 * r * N bytes of memory.
        package let blockSize: Int
        /// The p of scrypt.
        package let parallelism: Int

        package init(rounds: Int, blockSize: Int, parallelism: Int) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// The standard cost: 16 MiB, about a third of a second. It is as strong as N = 2^17 with p
        /// = 1, in an eighth of the memory (OWASP Password Storage Cheat Sheet, scrypt:
        /// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html).
        package static let standard = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 5)

        /// Indicates whether a stored hash may ask for this much work.
        var isAllowed: Bool {
            rounds.nonzeroBitCount == 1 && (2...1 << 18).contains(rounds)
                && (1...16).contains(blockSize) && (1...16).contains(parallelism)
        }
    }

    /// The fewest characters, as people count them: a letter with its accents is one, whatever its
    /// encoding.
    package static let minimumCharacters = 8
    /// The number of characters that the pages recommend.
    package static let recommendedCharacters = 15
    /// The most bytes. They have room for at least 64 characters of any script.
    package static let maximumBytes = 1024

    /// Returns the fault of a new password, or nil when it is allowed. The password is not changed,
    /// neither here nor for comparison. Any text is allowed, without rules about kinds of
    /// characters.
    ///
    /// - Parameter user: the future owner of the password, because their own address is the first
    ///   guess.
    package static func fault(of password: [UInt8], for user: UserRow? = nil) -> String? {
        guard let text = String(validating: password, as: UTF8.self) else {
            return "A password is text in UTF-8."
        }
        if text.count < minimumCharacters {
            return "A password has at least \(minimumCharacters) characters; "
                + "\(recommendedCharacters) or more are better."
        }
        if password.count > maximumBytes {
            return "A password has at most \(maximumBytes) bytes."
        }
        if password.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return "A password has no control characters."
        }
        let isOwnAddress = user.map { isAddress($0, text) } ?? false
        return CommonPasswords.contains(text) || isOwnAddress
            ? "This password is easy to guess. Use several words." : nil
    }

    private static func isAddress(_ user: UserRow, _ text: String) -> Bool {
        let address = user.emailAddress.string
        return [address, String(address.prefix { $0 != "@" })].contains(text.lowercased())
    }

    /// Returns a hash with a new salt. Errors: `badRequest` for a password that is not allowed.
    package static func hash(
        _ password: [UInt8], for user: UserRow? = nil, cost: Cost = .standard
    ) async throws(ServerError) -> Text {
        if let fault = fault(of: password, for: user) { throw ServerError(.badRequest, fault) }
        return try await hashUnchecked(password, cost: cost)
    }

    /// Returns a hash of a password that a user already has, by whatever rules.
    static func hashUnchecked(_ password: [UInt8], cost: Cost) async throws(ServerError) -> Text {
        let salt = SecureRandom.bytes(16)
        let hash = try await ScryptQueue.shared.derive(
            password, salt: salt, cost: cost, rank: .owner)
        return StoredPassword(cost: cost, salt: salt, hash: hash).text
    }

    /// Returns whether this is the password. Without a stored hash it takes as long as a hash of
    /// `unknownCost` and returns false, so that the time does not reveal which accounts exist.
    package static func verify(
        _ password: [UInt8], against stored: Text?, unknownCost: Cost = .standard,
        rank: ScryptRank = .stranger(failures: 0), queue: ScryptQueue = .shared
    ) async throws(ServerError) -> Bool {
        let known = stored.flatMap { StoredPassword($0) }
        let reference = known ?? .nobody(cost: unknownCost)
        // No user has an empty or endless password, but checking one costs the same.
        let isPossible = (1...maximumBytes).contains(password.count)
        let hash = try await queue.derive(
            isPossible ? password : [0], salt: reference.salt, cost: reference.cost, rank: rank)
        return ConstantTime.equal(hash, reference.hash) && known != nil && isPossible
    }
}

/// The parts of a stored hash.
package struct StoredPassword: Hashable, Sendable {
    static let hashBytes = 32

    static func nobody(cost: Password.Cost) -> StoredPassword {
        StoredPassword(
            cost: cost, salt: Array(repeating: 0, count: 16),
            hash: Array(repeating: 0, count: hashBytes))
    }

    let cost: Password.Cost
    let salt: [UInt8]
    let hash: [UInt8]

    var text: Text {
        let numbers = "scrypt$\(cost.rounds)$\(cost.blockSize)$\(cost.parallelism)$"
        return Text(
            utf8: Array(numbers.utf8) + Base64.encode(salt) + [UInt8(ascii: "$")]
                + Base64.encode(hash))
    }

    init(cost: Password.Cost, salt: [UInt8], hash: [UInt8]) {
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// Reads a stored hash. Returns nil for any other text, and for one that asks for an absurd
    /// cost.
    package init?(_ text: Text) {
        let parts = text.utf8.split(
            separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0].elementsEqual("scrypt".utf8),
            let rounds = Self.number(parts[1]), let blockSize = Self.number(parts[2]),
            let parallelism = Self.number(parts[3]),
            let salt = Base64.decode(Array(parts[4])), !salt.isEmpty,
            let hash = Base64.decode(Array(parts[5])), hash.count == Self.hashBytes
        else { return nil }
        cost = Password.Cost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        self.salt = salt
        self.hash = hash
        guard cost.isAllowed else { return nil }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        Int(String(decoding: digits, as: UTF8.self))
    }
}
