package import RecordModel
package import RecordWire

/// Finds out who somebody is by e-mail address and password.
package final class PasswordSignIn: Sendable {
    private let storage: any Storage
    private let throttle: SignInThrottle
    /// Of new hashes: a stored one of another cost is made anew when its owner signs in.
    private let cost: Password.Cost

    package init(
        storage: any Storage, throttles: any Throttles, cost: Password.Cost = .standard
    ) {
        self.storage = storage
        throttle = SignInThrottle(throttles: throttles)
        self.cost = cost
    }

    /// The user; nil for a wrong password, an unknown address and a disabled user alike, after the
    /// same time. `address` is the network address of the client.
    ///
    /// Errors: `throttled` after many failures, `tryAgainLater` when too many people sign in.
    package func user(
        emailAddress: Text, password: [UInt8], address: String, now: Timestamp
    ) async throws(ServerError) -> UserRow? {
        try await user(
            emailAddress: emailAddress, password: password, address: address, device: nil,
            now: now)
    }

    /// The same from a device that may be known as one of the user.
    func user(
        emailAddress: Text, password: [UInt8], address: String, device: KnownDevice?, now: Timestamp
    ) async throws(ServerError) -> UserRow? {
        let account = EmailAddress.folded(emailAddress)
        let user = try await storage.read { (reader) throws(ServerError) in
            try reader.user(emailAddress: account)
        }
        let isKnown = user.map { device?.users.contains($0.name) ?? false } ?? false
        let attempt = SignInThrottle.Attempt(
            account: account, address: address, device: isKnown ? device?.id : nil)
        try await throttle.begin(attempt, now: now)
        let isRight = try await Password.verify(
            password, against: user?.passwordHash, unknownCost: cost)
        guard isRight, let user, !user.isDisabled else { return nil }
        try await throttle.succeed(attempt, now: now)
        if StoredPassword(user.passwordHash)?.cost != cost { await renewHash(of: user, password) }
        return user
    }

    /// Nobody is kept from signing in by a failure: the next sign-in tries again.
    private func renewHash(of user: UserRow, _ password: [UInt8]) async {
        do throws(ServerError) {
            let hash = try await Password.hash(password, cost: cost)
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
    /// As it is stored and looked up: in lower case, no spaces around.
    package static func folded(_ text: Text) -> Text {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let trimmed = text.utf8.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return Text(String(decoding: trimmed, as: UTF8.self).lowercased())
    }

    /// Whether it can be one: something, one `@`, a domain, nothing invisible.
    package static func isWellFormed(_ text: Text) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && text.utf8.count <= 254
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
            && String(validating: text.utf8, as: UTF8.self) != nil
    }
}
