package import RecordModel
package import RecordWire

/// Finds a user by e-mail address and password.
package final class PasswordSignIn: Sendable {
    private let storage: any Storage
    private let throttle: SignInThrottle
    /// The cost of new hashes. A stored hash of another cost is replaced when its owner signs in.
    private let cost: Password.Cost
    private let queue: ScryptQueue

    package init(
        storage: any Storage, throttles: any Throttles, cost: Password.Cost = .standard,
        queue: ScryptQueue = .shared
    ) {
        self.storage = storage
        self.queue = queue
        throttle = SignInThrottle(throttles: throttles)
        self.cost = cost
    }

    /// Returns the user. Returns nil for a wrong password, an unknown address and a disabled user
    /// alike, after the same time. `address` is the network address of the client.
    ///
    /// Errors: `throttled` after many failures, `tryAgainLater` when too many people sign in.
    package func user(
        emailAddress: Text, password: [UInt8], address: String, now: Timestamp
    ) async throws(ServerError) -> UserRow? {
        try await user(
            emailAddress: emailAddress, password: password, address: address, device: nil,
            now: now)
    }

    /// Returns the user, for a request from a device that may be known as one of that user's.
    package func user(
        emailAddress: Text, password: [UInt8], address: String, device: KnownDevice?, now: Timestamp
    ) async throws(ServerError) -> UserRow? {
        let account = EmailAddress.folded(emailAddress)
        let (user, isKnownAddress) = try await storage.read {
            (reader) throws(ServerError) -> (UserRow?, Bool) in
            guard let user = try reader.user(emailAddress: account) else {
                return (nil, false)
            }
            let isKnown = try reader.isKnownAddress(
                address, of: user.name, at: now.nanoseconds / 1_000_000)
            return (user, isKnown)
        }
        let isKnown = user.map { device?.users.contains($0.name) ?? false } ?? false
        let admission = try await throttle.begin(
            SignInThrottle.Attempt(
                account: account, address: address, device: isKnown ? device?.id : nil,
                isKnownAddress: isKnownAddress),
            now: now)
        let isRight: Bool
        do throws(ServerError) {
            isRight = try await Password.verify(
                password, against: user?.passwordHash, unknownCost: cost, rank: admission.rank,
                queue: queue)
        } catch {
            try await throttle.withdraw(admission, now: now)
            throw error
        }
        guard isRight, let user, !user.isDisabled else { return nil }
        try await throttle.succeed(admission, now: now)
        if StoredPassword(user.passwordHash)?.cost != cost { await renewHash(of: user, password) }
        return user
    }

    /// Replaces the hash. A failure keeps nobody from signing in: the next sign-in tries again.
    private func renewHash(of user: UserRow, _ password: [UInt8]) async {
        do throws(ServerError) {
            let hash = try await Password.hashUnchecked(password, cost: cost)
            try await storage.write { (transaction) throws(ServerError) in
                guard var row = try transaction.user(user.name),
                    row.passwordHash == user.passwordHash
                else { return }
                row.passwordHash = hash
                try transaction.putUser(row)
            }
        } catch {}
    }
}

/// E-mail addresses as names of accounts.
package enum EmailAddress {
    /// Returns the address as it is stored and looked up: in lower case, without spaces around it.
    package static func folded(_ text: Text) -> Text {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let trimmed = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return Text(String(decoding: trimmed, as: UTF8.self).lowercased())
    }

    /// Returns whether the text can be an address that people read and programs take without
    /// quotes: one `@`, a domain, and nothing that is invisible, changes the direction of writing
    /// or ends an address in a list.
    package static func isWellFormed(_ text: Text) -> Bool {
        guard text.utf8.count <= 254, let string = String(validating: text.utf8, as: UTF8.self)
        else { return false }
        let parts = string.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...64).contains(parts[0].utf8.count) else { return false }
        let words = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return words.allSatisfy { !$0.isEmpty && $0.unicodeScalars.allSatisfy(isWord) }
            && labels.allSatisfy(isLabel)
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.unicodeScalars.allSatisfy { isLetterOrDigit($0) || $0 == "-" }
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .decimalNumber:
            true
        default: false
        }
    }
}
