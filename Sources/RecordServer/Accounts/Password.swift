package import RecordModel
package import RecordWire

/// Passwords, kept as `scrypt$N$r$p$salt$hash` (RFC 7914), salt and hash in base64.
package enum Password {
    /// The cost of a hash. It is stored with each, so that it can be raised for new ones.
    package struct Cost: Hashable, Sendable {
        /// N, a power of two.
        package let rounds: Int
        /// r: one hash takes 128 * r * N bytes of memory.
        package let blockSize: Int
        /// p
        package let parallelism: Int

        package init(rounds: Int, blockSize: Int, parallelism: Int) {
            self.rounds = rounds
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// 16 MiB, about a third of a second: as strong as N = 2^17 with p = 1, in an eighth of the
        /// memory (OWASP Password Storage Cheat Sheet, scrypt:
        /// https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html).
        package static let standard = Cost(rounds: 1 << 14, blockSize: 8, parallelism: 5)

        /// Whether a stored hash may ask for this much work.
        var isAllowed: Bool {
            rounds.nonzeroBitCount == 1 && (2...1 << 18).contains(rounds)
                && (1...16).contains(blockSize) && (1...16).contains(parallelism)
        }
    }

    package static let minimumBytes = 8
    package static let maximumBytes = 1024

    /// What is wrong with it as a new password; nil when it is good.
    package static func fault(of password: [UInt8]) -> String? {
        if password.count < minimumBytes {
            return "A password has at least \(minimumBytes) characters."
        }
        if password.count > maximumBytes {
            return "A password has at most \(maximumBytes) bytes."
        }
        guard String(validating: password, as: UTF8.self) != nil else {
            return "A password is text in UTF-8."
        }
        return password.contains { $0 < 0x20 || $0 == 0x7F }
            ? "A password has no control characters." : nil
    }

    /// A hash with a new salt. Errors: `badRequest` for what is no good password.
    package static func hash(_ password: [UInt8], cost: Cost = .standard) async throws(ServerError)
        -> Text
    {
        if let fault = fault(of: password) { throw ServerError(.badRequest, fault) }
        let salt = SecureRandom.bytes(16)
        let hash = try await ScryptQueue.shared.derive(
            password, salt: salt, cost: cost, isPatient: true)
        return StoredPassword(cost: cost, salt: salt, hash: hash).text
    }

    /// Whether this is the password. Without a stored hash it takes as long as one of
    /// `unknownCost` and is false, so that nobody learns by the time which accounts exist.
    package static func verify(
        _ password: [UInt8], against stored: Text?, unknownCost: Cost = .standard
    ) async throws(ServerError) -> Bool {
        let known = stored.flatMap { StoredPassword($0) }
        let reference = known ?? .nobody(cost: unknownCost)
        // An empty or endless password is nobody's, but costs the same.
        let isPossible = (1...maximumBytes).contains(password.count)
        let hash = try await ScryptQueue.shared.derive(
            isPossible ? password : [0], salt: reference.salt, cost: reference.cost)
        return ConstantTime.equal(hash, reference.hash) && known != nil && isPossible
    }
}

/// The parts of a stored hash.
struct StoredPassword: Hashable, Sendable {
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

    /// Nil for what is no such text, or asks for an absurd cost.
    init?(_ text: Text) {
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
